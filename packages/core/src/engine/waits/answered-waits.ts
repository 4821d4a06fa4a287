import type { Wait } from '@inspan/protocol'
import type { PartAddress } from '@inspan/protocol/log'
import { MAX_PAGE, type Store, type WaitRow } from '@inspan/protocol/store'
import { allItems } from '../../common/all-items.ts'

/** Returns the answered waits of a run, in the order they were asked. */
export async function answeredRows(store: Store, stream: string, runId: string): Promise<WaitRow[]> {
  const rows: WaitRow[] = []
  const query = { stream, state: 'answered', limit: MAX_PAGE } as const
  for await (const row of allItems((from) => store.listWaits({ ...query, ...from }))) {
    if (row.wait.run === runId) rows.push(row)
  }
  return rows
}

interface AskingCall {
  readonly runId: string
  readonly call: PartAddress
  /** The last wait of the call: asked by its tool, or an approval. */
  readonly waitId: string
}

/** A question that a tool asked, with the state that it needs to continue. */
export interface AskedQuestion {
  readonly wait: Wait
  readonly state?: string
}

/** Returns the last answered question that the tool of a call asked itself. */
export async function lastQuestion(
  store: Store,
  stream: string,
  { call, runId, waitId }: AskingCall,
): Promise<AskedQuestion | undefined> {
  const last = (await store.getWait(stream, waitId))?.wait
  if (last === undefined || last.kind !== 'approval') return last === undefined ? undefined : asked(store, stream, last)
  const rows = await answeredRows(store, stream, runId)
  const found = rows.findLast(
    ({ wait }) =>
      wait.kind !== 'approval' && wait.call?.messageId === call.messageId && wait.call.partId === call.partId,
  )?.wait
  return found === undefined ? undefined : asked(store, stream, found)
}

async function asked(store: Store, stream: string, wait: Wait): Promise<AskedQuestion> {
  const state = await stateOfWait(store, stream, wait)
  return state === undefined ? { wait } : { wait, state }
}

/** Returns the state that the asker stored with its question. Only the record that opened the wait has it. */
export async function stateOfWait(store: Store, stream: string, wait: Wait): Promise<string | undefined> {
  const { items } = await store.readRecords(stream, { after: wait.openedAt - 1, limit: 1 })
  const body = items[0]?.body
  return body?.type === 'wait.opened' && body.wait.id === wait.id ? body.state : undefined
}
