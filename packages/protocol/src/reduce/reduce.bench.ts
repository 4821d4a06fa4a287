/** The cost of a delta must not grow with the message, its parts, the open inputs or the thread. */
import { compare, report } from '@inspan/testing'
import type { LogRecord, RecordBody } from '../record.ts'
import { NO_RULES } from '../permission.ts'
import type { ThreadState } from './draft.ts'
import { emptyState, reduce } from './reduce.ts'

/** Every measured round does about this much work, so that short and long cases take similar times. */
const DELTAS_PER_ROUND = 100_000
const LIMIT = 1.3

let seen = 0

function step(state: ThreadState, body: RecordBody): ThreadState {
  const record: LogRecord = { v: 1, stream: 't', seq: state.head.seq + 1, at: 0, run: 'r', turn: 'u', body }
  const next = reduce(state, record).state
  // Simulates a renderer, which looks at the last message after every record.
  const last = next.messages.at(-1)?.parts.at(-1)
  seen += last?.type === 'text' ? last.text.length : 1
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

/** One whole run: a question and an answer of two deltas. Its messages leave the state at its end. */
function closedRun(start: ThreadState): ThreadState {
  const id = String(start.head.seq)
  let state = step(start, { type: 'run.started', runId: id, agentId: 'a', rules: NO_RULES })
  state = step(state, {
    type: 'message.added',
    messageId: `q${id}`,
    role: 'user',
    parts: [{ id: '0', type: 'text', text: 'x' }],
  })
  const messageId = `a${id}`
  state = step(state, { type: 'message.started', messageId, role: 'assistant' })
  for (let i = 0; i < 2; i++) {
    state = step(state, { type: 'batch', event: { type: 'text-delta', messageId, partId: '0', text: 'word ' } })
  }
  state = step(state, { type: 'text-delta', messageId, partId: '0', text: 'word word ' })
  state = step(state, { type: 'message.ended', messageId, outcome: 'done' })
  return step(state, { type: 'run.ended', runId: id, outcome: 'complete' })
}

const RECORDS_PER_RUN = 8

/** A thread of `messages` messages, two per run, all of them closed. */
function closedThread(messages: number): ThreadState {
  let state = emptyState('t')
  for (let i = 0; i < messages / 2; i++) state = closedRun(state)
  return state
}

/** Adds further runs to a thread, repeatedly from the same state. */
function furtherRuns(start: ThreadState): () => number {
  return () => {
    for (let round = 0; round < 500; round++) {
      let state = start
      for (let i = 0; i < 20; i++) state = closedRun(state)
    }
    return 500 * 20 * RECORDS_PER_RUN
  }
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

/** A message with `count` tool inputs that have begun to stream in. */
function openInputs(count: number): ThreadState {
  let state = openRun(1, 0)
  for (let i = 0; i < count; i++) state = step(state, input(i))
  return state
}

/** Streams `deltas` deltas into one message, repeatedly until the round is full. */
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
      name: `reduce: a message of ${deltas} deltas relative to one of 100`,
      limit: LIMIT,
      clock: 'cpu',
      floor: stream(short, 100, () => text(0)),
      ours: stream(short, deltas, () => text(0)),
    }),
  )
}

const shortThread = closedThread(10)
for (const messages of [100, 1_000, 10_000, 100_000]) {
  report(
    await compare({
      name: `reduce: a record of a thread of ${messages} messages relative to one of 10`,
      limit: LIMIT,
      clock: 'cpu',
      floor: furtherRuns(shortThread),
      ours: furtherRuns(closedThread(messages)),
    }),
  )
}

for (const messages of [100, 1_000, 10_000, 100_000]) {
  report(
    await compare({
      name: `reduce: a delta in a run of ${messages} messages relative to one of 10`,
      limit: LIMIT,
      clock: 'cpu',
      floor: stream(openRun(10, 0), 1_000, () => text(0)),
      ours: stream(openRun(messages, 0), 1_000, () => text(0)),
    }),
  )
}

report(
  await compare({
    name: 'reduce: a delta in a message of 10000 tool calls relative to one of 10',
    limit: LIMIT,
    clock: 'cpu',
    floor: stream(openRun(1, 10), 1_000, () => text(10)),
    ours: stream(openRun(1, 10_000), 1_000, () => text(10_000)),
  }),
)

report(
  await compare({
    name: 'reduce: deltas of 1000 open tool inputs in turn relative to 10',
    limit: LIMIT,
    clock: 'cpu',
    // The number of deltas and the length of the text are the same on both sides.
    floor: stream(openInputs(10), 10_000, (i) => input(i % 10)),
    ours: stream(openInputs(1_000), 10_000, (i) => input(i % 1_000)),
  }),
)

if (seen < 0) throw new Error('unreachable')
