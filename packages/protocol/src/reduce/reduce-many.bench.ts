/** The cost of a record must not grow with waits, queue items, settings or rewinds, nor with the age of a message. */
import { compare, report } from '@inspan/testing'
import { NO_RULES } from '../permission.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import type { ThreadState } from './draft.ts'
import { emptyState, reduce } from './reduce.ts'

/** Every measured round applies about this many records. */
const RECORDS_PER_ROUND = 40_000
const LIMIT = 1.3
const FEW = 10

let ops = 0

function step(state: ThreadState, body: RecordBody): ThreadState {
  const record: LogRecord = { v: 1, stream: 't', seq: state.head.seq + 1, at: 0, run: 'r', turn: 'u', body }
  const reduced = reduce(state, record)
  ops += reduced.ops.length
  return reduced.state
}

function play(start: ThreadState, bodies: readonly RecordBody[]): ThreadState {
  return bodies.reduce(step, start)
}

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** Ids like those of the engine: of equal length, and similar only by chance. */
function idOf(kind: string, n: number): string {
  const mixed = Math.imul(n + 1, 0x9e3779b1) >>> 0
  return `${kind}-${mixed.toString(16).padStart(8, '0')}-4b1f-7c3e-9a55-${String(n).padStart(12, '0')}`
}

const openRun: readonly RecordBody[] = [{ type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES }]

/** Applies 20 more of `each`, repeatedly from the same state. */
function further(start: ThreadState, each: (n: number) => readonly RecordBody[]): () => number {
  const bodies = times(20, (n) => each(100_000 + n)).flat()
  const rounds = Math.ceil(RECORDS_PER_ROUND / bodies.length)
  return () => {
    for (let round = 0; round < rounds; round++) play(start, bodies)
    return rounds * bodies.length
  }
}

/** The waiting call, in the run's last message. */
const ASKING = { messageId: idOf('message', 0), partId: '0' }

const opened = (n: number): RecordBody => ({
  type: 'wait.opened',
  wait: {
    id: idOf('wait', n),
    kind: 'approval',
    subject: { toolName: 'run', hash: idOf('hash', n) },
    description: 'Run it?',
  },
  call: ASKING,
})
const answered = (n: number): RecordBody => ({
  type: 'wait.answered',
  waitId: idOf('wait', n),
  answer: { decision: 'decline' },
})
const queued = (n: number): RecordBody => ({
  type: 'queue.added',
  item: { id: idOf('item', n), lane: 'follow-up', parts: [{ id: '0', type: 'text', text: 'And then?' }] },
})
const heard = (n: number): RecordBody => ({ type: 'queue.removed', itemId: idOf('item', n), reason: 'heard' })
const said = (n: number): RecordBody => ({
  type: 'message.added',
  messageId: idOf('message', n),
  role: 'user',
  parts: [{ id: '0', type: 'text', text: 'x' }],
})
const setting = (n: number, value: string | null): RecordBody => ({
  type: 'config.changed',
  settings: { [`inspan:notification:${idOf('note', n)}`]: value },
})

/** A thread that was rewound `count` times, each time to where it was. Every rewind adds a range. */
function rewound(count: number): ThreadState {
  return times(count, (n) => n).reduce((state, n) => rewindHere(step(state, said(n))), emptyState('t'))
}

function rewindHere(state: ThreadState): ThreadState {
  return step(state, { type: 'rewind', to: state.head.seq, tasks: [], om: null })
}

function furtherRewinds(start: ThreadState): () => number {
  const rounds = Math.ceil(RECORDS_PER_ROUND / 40)
  return () => {
    for (let round = 0; round < rounds; round++) {
      let state = start
      for (let n = 0; n < 20; n++) state = rewindHere(step(state, said(100_000 + n)))
    }
    return rounds * 40
  }
}

/** A run of `count` messages, each with a call that has no result yet. */
function manyCalls(count: number): ThreadState {
  const bodies = times(count, (n): readonly RecordBody[] => [
    { type: 'message.started', messageId: idOf('message', n), role: 'assistant' },
    {
      type: 'tool-call',
      messageId: idOf('message', n),
      partId: '0',
      toolCallId: idOf('call', n),
      toolName: 'read',
      args: {},
    },
  ])
  return play(play(emptyState('t'), openRun), bodies.flat())
}

/** Results for the oldest calls, without the addresses of the calls. */
function oldResults(start: ThreadState): () => number {
  const bodies = times(FEW, (n): RecordBody => {
    const call = { toolCallId: idOf('call', n), toolName: 'read' }
    return { type: 'tool-result', messageId: idOf('message', n), partId: '1', ...call, result: 'done' }
  })
  const rounds = Math.ceil(RECORDS_PER_ROUND / FEW)
  return () => {
    for (let round = 0; round < rounds; round++) play(start, bodies)
    return rounds * FEW
  }
}

/** One message with `count` calls. Results for the first ones follow. */
function manyCallsInOne(count: number): ThreadState {
  const messageId = idOf('message', 0)
  const bodies = times(count, (n): RecordBody => {
    return { type: 'tool-call', messageId, partId: String(n), toolCallId: idOf('call', n), toolName: 'read', args: {} }
  })
  return play(play(emptyState('t'), [...openRun, { type: 'message.started', messageId, role: 'assistant' }]), bodies)
}

function resultsInOne(start: ThreadState, calls: number): () => number {
  const messageId = idOf('message', 0)
  const bodies = times(FEW, (n): RecordBody => {
    const call = { toolCallId: idOf('call', n), toolName: 'read' }
    return { type: 'tool-result', messageId, partId: String(calls + n), ...call, result: 'done' }
  })
  const rounds = Math.ceil(RECORDS_PER_ROUND / FEW)
  return () => {
    for (let round = 0; round < rounds; round++) play(start, bodies)
    return rounds * FEW
  }
}

interface Growing {
  readonly name: (count: number) => string
  readonly work: (count: number) => () => number
}

const inRun = play(emptyState('t'), [
  ...openRun,
  { type: 'message.started', messageId: ASKING.messageId, role: 'assistant' },
  { type: 'tool-call', ...ASKING, toolCallId: idOf('call', 0), toolName: 'run', args: {} },
])

const growing: readonly Growing[] = [
  {
    name: (count) => `a wait opened and answered among ${count} open ones`,
    work: (count) => further(play(inRun, times(count, opened)), (n) => [opened(n), answered(n)]),
  },
  {
    name: (count) => `an item queued and delivered in a queue of ${count}`,
    work: (count) => further(play(inRun, times(count, queued)), (n) => [queued(n), heard(n)]),
  },
  {
    name: (count) => `a setting set and removed among ${count}`,
    work: (count) =>
      further(
        play(
          emptyState('t'),
          times(count, (n) => setting(n, 'x')),
        ),
        (n) => [setting(n, 'x'), setting(n, null)],
      ),
  },
  {
    name: (count) => `a message and a rewind in a thread rewound ${count} times`,
    work: (count) => furtherRewinds(rewound(count)),
  },
  {
    name: (count) => `the result of an old call in a run of ${count} messages`,
    work: (count) => oldResults(manyCalls(count)),
  },
  {
    name: (count) => `the result of an old call in a message of ${count} calls`,
    work: (count) => resultsInOne(manyCallsInOne(count), count),
  },
]

for (const { name, work } of growing) {
  for (const count of [100, 1_000]) {
    report(
      await compare({
        name: `reduce: ${name(count)} relative to ${FEW}`,
        limit: LIMIT,
        clock: 'cpu',
        floor: work(FEW),
        ours: work(count),
      }),
    )
  }
}

if (ops === 0) throw new Error('unreachable')
