import { toError } from '../error-data.ts'
import type { ErrorEvent } from '../agent-event.ts'
import { defined } from '../defined.ts'
import type { HarnessEvent } from '../harness-event.ts'
import { toHarnessContent } from '../harness-message.ts'
import type { Head } from '../head.ts'
import type { JsonValue } from '../json.ts'
import { isObject } from '../json-op.ts'
import type { Part } from '../message.ts'
import type { ConfigChangedRecord, NoteRecord } from '../control-record.ts'
import type { ContentAddress, ContentEvent } from './content.ts'
import type { HarnessErrorEvent } from './conversation.ts'

/* The events that follow from one record of the log. */

/** Words that providers and programs use for failures that pass by themselves. */
const PASSING = /overload|rate.?limit|too.?many.?requests|server.?error|service.?unavailable|timeout|timed.?out/i
const BROKEN_LINE =
  /connection.?failed|stream.?disconnected|^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/i

/** Returns the event for a whole part of a message; `undefined` while there is nothing to show of it. */
export function contentEvent(part: Part, address: ContentAddress): ContentEvent | undefined {
  const content = toHarnessContent(part)
  if (content === undefined) return undefined
  switch (content.type) {
    // Memory reports its work in events of its own, which say more.
    case 'om_observation_start':
    case 'om_observation_end':
    case 'om_observation_failed':
    case 'om_thread_title_updated':
    case 'compaction':
      return undefined
    default:
      return { ...content, ...address }
  }
}

/** Returns the event for a note; `undefined` for one that is only kept. */
export function noteEvent({ data, kind, text }: NoteRecord): HarnessEvent | undefined {
  switch (kind) {
    case 'policy-violation':
      return { type: 'error', error: new Error(text), errorType: kind }
    case 'warning':
    case 'handover':
    case 'budget':
      return { type: 'info', message: text }
    case 'info':
      // Activity of a foreign program is projected elsewhere.
      if (data?.['activity'] !== undefined) return undefined
      return { type: 'info', message: text, ...steered(data?.['steer']) }
    case 'receipt':
      return undefined
  }
}

/** How a program took a message that was steered to it. */
function steered(how: JsonValue | undefined): { steered?: 'injected' | 'restarted' } {
  if (how === undefined) return {}
  return { steered: how === 'restart' ? 'restarted' : 'injected' }
}

/** Returns the event for an error of a run. `retryable` is left out where nobody knows whether a retry may help. */
export function errorEvent({ code, error, meta }: ErrorEvent): HarnessErrorEvent {
  const { retryable = byCode(code ?? error.code), retryAfterMs } = retryOf(meta?.['retry'])
  return {
    type: 'error',
    error: toError(error),
    ...defined({ errorType: code, retryable, retryDelay: retryAfterMs }),
  }
}

/** Reads what an agent that calls models itself has found out about the failure. */
function retryOf(said: JsonValue | undefined): { readonly retryable?: boolean; readonly retryAfterMs?: number } {
  const { retryable, retryAfterMs } = said !== undefined && isObject(said) ? said : {}
  return {
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  }
}

/** Foreign programs give a status or a word, if anything. */
function byCode(code: string | undefined): boolean | undefined {
  if (code === undefined) return undefined
  if (/^[45]\d\d$/.test(code)) return ['408', '409', '429'].includes(code) || code.startsWith('5')
  return PASSING.test(code) || BROKEN_LINE.test(code) ? true : undefined
}

/** Returns the event for a change of the queue, if the number of follow-ups changed. */
export function queueEvents(before: Head, { queue, run }: Head, origin: string | undefined): readonly HarnessEvent[] {
  if (queue === before.queue) return []
  const count = followUps(queue)
  // A message queued from outside belongs to no run; the one it waits for is meant.
  const runId = origin ?? run?.runId
  if (count === followUps(before.queue)) return []
  return [{ type: 'follow_up_queued', count, ...(runId === undefined ? {} : { runId }) }]
}

/** Returns the events for a change of config: the mode comes before the model it brings. */
export function configEvents(
  { mode, model }: ConfigChangedRecord,
  before: Head,
  { defaultModeId, scope }: { readonly defaultModeId: string; readonly scope: 'global' | 'thread' | 'mode' },
): readonly HarnessEvent[] {
  const events: HarnessEvent[] = []
  const previousModeId = before.mode ?? defaultModeId
  const modeId = (mode === undefined ? before.mode : mode) ?? defaultModeId
  if (mode !== undefined && modeId !== previousModeId) events.push({ type: 'mode_changed', modeId, previousModeId })
  if (model !== undefined && model !== before.model) {
    events.push({ type: 'model_changed', modelId: model ?? '', scope, modeId })
  }
  return events
}

function followUps(queue: Head['queue']): number {
  return [...queue].filter(({ lane }) => lane === 'follow-up').length
}
