import assert from 'node:assert/strict'
import { setImmediate as nextTask } from 'node:timers/promises'
import { InspanError, type Answer, type Wait } from '@inspan/protocol'
import { emptyState, reduce, storedHead, type LogRecord, type RecordBody, type RecordType } from '@inspan/protocol/log'
import type { Append } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import type { RuntimeBench } from '../runtime-bench.fixture.ts'

/** A disturbance of one write: it is late, its receipt is late, or it fails. */
export interface Trouble {
  /** The number of the write in the thread, from one. */
  readonly at: number
  readonly kind: 'late' | 'late receipt' | 'fails'
  /** The delay in tasks of the event loop. */
  readonly tasks: number
}

/** A store that disturbs one write. */
export class TroubledStore extends MemoryStore {
  writes = 0
  hasFailed = false
  #trouble: Trouble | undefined
  #onTrouble: () => void = () => undefined

  meet(trouble: Trouble, onTrouble: () => void): void {
    this.#trouble = trouble
    this.#onTrouble = onTrouble
  }

  override async append(append: Append): Promise<number> {
    this.writes++
    const trouble = this.#trouble
    if (trouble?.at !== this.writes) return super.append(append)
    const written = trouble.kind === 'late receipt' ? await super.append(append) : undefined
    this.#onTrouble()
    for (let task = 0; task < trouble.tasks; task++) await nextTask()
    if (trouble.kind === 'fails') {
      this.hasFailed = true
      throw new InspanError('disk-full', 'There is no place left for it.')
    }
    return written ?? super.append(append)
  }
}

/** The errors of commands that come too late or find the disk full. */
const TOO_LATE: ReadonlySet<string> = new Set([
  'closed',
  'conflict',
  'not-found',
  'misuse',
  'fenced',
  'held',
  'invalid-input',
  'disk-full',
])

export async function unlessTooLate(given: Promise<unknown>): Promise<void> {
  try {
    await given
  } catch (error) {
    if (!InspanError.is(error) || !TOO_LATE.has(error.code)) throw error
  }
}

export function answerTo({ kind }: Wait, isYes = true): Answer {
  if (kind === 'approval') return { decision: isYes ? 'approve' : 'decline' }
  return isYes ? { decision: 'answer', value: {} } : { decision: 'decline' }
}

/** Answers all waits until there is nothing more to do. */
export async function answerAll(bench: RuntimeBench): Promise<void> {
  for (;;) {
    await bench.runtime.idle()
    const [wait] = [...bench.runtime.state.head.waits]
    if (wait === undefined) return
    await bench.runtime.answer(wait.id, answerTo(wait))
  }
}

/** What happened outside the log of a thread. */
export interface Journal {
  /** The effects of tools. */
  readonly effects: string[]
  /** Effects that began when they were no longer wanted. */
  readonly unwanted: string[]
  /** The accepted messages. */
  readonly accepted: string[]
  isCancelled: boolean
}

/** Checks that nothing is lost, duplicated or without an end, and that everybody sees the same. */
export async function checkThread(bench: RuntimeBench, journal: Journal): Promise<void> {
  const { head } = bench.runtime.state
  const records = await bench.records()
  assert.equal(head.run, null, 'a run is left')
  assert.deepEqual([...head.waits.keys()], [], 'a question is left that no run asks')
  checkEnds(records)
  checkWords(records, [...head.queue.keys()], journal)
  assert.deepEqual(journal.effects, [...new Set(journal.effects)], 'a tool has run twice')
  assert.deepEqual(journal.unwanted, [], 'a tool has begun what nobody wanted any more')
  if (!journal.isCancelled) assert.deepEqual(bodiesOf(records, 'run.cancelled'), [], 'nobody has cancelled')
  let replayed = emptyState('thread')
  for (const record of records) replayed = reduce(replayed, record).state
  assert.deepEqual(storedHead(head), storedHead(replayed.head), 'what is shown is what is on record')
  const { items } = await bench.store.listWaits({ stream: 'thread', state: 'pending' })
  assert.deepEqual(items, [], 'the list of questions is not that of the thread')
}

/** Checks that everything that began has exactly one end, and no records after it. */
function checkEnds(records: readonly LogRecord[]): void {
  const ids = <T extends RecordType>(type: T, idOf: (body: Extract<RecordBody, { type: T }>) => string): string[] =>
    bodiesOf(records, type).map(idOf).toSorted()
  const runs = ids('run.started', ({ runId }) => runId)
  const turns = ids('turn.started', ({ turnId }) => turnId)
  // A call whose input was cut off does not count and has no result.
  const orders = bodiesOf(records, 'tool-call').filter(({ meta }) => meta?.interrupted !== true)
  const calls = orders.map(({ toolCallId }) => toolCallId).toSorted()
  const isOnce = 'what begins ends once'
  assert.deepEqual(
    ids('run.ended', ({ runId }) => runId),
    runs,
    isOnce,
  )
  assert.deepEqual(
    ids('turn.ended', ({ turnId }) => turnId),
    turns,
    isOnce,
  )
  assert.deepEqual(
    ids('tool-result', ({ toolCallId }) => toolCallId),
    calls,
    isOnce,
  )
  const ended = new Set<string>()
  for (const { body, run = '' } of records) {
    assert.ok(!ended.has(run) || !OF_A_RUN.has(body.type), `${body.type} comes after the end of its run`)
    if (body.type === 'run.ended') ended.add(body.runId)
  }
}

/**
 * Checks that every accepted message was said once or is queued, and every queued item is there or left once. Hand-offs
 * go with their run.
 */
function checkWords(records: readonly LogRecord[], queue: readonly string[], { accepted }: Journal): void {
  const items = bodiesOf(records, 'queue.added').map(({ item }) => item)
  const added = items.filter(({ lane }) => lane !== 'hand-off')
  const handedOff = new Set(items.filter(({ lane }) => lane === 'hand-off').map(({ id }) => id))
  const left = bodiesOf(records, 'queue.removed').map(({ itemId }) => itemId)
  const removed = left.filter((id) => !handedOff.has(id))
  const queued = added.map(({ id }) => id)
  assert.deepEqual([...removed, ...queue].toSorted(), queued.toSorted(), 'what was queued is there, or left once')
  const waiting = added.filter(({ id }) => queue.includes(id))
  const said = [...bodiesOf(records, 'message.added'), ...waiting]
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
  for (const text of accepted) {
    const times = said.filter((other) => other === text).length
    assert.equal(times, 1, `"${text}" was accepted, and is there ${times} times`)
  }
}

function bodiesOf<T extends RecordType>(records: readonly LogRecord[], type: T): Extract<RecordBody, { type: T }>[] {
  const isWanted = (body: RecordBody): body is Extract<RecordBody, { type: T }> => body.type === type
  return records.map(({ body }) => body).filter(isWanted)
}

const OF_A_RUN: ReadonlySet<string> = new Set([
  'wait.opened',
  'call.started',
  'tool-call',
  'tool-result',
  'turn.started',
  'turn.process',
  'turn.ended',
  'step.started',
  'step.ended',
  'message.started',
  'message.ended',
  'batch',
  'run.parked',
  'run.resumed',
  'run.cancelled',
])
