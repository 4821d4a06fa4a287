import type { FinishReason, JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { Dialect, DialectReader, HeldRecord, Run, RunEnd } from '../kit/mapper.ts'
import { beginsAsFailure } from './failures.ts'
import { readOutcome } from './outcome.ts'
import { GooseSaying } from './saying.ts'
import { gooseTools, isOwnExtension } from './tools.ts'
import { messagesOfRun, WholeResult } from './whole-result.ts'

/** Reads `goose run --output-format stream-json`, and the single object that `json` prints at the end. */
export const gooseDialect: Dialect = {
  id: 'goose',
  version: 1,
  tools: gooseTools,
  open: (run) => new GooseReader(run),
}

interface GooseMessage {
  readonly id: string
  readonly isAgent: boolean
  /** Whether the message names the model that wrote it. */
  readonly isInferred: boolean
  readonly isHidden: boolean
}

class GooseReader implements DialectReader {
  readonly #run: Run
  readonly #saying: GooseSaying
  readonly #whole: WholeResult
  /** Messages of this version name the model that wrote them: those that do not are Goose's own. */
  #marksInference = false
  #stepMessage: string | undefined
  #notice: string | undefined
  #isCut = false
  /** The error that ends the run, unless we ended it. */
  #error: { readonly record: HeldRecord; readonly message: string } | undefined

  constructor(run: Run) {
    this.#run = run
    this.#saying = new GooseSaying(run)
    this.#whole = new WholeResult(run)
  }

  odd(text: string): boolean {
    const result = this.#whole.line(text)
    if (typeof result === 'boolean') return result
    for (const message of messagesOfRun(result)) if (!this.#message(message)) this.#run.unknown(message)
    this.#complete(asObject(result['metadata']) ?? NO_FIELDS)
    return true
  }

  record(record: JsonObject): void {
    this.#whole.giveUp()
    switch (record['type']) {
      case 'message':
        this.#message(record['message'])
        return
      case 'complete':
        this.#complete(record)
        return
      case 'error':
        this.#endWith(record)
        return
      default:
        // Notifications are prose; other records are not known.
        this.#saying.end()
        this.#run.unknown(record)
    }
  }

  end(end: RunEnd): void {
    this.#saying.end(true)
    const error = this.#error
    this.#error = undefined
    if (error === undefined) return
    if (end.aborted === true) {
      error.record.drop('aborted')
      return
    }
    error.record.drop('repeats-error')
    this.#fail(error.message)
  }

  // Messages.

  #message(item: JsonValue | undefined): boolean {
    const fields = asObject(item)
    const content = fields?.['content']
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
    if (fields === undefined || blocks === undefined) return false
    const metadata = asObject(fields['metadata']) ?? NO_FIELDS
    const message: GooseMessage = {
      id: asText(fields['id']) ?? '',
      isAgent: fields['role'] === 'assistant',
      isInferred: asObject(metadata['inference']) !== undefined,
      isHidden: metadata['userVisible'] === false,
    }
    this.#marksInference ||= message.isInferred
    for (const item of blocks) this.#block(item, message)
    if (metadata['outputTokenLimitReached'] === true) this.#cut()
    else if (blocks.length === 0) this.#run.consume('empty-text')
    return true
  }

  #block(item: JsonValue, message: GooseMessage): void {
    const block = asObject(item) ?? NO_FIELDS
    switch (block['type']) {
      case 'text':
        this.#text(block, message)
        return
      case 'thinking':
        this.#thinking(block, message)
        return
      case 'redactedThinking':
        this.#run.consume('reasoning')
        return
      case 'toolRequest':
      case 'frontendToolRequest':
        this.#request(block, message)
        return
      case 'toolResponse':
        this.#response(block)
        return
      case 'systemNotification':
        this.#systemNotice(block)
        return
      case 'error':
        this.#errorBlock(block)
        return
      case 'image':
      case 'document':
        if (!message.isAgent) {
          this.#run.consume('user-text')
          return
        }
    }
    this.#saying.end()
    this.#run.unknown(item)
  }

  #text(block: JsonObject, message: GooseMessage): void {
    const { text } = block
    if (typeof text !== 'string') this.#run.unknown(block)
    else if (!message.isAgent) this.#run.consume('user-text')
    else if (message.isHidden) this.#run.consume('synthetic')
    else if (!message.isInferred && beginsAsFailure(text)) this.#failWith(text)
    else if (!message.isInferred && this.#marksInference) {
      this.#saying.end()
      this.#run.warn(text)
    } else {
      this.#beginStep(message.id)
      this.#run.consume('partial')
      this.#saying.text(message.id, text)
    }
  }

  #thinking(block: JsonObject, message: GooseMessage): void {
    const { thinking } = block
    this.#run.consume('reasoning')
    if (typeof thinking !== 'string' || thinking === '' || !message.isAgent) return
    this.#beginStep(message.id)
    this.#saying.thought(message.id, thinking)
  }

  #beginStep(id: string): void {
    if (id === '' || id === this.#stepMessage) return
    this.#saying.end()
    this.#stepMessage = id
    this.#isCut = false
    this.#run.stepStart()
  }

  #cut(): void {
    this.#isCut = true
    this.#saying.end()
    this.#run.warn('The answer was cut off at the output limit.', 'output-limit')
  }

  /** Reports what Goose says about itself: that it compacts the conversation, and how that went. */
  #systemNotice(block: JsonObject): void {
    const message = asText(block['msg'])
    this.#saying.end()
    if (message === undefined) {
      this.#run.unknown(block)
      return
    }
    this.#notice = message
    this.#run.warn(message, asText(block['notificationType']))
  }

  // Calls.

  #request(block: JsonObject, message: GooseMessage): void {
    const id = asText(block['id'])
    const asked = asObject(block['toolCall']) ?? NO_FIELDS
    this.#beginStep(message.id)
    this.#saying.end()
    if (id === undefined) {
      this.#run.unknown(block)
      return
    }
    const call = asObject(asked['value']) ?? asked
    const { arguments: input } = call
    const extension = asText(asObject(block['_meta'])?.['goose_extension'])
    this.#notice = undefined
    this.#saying.awaitAnswer()
    this.#run.call({
      id,
      name: asText(call['name']) ?? '',
      input: asObject(input) ?? NO_FIELDS,
      raw: block,
      invalidInput: asText(input),
      serverName: extension === undefined || isOwnExtension(extension) ? undefined : extension,
    })
  }

  #response(block: JsonObject): void {
    const id = asText(block['id'])
    this.#saying.end()
    const call = id === undefined ? undefined : this.#run.openCall(id, null)
    this.#run.result({
      id,
      parent: null,
      raw: block,
      outcome: readOutcome(block),
      // Another extension's tool may have the name of one of Goose's.
      activity: call?.serverName === undefined ? undefined : [],
    })
  }

  // The end.

  #complete(record: JsonObject): void {
    this.#saying.end()
    // The session's total so far, over all its runs, including subagents.
    this.#run.usage.countTotal({
      inputTokens: record['input_tokens'],
      outputTokens: record['output_tokens'],
      totalTokens: record['total_tokens'],
      cachedInputTokens: record['cache_read_input_tokens'],
      cacheWriteInputTokens: record['cache_write_input_tokens'],
      costUsd: record['cost_usd'],
      inputIncludesCache: true,
    })
    this.#run.consume('lifecycle')
    if (this.#notice !== undefined && !this.#saying.hasSpoken && !this.#run.hasFailed) {
      this.#fail(`The run ended without an answer of the agent: ${this.#notice}`, 'no-answer')
    }
    this.#turnEnd()
  }

  #turnEnd(): void {
    const { sessionId } = this.#run
    const finishReason: FinishReason = this.#isCut ? 'length' : 'stop'
    this.#run.turnEnd({ finishReason, native: sessionId === undefined ? undefined : { sessionId } })
  }

  // Errors.

  /** Reads the last record of a run that failed or was interrupted. */
  #endWith(record: JsonObject): void {
    const message = asText(record['error']) ?? asText(asObject(record['error'])?.['message'])
    if (message === undefined) return
    this.#saying.end(true)
    if (this.#run.hasFailed) {
      this.#run.consume('repeats-error')
      return
    }
    this.#error?.record.keep()
    this.#error = { record: this.#run.hold([{ type: 'error', message }]), message }
  }

  #errorBlock(block: JsonObject): void {
    const message = asText(block['message'])
    if (message === undefined) this.#run.unknown(block)
    else this.#failWith(message, asText(block['kind']))
  }

  #failWith(message: string, code?: string): void {
    this.#saying.end(true)
    this.#fail(message, code)
  }

  #fail(message: string, code?: string): void {
    this.#run.closeCalls()
    this.#run.fail(message, code)
  }
}
