import type { JsonValue, Part } from '@inspan/protocol'
import {
  contentEnd,
  NOTIFICATION_SETTING,
  type ConfigChangedRecord,
  type LogRecord,
  type RecordBody,
} from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { inflateRequest } from '../log/blobs.ts'
import { goalTexts, notificationOf, partsKey, taskTexts, wordsOf, type ErasedContent } from './erased-content.ts'
import { recordsLeft, wholeStream } from './shared-stretches.ts'

/** The shortest text that counts as quoted: shorter ones occur in any prompt. */
const QUOTED_CHARS = 16

export interface Copies {
  /** The records that repeat erased content. */
  readonly seqs: readonly number[]
  /** The runs that knew the conversation, so that their raw output may contain it. */
  readonly runs: readonly string[]
  /** The titles among the repeated content. */
  readonly titles: readonly string[]
  /** Messages in which people or agents quote the content. They were not to be erased, and stay. */
  readonly quotedIn: ReadonlySet<string>
}

/**
 * Finds the records of a stream that repeat erased content: lists of tasks, goals, notifications and titles are written
 * again with every change, a message may have been queued before, and runs are summed up and judged at their end.
 */
export async function copiesIn(store: Store, stream: string, content: ErasedContent, after: number): Promise<Copies> {
  const seqs: number[] = []
  const runs: string[] = []
  const titles: string[] = []
  const quotedIn = new Set<string>()
  const words = quotable(content)
  const prompts = new Map<string, boolean>()
  for await (const record of recordsLeft(store, stream, after)) {
    const { body, seq } = record
    if (body.type === 'run.started') runs.push(body.runId)
    const isCopy =
      repeats(content, record) ||
      (body.type === 'step.started' && (await promptQuotes(store, stream, words, body, prompts)))
    if (!isCopy) {
      const messageId = messageIdIn(body)
      if (messageId !== undefined && isQuoted(words, body)) quotedIn.add(messageId)
      continue
    }
    seqs.push(seq)
    if (body.type === 'config.changed' && typeof body.title === 'string') titles.push(body.title)
  }
  return { seqs, runs, titles, quotedIn }
}

/** Finds records before the range with content that was said in it: queued messages, notifications. */
export async function copiesBefore(store: Store, stream: string, content: ErasedContent): Promise<number[]> {
  const seqs: number[] = []
  for (const type of ['queue.added', 'config.changed'] as const) {
    for (let upTo = content.from - 1; upTo > 0;) {
      const record: LogRecord | null = await store.latestRecord(wholeStream(stream), type, upTo)
      if (record === null) break
      const { body, seq } = record
      const isCopy = body.type === 'config.changed' ? repeatsSetting(content, body) : repeats(content, record)
      if (isCopy) seqs.push(seq)
      upTo = seq - 1
    }
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
      return content.queued.has(partsKey(body.parts)) || body.parts.some((part) => repeatsSignal(content, part))
    case 'run.ended':
      return content.runs.has(body.runId) && (body.output !== undefined || body.error !== undefined)
    case 'note':
      return isOfRun && (body.kind === 'score' || body.kind === 'feedback')
    case 'om.committed':
      return contentEnd(body.om) >= content.from
    case 'compaction':
      return body.coversTo >= content.from
    default:
      return false
  }
}

function repeatsConfig(content: ErasedContent, config: ConfigChangedRecord): boolean {
  const { goal, title } = config
  return (
    (typeof title === 'string' && quotes(content, title)) ||
    (goal !== undefined && goal !== null && goalTexts(goal).some((text) => content.goals.has(text))) ||
    repeatsSetting(content, config)
  )
}

function repeatsSetting(content: ErasedContent, { settings = {} }: ConfigChangedRecord): boolean {
  return Object.entries(settings).some(([key, value]) => value !== null && content.settings.has(key))
}

/** Whether a signal repeats tasks, goals or notifications, which we tell the model in messages of their own. */
function repeatsSignal(content: ErasedContent, part: Part): boolean {
  if (part.type !== 'signal') return false
  const id = notificationOf(part)
  if (id !== undefined && content.settings.has(NOTIFICATION_SETTING + id)) return true
  const texts = stringsIn(part as unknown as JsonValue)
  const words = part.kind === 'state_signal' ? [...content.tasks, ...content.goals] : [...content.goals]
  return words.some((text) => texts.some((each) => each.includes(text)))
}

/** Whether the prompt of a later step quotes the content. Cached, because most steps have the same prompt. */
async function promptQuotes(
  store: Store,
  stream: string,
  words: readonly string[],
  { request }: Extract<RecordBody, { type: 'step.started' }>,
  known: Map<string, boolean>,
): Promise<boolean> {
  if (request?.system === undefined) return false
  const { blob } = request.system
  const before = known.get(blob)
  if (before !== undefined) return before
  const { system = '' } = await inflateRequest(store, wholeStream(stream), { system: request.system })
  const isInPrompt = isQuoted(words, system)
  known.set(blob, isInPrompt)
  return isInPrompt
}

function quotable(content: ErasedContent): readonly string[] {
  const words = [...content.texts, ...[...content.tasks, ...content.goals].map(wordsOf)]
  return [...new Set(words)].filter((text) => text.length >= QUOTED_CHARS)
}

function isQuoted(words: readonly string[], value: RecordBody | string): boolean {
  return (
    words.length > 0 &&
    stringsIn(value as JsonValue)
      .map(wordsOf)
      .some((each) => words.some((text) => each.includes(text)))
  )
}

function messageIdIn(body: RecordBody): string | undefined {
  switch (body.type) {
    case 'message.added':
    case 'text-delta':
    case 'reasoning-delta':
    case 'file':
    case 'tool-call':
    case 'tool-result':
      return body.messageId
    default:
      return undefined
  }
}

function stringsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
