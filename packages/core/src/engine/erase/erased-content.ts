import type { Goal, Part, TaskItem } from '@inspan/protocol'
import { isContentSetting, NOTIFICATION_SETTING, type LogRecord } from '@inspan/protocol/log'

/** The content of a range, as far as copies of it elsewhere can be recognised by it. */
export interface ErasedContent {
  readonly from: number
  readonly runs: Set<string>
  /** All texts in lower case, with single spaces. */
  readonly texts: string[]
  /** The texts of tasks, which every later list of tasks repeats. */
  readonly tasks: Set<string>
  /** The texts of goals, which are written again with every judgement. */
  readonly goals: Set<string>
  /** Settings that hold content: a notification is written again when it is read. */
  readonly settings: Set<string>
  /** The keys (see `partsKey`) of messages, which may have been queued before. */
  readonly said: Set<string>
  /** The keys of queued messages, which may have become messages. */
  readonly queued: Set<string>
  /** The names of rules and settings, which stay. */
  readonly kept: Set<string>
}

export function emptyContent(from: number): ErasedContent {
  const sets = { runs: new Set<string>(), tasks: new Set<string>(), goals: new Set<string>() }
  const more = { settings: new Set<string>(), said: new Set<string>(), queued: new Set<string>() }
  return { from, texts: [], kept: new Set(), ...sets, ...more }
}

export function noteContent(content: ErasedContent, { body, run }: LogRecord): void {
  if (run !== undefined) content.runs.add(run)
  switch (body.type) {
    case 'text-delta':
      content.texts.push(wordsOf(body.text))
      return
    case 'message.added':
      content.texts.push(...textsOfParts(body.parts))
      content.said.add(partsKey(body.parts))
      for (const part of body.parts) {
        const id = notificationOf(part)
        if (id !== undefined) content.settings.add(NOTIFICATION_SETTING + id)
      }
      return
    case 'queue.added':
      content.texts.push(...textsOfParts(body.item.parts))
      content.queued.add(partsKey(body.item.parts))
      return
    case 'tasks.changed':
    case 'rewind':
      return noteTasks(content, body.tasks)
    case 'fork':
      return noteTasks(content, body.keep.tasks)
    case 'config.changed':
      if (body.goal !== undefined && body.goal !== null)
        for (const text of goalTexts(body.goal)) content.goals.add(text)
      if (body.rules !== undefined) content.kept.add('rules')
      for (const key of Object.keys(body.settings ?? {})) {
        if (isContentSetting(key)) content.settings.add(key)
        else content.kept.add(`settings.${key}`)
      }
  }
}

export function taskTexts(tasks: readonly TaskItem[]): string[] {
  return tasks.flatMap(({ activeForm, content }) => [content, activeForm]).filter((text) => text !== '')
}

export function goalTexts({ objective, pausedReason = '', prompt = '' }: Goal): string[] {
  return [objective, pausedReason, prompt].filter((text) => text !== '')
}

/** Returns the id of the notification in a part. */
export function notificationOf(part: Part): string | undefined {
  const id = part.type === 'signal' ? part.data['notificationId'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** Returns a key that is the same for a message and for the queue item it was before. */
export function partsKey(parts: readonly Part[]): string {
  return JSON.stringify(parts)
}

/** Normalises a text for comparison. Drops an ellipsis at the end, because titles are often shortened texts. */
export function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/(\.{3}|…)$/, '')
    .trim()
}

function noteTasks(content: ErasedContent, tasks: readonly TaskItem[]): void {
  for (const text of taskTexts(tasks)) content.tasks.add(text)
}

function textsOfParts(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'text' ? [wordsOf(part.text)] : []))
}
