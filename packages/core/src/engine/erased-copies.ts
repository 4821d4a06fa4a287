import { rootLineage, type ConfigChangedRecord, type LogRecord, type RecordBody, type Store } from '@evener/protocol'
import { inflateRequest } from './blobs.ts'
import { goalTexts, partsKey, taskTexts, wordsOf, type ErasedContent } from './erased-content.ts'
import { recordsAfter } from './load-state.ts'

/** Shorter words stand in any prompt. */
const QUOTED_CHARS = 16

export interface Copies {
  /** The records that say again what was erased. */
  readonly seqs: readonly number[]
  /** The runs that were told the conversation, and may have put it into their raw output. */
  readonly runs: readonly string[]
  /** The titles among what is said again. */
  readonly titles: readonly string[]
}

/**
 * What the records of a stream repeat of what was erased: lists of tasks, goals, notifications and titles are written
 * anew with every change, a message may have been queued before, and runs are summed up and judged when they are over.
 */
export async function copiesIn(store: Store, stream: string, content: ErasedContent, after: number): Promise<Copies> {
  const seqs: number[] = []
  const runs: string[] = []
  const titles: string[] = []
  const prompts = new Map<string, boolean>()
  for await (const record of recordsAfter(store, stream, after)) {
    const { body, seq } = record
    if (body.type === 'run.started') runs.push(body.runId)
    const isCopy =
      repeats(content, record) || (body.type === 'step.started' && (await isTold(store, content, body, prompts)))
    if (!isCopy) continue
    seqs.push(seq)
    if (body.type === 'config.changed' && typeof body.title === 'string') titles.push(body.title)
  }
  return { seqs, runs, titles }
}

/** Where something was queued that became a message of the range. */
export async function queuedBefore(store: Store, stream: string, content: ErasedContent): Promise<number[]> {
  const seqs: number[] = []
  for (let upTo = content.from - 1; upTo > 0;) {
    const record: LogRecord | null = await store.latestRecord(rootLineage(stream), 'queue.added', upTo)
    if (record === null) break
    if (repeats(content, record)) seqs.push(record.seq)
    upTo = record.seq - 1
  }
  return seqs
}

export function quotes(content: ErasedContent, title: string): boolean {
  const words = wordsOf(title)
  return words !== '' && content.texts.some((text) => text.includes(words))
}

function repeats(content: ErasedContent, { body, run }: LogRecord): boolean {
  const isOfRun = run !== undefined && content.runs.has(run)
  switch (body.type) {
    case 'tasks.changed':
    case 'rewind':
      return taskTexts(body.tasks).some((text) => content.tasks.has(text))
    case 'fork':
      return (
        taskTexts(body.keep.tasks).some((text) => content.tasks.has(text)) ||
        Object.keys(body.keep.settings).some((key) => content.settings.has(key))
      )
    case 'config.changed':
      return repeatsConfig(content, body) || (typeof body.title === 'string' && isOfRun)
    case 'queue.added':
      return content.said.has(partsKey(body.item.parts)) || content.queued.has(partsKey(body.item.parts))
    case 'message.added':
      return content.queued.has(partsKey(body.parts))
    case 'run.ended':
      return content.runs.has(body.runId) && (body.output !== undefined || body.error !== undefined)
    case 'note':
      return isOfRun && (body.kind === 'score' || body.kind === 'feedback')
    case 'om.committed':
      return body.om.coversTo >= content.from
    default:
      return false
  }
}

function repeatsConfig(content: ErasedContent, { goal, settings = {}, title }: ConfigChangedRecord): boolean {
  return (
    (typeof title === 'string' && quotes(content, title)) ||
    (goal !== undefined && goal !== null && goalTexts(goal).some((text) => content.goals.has(text))) ||
    Object.entries(settings).some(([key, value]) => value !== null && content.settings.has(key))
  )
}

/** Whether the prompt of a later step quotes it. Most steps have the same prompt. */
async function isTold(
  store: Store,
  content: ErasedContent,
  { request }: Extract<RecordBody, { type: 'step.started' }>,
  known: Map<string, boolean>,
): Promise<boolean> {
  if (request?.system === undefined) return false
  const { blob } = request.system
  const before = known.get(blob)
  if (before !== undefined) return before
  const { system = '' } = await inflateRequest(store, { system: request.system })
  const prompt = wordsOf(system)
  const words = [...content.texts, ...[...content.tasks, ...content.goals].map(wordsOf)]
  const told = words.some((text) => text.length >= QUOTED_CHARS && prompt.includes(text))
  known.set(blob, told)
  return told
}
