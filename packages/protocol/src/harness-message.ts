import type { HarnessMessageContent } from './harness-content.ts'
import type { JsonValue } from './json.ts'
import type { MessageFields, Part, StoredMessage, ThreadMessage } from './message.ts'
import { hasArgs, isPlaceholder, settledResult } from './part-facts.ts'
import { signalContent } from './signal-content.ts'
import type { UsageMetadata } from './usage.ts'

export type HarnessMessageRole = 'user' | 'assistant' | 'system'

export type HarnessStopReason = 'complete' | 'tool_use' | 'aborted' | 'error'

/** A message as a harness shows it. Never changed after it was handed out, so a kept event stays true. */
export interface HarnessMessage {
  readonly id: string
  readonly role: HarnessMessageRole
  readonly content: readonly HarnessMessageContent[]
  readonly createdAt: Date
  readonly attributes?: Readonly<Record<string, unknown>>
  /** Why the agent stopped; absent while it speaks, and on messages that are not an agent's. */
  readonly stopReason?: HarnessStopReason
  readonly errorMessage?: string
}

/** Token counts under the names a harness uses. */
export interface TokenUsage {
  /** All input tokens, including those read from the provider's cache and those written to it. */
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  readonly reasoningTokens: number
  readonly cachedInputTokens: number
  readonly cacheCreationInputTokens: number
  /** As the provider reported it. */
  readonly raw?: unknown
}

export const NO_TOKENS: TokenUsage = Object.freeze({
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  cacheCreationInputTokens: 0,
})

export function toTokenUsage(usage: UsageMetadata): TokenUsage {
  const { cacheWriteInputTokens = 0, cachedInputTokens = 0, inputTokens = 0 } = usage
  const promptTokens = inputTokens + cachedInputTokens + cacheWriteInputTokens
  const completionTokens = usage.outputTokens ?? 0
  return {
    promptTokens,
    completionTokens,
    // A provider that does not count cached tokens reports a total that is too low.
    totalTokens: Math.max(usage.totalTokens ?? 0, promptTokens + completionTokens),
    reasoningTokens: usage.reasoningTokens ?? 0,
    cachedInputTokens,
    cacheCreationInputTokens: cacheWriteInputTokens,
  }
}

export function toHarnessMessage(message: ThreadMessage | StoredMessage): HarnessMessage {
  const content: HarnessMessageContent[] = []
  const { parts } = message
  for (let i = 0; i < parts.length; i++) {
    const part = parts.at(i)
    const piece = part === undefined ? undefined : toHarnessContent(part)
    if (piece !== undefined) content.push(piece)
  }
  return harnessMessageOf(message.role === 'user' ? withAttributes(message) : message, content)
}

/** A user message has its attributes on its first part, because the queue it may come from stores only parts. */
function withAttributes(message: ThreadMessage | StoredMessage): MessageFields {
  const attributes = message.parts.at(0)?.meta?.['attributes']
  return attributes === undefined ? message : { ...message, meta: { attributes, ...message.meta } }
}

/** Builds a message from content that was converted already. */
export function harnessMessageOf(message: MessageFields, content: readonly HarnessMessageContent[]): HarnessMessage {
  // The harness vocabulary has no role for results: they appear in a message of the agent that called.
  const role = message.role === 'tool' ? 'assistant' : message.role
  const shown = { id: message.id, role, content, createdAt: new Date(message.at) }
  const attributes = attributesOf(message)
  const stopReason = stopReasonOf(message)
  // This runs for every delta, and none of them has either: omitting the fields again would cost more than all the
  // rest.
  if (attributes === undefined && stopReason === undefined) return shown
  const errorMessage = stopReason === 'error' ? errorMessageOf(message) : undefined
  return {
    ...shown,
    ...(attributes === undefined ? {} : { attributes }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(errorMessage === undefined ? {} : { errorMessage }),
  }
}

/** Returns `undefined` for what a message does not show yet: calls without known input, results that are not there. */
export function toHarnessContent(part: Part): HarnessMessageContent | undefined {
  switch (part.type) {
    case 'text':
      return isPlaceholder(part) ? undefined : { type: 'text', text: part.text }
    case 'reasoning':
      return { type: 'thinking', thinking: part.text }
    case 'tool-call':
      return hasArgs(part)
        ? { type: 'tool_call', id: part.toolCallId, name: part.toolName, args: part.args }
        : undefined
    case 'tool-result': {
      const settled = settledResult(part)
      if (settled === undefined) return undefined
      return {
        type: 'tool_result',
        id: part.toolCallId,
        name: part.toolName,
        result: settled.result ?? settled.error?.message ?? null,
        isError: settled.isError,
        ...(settled.resultRef === undefined ? {} : { resultRef: settled.resultRef }),
        ...(part.meta?.provider === undefined ? {} : { providerMetadata: part.meta.provider }),
      }
    }
    case 'image':
      return {
        type: 'image',
        data: part.data,
        mimeType: part.mimeType,
        ...(part.ref === undefined ? {} : { ref: part.ref }),
        ...(part.url === undefined ? {} : { url: part.url }),
      }
    case 'file':
      return {
        type: 'file',
        data: part.data,
        mediaType: part.mimeType,
        ...(part.fileName === undefined ? {} : { filename: part.fileName }),
        ...(part.ref === undefined ? {} : { ref: part.ref }),
        ...(part.url === undefined ? {} : { url: part.url }),
      }
    case 'signal':
      return signalContent(part)
  }
}

function attributesOf(message: MessageFields): Readonly<Record<string, JsonValue>> | undefined {
  const attributes = message.meta?.['attributes']
  if (attributes === undefined || attributes === null) return undefined
  return typeof attributes === 'object' && !Array.isArray(attributes)
    ? (attributes as Readonly<Record<string, JsonValue>>)
    : undefined
}

function stopReasonOf(message: MessageFields): HarnessStopReason | undefined {
  if (message.role !== 'assistant' || message.state === 'open') return undefined
  if (message.error !== undefined) return 'error'
  if (message.state === 'interrupted') return 'aborted'
  switch (message.finishReason) {
    case 'tool-calls':
      return 'tool_use'
    case 'length':
    case 'content-filter':
    case 'error':
      return 'error'
    case 'stop':
    case 'other':
    case undefined:
      return 'complete'
  }
}

function errorMessageOf(message: MessageFields): string {
  if (message.error !== undefined) return message.error.message
  if (message.finishReason === 'length') return 'The answer was cut off at the output limit of the model.'
  if (message.finishReason === 'content-filter') return 'The provider withheld the answer.'
  return 'The model ended with an error.'
}
