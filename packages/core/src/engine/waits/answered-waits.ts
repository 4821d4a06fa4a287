import { MAX_PAGE, type PartAddress, type Store, type Wait, type WaitRow } from '@evener/protocol'

/** What was asked in a run and has been answered, in the order in which it was asked. */
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
  /** What was asked last: by its tool, or of somebody who has to approve it. */
  readonly waitId: string
}

/** What the tool of a call asked itself and has the answer to. */
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
