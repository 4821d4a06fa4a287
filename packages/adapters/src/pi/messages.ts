import type { FinishReason, JsonObject, JsonValue, NativeRef, UsageIncrement } from '@inspan/protocol'
import { asArray, asInteger, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { TextPlace, PlacedText, Run } from '../kit/mapper.ts'
import type { Failures } from './failures.ts'
import { anchorOfMessage } from './session-file.ts'

/** Reads what is said: deltas first, then each message as a whole. */
export class Messages {
  readonly #run: Run
  readonly #failures: Failures
  /** Counts the agent's messages, to tell their texts apart. */
  #index = 0
  #usage: UsageIncrement | undefined
  #finishReason: FinishReason | undefined

  constructor(run: Run, failures: Failures) {
    this.#run = run
    this.#failures = failures
  }

  /** How the agent's last message ended. */
  get finishReason(): FinishReason | undefined {
    return this.#finishReason
  }

  start(record: JsonObject): void {
    const role = asObject(record['message'])?.['role']
    if (typeof role !== 'string') return
    this.#run.consume('partial')
    if (role !== 'assistant') return
    this.#failures.goOn()
    this.#next()
  }

  update(record: JsonObject): void {
    const event = asObject(record['assistantMessageEvent'])
    if (event === undefined) return
    this.#run.consume('partial')
    const delta = event['delta']
    const index = asInteger(event['contentIndex'])
    if (typeof delta !== 'string' || index === undefined) return
    if (event['type'] === 'text_delta') {
      this.#run.textDelta(delta, { partId: this.#partId(index) })
    } else if (event['type'] === 'thinking_delta') this.#run.reasoningDelta(delta, { partId: this.#partId(index) })
  }

  end(record: JsonObject): void {
    const message = asObject(record['message'])
    switch (message?.['role']) {
      case 'assistant':
        this.#said(message)
        return
      case 'toolResult':
        this.#run.consume('repeats-result')
        return
      case undefined:
        return
      default:
        this.#run.consume('not-the-agent')
    }
  }

  /** Ends a step, after its calls have ended. */
  endStep(record: JsonObject): void {
    const message = asObject(record['message']) ?? NO_FIELDS
    const usage = this.#usage ?? this.#addUsage(message)
    this.#usage = undefined
    const finishReason = finishReasonOf(message['stopReason'])
    const native = this.#native(asObject(asArray(record['toolResults'])?.at(-1)) ?? message)
    this.#run.stepEnd({ finishReason, usage, native })
  }

  #said(message: JsonObject): void {
    this.#usage = this.#addUsage(message)
    const reason = message['stopReason']
    this.#finishReason = finishReasonOf(reason)
    const error = asText(message['errorMessage'])
    switch (reason) {
      case 'error':
        this.#failures.add(error ?? 'The model call failed without saying why.')
        break
      case 'aborted':
        this.#failures.add(error ?? 'The model call was aborted.', reason)
        break
    }
    this.#content(message, reason === 'error' || reason === 'aborted')
    this.#next()
  }

  #next(): void {
    this.#index += 1
  }

  #content(message: JsonObject, isCut: boolean): void {
    const { content } = message
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
    if (parts === undefined) {
      this.#run.unknown(message)
      return
    }
    const texts: PlacedText[] = []
    let calls = 0
    const native = this.#native(message)
    for (const [index, item] of parts.entries()) {
      const part = asObject(item)
      switch (part?.['type']) {
        case 'text':
          if (typeof part['text'] !== 'string') this.#run.unknown(item)
          else texts.push({ text: part['text'], place: this.#place(index, native) })
          break
        case 'thinking':
          if (typeof part['thinking'] === 'string') this.#run.reasoning(part['thinking'], this.#place(index))
          else this.#run.consume('reasoning')
          break
        case 'toolCall':
          calls += 1
          break
        default:
          this.#run.unknown(item)
      }
    }
    this.#run.texts(texts, isCut)
    // Calls are reported again when they begin to run.
    if (calls > 0) this.#run.consume('announces-call')
    else if (parts.length === 0 && !isCut) this.#run.consume('empty-text')
  }

  #addUsage(message: JsonObject): UsageIncrement | undefined {
    const usage = asObject(message['usage'])
    if (usage === undefined) return undefined
    return this.#run.usage.add({
      inputTokens: usage['input'],
      outputTokens: usage['output'],
      cachedInputTokens: usage['cacheRead'],
      cacheWriteInputTokens: usage['cacheWrite'],
      reasoningTokens: usage['reasoning'],
      totalTokens: usage['totalTokens'],
      costUsd: asObject(usage['cost'])?.['total'],
    })
  }

  #place(index: number, native?: NativeRef): TextPlace {
    return { partId: this.#partId(index), native }
  }

  /** Returns the place of a message in the session. */
  #native(message: JsonObject): NativeRef | undefined {
    const messageId = anchorOfMessage(message)
    const { sessionId } = this.#run
    if (messageId === undefined) return undefined
    return sessionId === undefined ? { messageId } : { sessionId, messageId }
  }

  #partId(index: number): string {
    return `${this.#index}.${index}`
  }
}

function finishReasonOf(reason: JsonValue | undefined): FinishReason | undefined {
  switch (reason) {
    case 'stop':
    case 'length':
    case 'error':
      return reason
    case 'toolUse':
      return 'tool-calls'
    case undefined:
      return undefined
    default:
      return 'other'
  }
}
