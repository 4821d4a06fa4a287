/** The cost of a delta must not grow with the message, its parts, the open inputs or the thread. */
import { compare, report } from '@evener/testing'
import type { LogRecord, RecordBody } from '../record.ts'
import { NO_RULES } from '../permission.ts'
import type { ThreadState } from './draft.ts'
import { emptyState, reduce } from './reduce.ts'

/** Every measured round does about this much work, so that short and long cases are timed alike. */
const DELTAS_PER_ROUND = 100_000
const LIMIT = 1.3

let seen = 0

function step(state: ThreadState, body: RecordBody): ThreadState {
  const record: LogRecord = { v: 1, stream: 't', seq: state.head.seq + 1, at: 0, run: 'r', turn: 'u', body }
  const next = reduce(state, record).state
  // A consumer that looks at the last message after every record, as a renderer does.
  seen += next.messages.at(-1)?.parts.at(-1)?.id.length ?? 0
  return next
}

/** A run with `messages` messages, the last of them open and holding `parts` sealed calls. */
function openRun(messages: number, parts: number): ThreadState {
  let state = step(emptyState('t'), { type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES })
  for (let i = 1; i < messages; i++) {
    state = step(state, {
      type: 'message.added',
      messageId: `m${i}`,
      role: 'user',
      parts: [{ id: '0', type: 'text', text: 'x' }],
    })
  }
  state = step(state, { type: 'message.started', messageId: 'last', role: 'assistant' })
  for (let i = 0; i < parts; i++) {
    state = step(state, {
      type: 'tool-call',
      messageId: 'last',
      partId: String(i),
      toolCallId: `c${i}`,
      toolName: 'read',
      args: {},
    })
  }
  return state
}

function text(partId: number): RecordBody {
  return { type: 'batch', event: { type: 'text-delta', messageId: 'last', partId: String(partId), text: 'word ' } }
}

function input(partId: number): RecordBody {
  const event = {
    type: 'tool-call-delta',
    messageId: 'last',
    partId: String(partId),
    toolCallId: `c${partId}`,
    argsTextDelta: 'xx',
  } as const
  return { type: 'batch', event }
}

/** `deltas` deltas into one message, again and again until the round is full. */
function stream(start: ThreadState, deltas: number, body: (i: number) => RecordBody): () => number {
  const rounds = Math.ceil(DELTAS_PER_ROUND / deltas)
  return () => {
    for (let round = 0; round < rounds; round++) {
      let state = start
      for (let i = 0; i < deltas; i++) state = step(state, body(i))
    }
    return rounds * deltas
  }
}

const short = openRun(1, 0)
for (const deltas of [1_000, 10_000, 100_000]) {
  report(
    await compare({
      name: `reduce: a message of ${deltas} deltas beside one of 100`,
      limit: LIMIT,
      floor: stream(short, 100, () => text(0)),
      ours: stream(short, deltas, () => text(0)),
    }),
  )
}

for (const messages of [1_000, 100_000]) {
  report(
    await compare({
      name: `reduce: a delta in a run of ${messages} messages beside one of 10`,
      limit: LIMIT,
      floor: stream(openRun(10, 0), 1_000, () => text(0)),
      ours: stream(openRun(messages, 0), 1_000, () => text(0)),
    }),
  )
}

report(
  await compare({
    name: 'reduce: a delta in a message of 10000 tool calls beside one of 10',
    limit: LIMIT,
    floor: stream(openRun(1, 10), 1_000, () => text(10)),
    ours: stream(openRun(1, 10_000), 1_000, () => text(10_000)),
  }),
)

report(
  await compare({
    name: 'reduce: deltas of 1000 open tool inputs in turn beside 10',
    limit: 1.5,
    floor: stream(openRun(1, 0), 10_000, (i) => input(i % 10)),
    ours: stream(openRun(1, 0), 10_000, (i) => input(i % 1_000)),
  }),
)

if (seen < 0) throw new Error('unreachable')
