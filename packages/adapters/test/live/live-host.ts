import type { AgentEvent, Answer, StoredMessage, WaitRequest } from '@inspan/protocol'
import type { Decision, Host, ToolCallRequest } from '@inspan/protocol/driver'
import { diary, type Diary } from '../launch/diary.ts'

/** A host whose people answer when a test wants them to. */
export interface LiveHost extends Diary {
  readonly asked: WaitRequest[]
  readonly judged: ToolCallRequest[]
  /** The next question that has not been given out yet. */
  readonly nextAsk: () => Promise<PendingAsk>
}

export interface PendingAsk {
  readonly request: WaitRequest
  readonly answer: (answer: Answer) => void
}

export const ASK: Decision = { policy: 'ask', reason: 'no rule says anything' }
/** A host whose rules allow everything. */
export const ALLOW_ALL: Partial<Host> = { decide: () => ({ policy: 'allow', reason: 'a test' }) }
export const APPROVE: Answer = { decision: 'approve' }

export function liveHost(decide: (call: ToolCallRequest) => Decision = () => ASK, more: Partial<Host> = {}): LiveHost {
  const asked: WaitRequest[] = []
  const judged: ToolCallRequest[] = []
  const waiting: PendingAsk[] = []
  const takers: ((ask: PendingAsk) => void)[] = []
  const notes = diary({
    decide: (call) => {
      judged.push(call)
      return decide(call)
    },
    ask: (request) => {
      asked.push(request)
      const { promise, resolve } = Promise.withResolvers<Answer>()
      const pending = { request, answer: resolve }
      const taker = takers.shift()
      if (taker === undefined) waiting.push(pending)
      else taker(pending)
      return promise
    },
    ...more,
  })
  const nextAsk = (): Promise<PendingAsk> => {
    const first = waiting.shift()
    return first === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(first)
  }
  return { ...notes, asked, judged, nextAsk }
}

/** A turn whose events are taken while the test does something else. */
export interface Taking {
  readonly all: Promise<readonly AgentEvent[]>
  /** What comes while the turn runs. Rejects when the turn ends before it. */
  readonly before: <T>(what: Promise<T>) => Promise<T>
  /** The first event, past or to come, of which this is true. Rejects when the turn ends without it. */
  readonly until: (isIt: (event: AgentEvent) => boolean) => Promise<AgentEvent>
  /** The next question that has not been given out yet. Rejects when the turn ends without it. */
  readonly ask: () => Promise<PendingAsk>
}

export function take(events: AsyncIterable<AgentEvent>, { activity, order, nextAsk }: LiveHost): Taking {
  const taken: AgentEvent[] = []
  const watchers = new Set<(event: AgentEvent) => void>()
  const all = (async () => {
    for await (const event of events) {
      taken.push(event)
      order.push(event.type)
      if (event.activity !== undefined) activity.push(...event.activity.events)
      for (const watch of watchers) watch(event)
    }
    return taken
  })()
  const before = async <T>(what: Promise<T>): Promise<T> =>
    Promise.race([
      what,
      all.then(() => {
        const said = taken.map((event) => (event.type === 'error' ? event.error.message : event.type))
        throw new Error(`The turn ended without it: ${said.join(', ')}`)
      }),
    ])
  const until = async (isIt: (event: AgentEvent) => boolean): Promise<AgentEvent> => {
    const past = taken.find(isIt)
    if (past !== undefined) return past
    const { promise, resolve } = Promise.withResolvers<AgentEvent>()
    const watch = (event: AgentEvent): void => {
      if (isIt(event)) resolve(event)
    }
    watchers.add(watch)
    return before(promise).finally(() => watchers.delete(watch))
  }
  return { all, before, until, ask: () => before(nextAsk()) }
}

export function says(text: string): (event: AgentEvent) => boolean {
  return (event) => event.type === 'text-delta' && event.text.includes(text)
}

export function textOf(events: readonly AgentEvent[]): string {
  return events.flatMap((event) => (event.type === 'text-delta' && event.text !== '' ? [event.text] : [])).join('|')
}

/** What became of the calls, in the order in which they ended. */
export function resultsOf(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'tool-result') return []
    const text = typeof event.result === 'string' ? event.result : JSON.stringify(event.result)
    return [event.isError === true ? `✗ ${text}` : text]
  })
}

export function finishOf(events: readonly AgentEvent[]): string | undefined {
  assertOneFinish(events)
  const last = events.at(-1)
  return last?.type === 'finish' ? last.finishReason : undefined
}

function assertOneFinish(events: readonly AgentEvent[]): void {
  const count = events.filter(({ type }) => type === 'finish').length
  if (count !== 1) throw new Error(`There are ${count} finish events.`)
}

export function aMessage(id: string, text: string, more: Partial<StoredMessage> = {}): StoredMessage {
  return { id, role: 'user', order: 1, at: 0, state: 'done', parts: [{ id: '0', type: 'text', text }], ...more }
}
