import type { ActivityEvent, AgentEvent } from '@inspan/protocol'
import { createHost, type Binding, type Host, type Turn } from '@inspan/protocol/driver'
import type { ProcessNote } from '@inspan/protocol/log'

export const aTurn: Turn = {
  turnId: 'turn-1',
  runId: 'run-1',
  threadId: 'thread-1',
  input: [{ id: '0', type: 'text', text: 'Do it.' }],
}

/** A host that writes down what it is told, in one order with the events. */
export interface Diary {
  readonly host: Host
  readonly activity: ActivityEvent[]
  readonly bindings: Binding[]
  readonly processes: ProcessNote[]
  /** Types of events, and what was told in between. */
  readonly order: string[]
  readonly abort: AbortController
}

export function diary(more: Partial<Host> = {}): Diary {
  const abort = new AbortController()
  const notes: Omit<Diary, 'host' | 'abort'> = { activity: [], bindings: [], processes: [], order: [] }
  const host = createHost({
    bind: (binding) => {
      notes.bindings.push(binding)
      notes.order.push(`bind ${binding.nativeId} ${binding.anchor ?? '-'}`)
    },
    noteProcess: (note) => void notes.processes.push(note),
    noteActivity: ({ events }) => {
      notes.activity.push(...events)
      for (const event of events) notes.order.push(event.type)
    },
    signal: abort.signal,
    ...more,
  })
  return { ...notes, host, abort }
}

/** Adds the activity that stands on events to the diary's, in order. */
export async function takeAll(events: AsyncIterable<AgentEvent>, { activity, order }: Diary): Promise<AgentEvent[]> {
  const taken: AgentEvent[] = []
  for await (const event of events) {
    taken.push(event)
    order.push(event.type)
    if (event.activity !== undefined) activity.push(...event.activity.events)
  }
  return taken
}
