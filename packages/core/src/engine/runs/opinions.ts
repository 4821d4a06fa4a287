import { InspanError, type JsonObject } from '@inspan/protocol'
import { aNumber, aText, checkFields, words, type FieldRules } from '@inspan/protocol/internal'
import { rootLineage } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { recordsAfter } from '../log/load-state.ts'
import type { ControlFact } from '../thread-options.ts'

/** A judge's score of a run. */
export interface Score {
  readonly name: string
  readonly value: number
  readonly reason?: string
  /** Who judged: a scorer's name, a model, a person. */
  readonly source: string
}

/** Feedback about a run. */
export interface Feedback {
  readonly text?: string
  readonly rating?: number
  readonly source: string
}

/** The scores and feedback of one run, each in the order they were given. */
export interface RunOpinions {
  readonly scores: readonly Score[]
  readonly feedback: readonly Feedback[]
}

const SCORE: FieldRules<Score> = { name: aText, value: aNumber, reason: words, source: aText }

const FEEDBACK: FieldRules<Feedback> = { text: words, rating: aNumber, source: aText }

export function scoreNote(score: Score): ControlFact {
  checkFields('a score', score, SCORE, ['name', 'value', 'source'])
  return { type: 'note', kind: 'score', text: `${score.name}: ${score.value}`, data: fieldsOf(score) }
}

export function feedbackNote(feedback: Feedback): ControlFact {
  checkFields('feedback', feedback, FEEDBACK, ['source'])
  if (feedback.text === undefined && feedback.rating === undefined) {
    throw new InspanError('invalid-input', 'Feedback needs a text or a rating.')
  }
  return { type: 'note', kind: 'feedback', text: feedback.text ?? '', data: fieldsOf(feedback) }
}

/** Reads the opinions on a run from the thread's own stream, from the run's start on. */
export async function readOpinions(store: Store, thread: string, runId: string): Promise<RunOpinions> {
  checkFields('what is asked about', { runId }, { runId: aText }, ['runId'])
  const start = await startOf(store, thread, runId)
  if (start === null) throw noSuchRun(thread, runId)
  const scores: Score[] = []
  const feedback: Feedback[] = []
  for await (const { body, run } of recordsAfter(store, thread, start)) {
    if (run !== runId || body.type !== 'note' || body.data === undefined) continue
    if (body.kind === 'score') scores.push(body.data as unknown as Score)
    if (body.kind === 'feedback') feedback.push(body.data as unknown as Feedback)
  }
  return { scores, feedback }
}

/** Searches from the newest run back, because it is nearly always one of the last. */
async function startOf(store: Store, thread: string, runId: string): Promise<number | null> {
  const started = (upTo: number): ReturnType<Store['latestRecord']> =>
    store.latestRecord(rootLineage(thread), 'run.started', upTo)
  let record = await started((await store.getStream(thread))?.headSeq ?? 0)
  while (record?.body.type === 'run.started' && record.body.runId !== runId) record = await started(record.seq - 1)
  return record?.seq ?? null
}

export function noSuchRun(thread: string, runId: string): InspanError {
  return new InspanError('not-found', `Thread ${thread} has no run "${runId}".`)
}

/** Leaves out undefined fields, because a record holds JSON. */
function fieldsOf(opinion: Score | Feedback): JsonObject {
  return Object.fromEntries(Object.entries(opinion).filter(([, value]) => value !== undefined))
}
