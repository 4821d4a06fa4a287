import type { Wait } from '@inspan/protocol'
import type { PartAddress } from '@inspan/protocol/log'
import { MAX_PAGE, type Store, type WaitRow } from '@inspan/protocol/store'

/** Returns the answered waits of a run, in the order they were asked. */
export async function answeredRows(store: Store, stream: string, runId: string): Promise<WaitRow[]> {
  const rows: WaitRow[] = []
  let cursor: string | null = null
  do {
    const page = await store.listWaits({
      stream,
      state: 'answered',
      limit: MAX_PAGE,
      ...(cursor === null ? {} : { cursor }),
    })
    rows.push(...page.items.filter(({ wait }) => wait.run === runId))
    cursor = page.next
  } while (cursor !== null)
  return rows
}

interface AskingCall {
  readonly runId: string
  readonly call: PartAddress
  /** The last wait of the call: asked by its tool, or an approval. */
  readonly waitId: string
}

/** Returns the last answered question that the tool of a call asked itself. */
export async function lastQuestion(
  store: Store,
  stream: string,
  { call, runId, waitId }: AskingCall,
): Promise<Wait | undefined> {
  const last = (await store.getWait(stream, waitId))?.wait
  if (last?.kind !== 'approval') return last
  const rows = await answeredRows(store, stream, runId)
  return rows.findLast(
    ({ wait }) =>
      wait.kind !== 'approval' && wait.call?.messageId === call.messageId && wait.call.partId === call.partId,
  )?.wait
}
