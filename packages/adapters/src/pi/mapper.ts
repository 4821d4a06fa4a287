import type { JsonObject } from '@inspan/protocol'
import { asInteger, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { Dialect, DialectReader, Run, RunEnd } from '../kit/mapper.ts'
import { Failures } from './failures.ts'
import { Messages } from './messages.ts'
import { readToolEnd, readToolStart } from './tool-records.ts'
import { piTools } from './tools.ts'

/** Reads `pi --mode json --print`, and the same records in rpc mode. */
export const piDialect: Dialect = {
  id: 'pi',
  version: 1,
  tools: piTools,
  open: (run) => new PiReader(run),
}

class PiReader implements DialectReader {
  readonly #run: Run
  readonly #failures: Failures
  readonly #messages: Messages
  #isSettled = true

  constructor(run: Run) {
    this.#run = run
    this.#failures = new Failures(run)
    this.#messages = new Messages(run, this.#failures)
  }

  record(record: JsonObject): void {
    switch (record['type']) {
      case 'message_update':
        this.#messages.update(record)
        return
      case 'message_start':
        this.#messages.start(record)
        return
      case 'message_end':
        this.#messages.end(record)
        return
      case 'tool_execution_start':
        readToolStart(record, this.#run)
        return
      case 'tool_execution_update':
      case 'bash_execution_update':
        this.#run.consume('partial')
        return
      case 'tool_execution_end':
        readToolEnd(record, this.#run)
        return
      case 'turn_start':
        this.#run.consume('step')
        this.#run.stepStart()
        return
      case 'turn_end':
        this.#run.consume('step')
        this.#messages.endStep(record)
        return
      case 'session':
        this.#run.session(asText(record['id']))
        this.#run.directory(asText(record['cwd']))
        this.#run.consume('lifecycle')
        return
      case 'agent_start':
        this.#agentStart()
        return
      case 'agent_settled':
        this.#run.consume('lifecycle')
        this.#settle()
        return
      case 'auto_retry_start':
        this.#run.warn(retryMessage(record), 'auto_retry')
        this.#failures.isRetried()
        return
      case 'summarization_retry_scheduled':
        this.#run.warn(retryMessage(record), 'summarization_retry')
        return
      case 'auto_retry_end':
        this.#run.consume('lifecycle')
        if (record['success'] === false) this.#failures.isFinal(asText(record['finalError']))
        return
      case 'compaction_end':
      case 'auto_compaction_end':
        this.#compacted(record)
        return
      case 'extension_error':
        this.#run.complain(firstText(record, 'error', 'message') ?? 'A Pi extension failed without saying why.')
        return
      case 'response':
        this.#response(record)
        return
      case 'agent_end':
      case 'compaction_start':
      case 'auto_compaction_start':
      case 'entry_appended':
      case 'queue_update':
      case 'session_info_changed':
      case 'summarization_retry_attempt_start':
      case 'summarization_retry_finished':
      case 'thinking_level_changed':
        this.#run.consume('lifecycle')
    }
  }

  end(end: RunEnd): void {
    if (end.aborted === true) return
    // For versions that do not report that they have settled, and if Pi was killed.
    this.#failures.isFinal()
    const { finishReason } = this.#messages
    if (!this.#isSettled && finishReason !== undefined) this.#run.turnEnd({ finishReason })
  }

  #agentStart(): void {
    this.#failures.goOn()
    if (this.#isSettled) this.#run.turnStart()
    this.#isSettled = false
    this.#run.consume('lifecycle')
  }

  /** Ends the turn: no retry, compaction or queued message follows for this prompt. */
  #settle(): void {
    this.#failures.isFinal()
    this.#isSettled = true
    const { sessionId } = this.#run
    this.#run.turnEnd({
      finishReason: this.#messages.finishReason ?? 'stop',
      ...(sessionId === undefined ? {} : { native: { sessionId } }),
    })
  }

  #compacted(record: JsonObject): void {
    const message = asText(record['errorMessage'])
    if (message === undefined) this.#run.consume('lifecycle')
    else this.#run.warn(message, 'compaction_end')
  }

  /** Reads the answer to one of our commands in rpc mode. */
  #response(record: JsonObject): void {
    const data = asObject(record['data']) ?? NO_FIELDS
    this.#run.session(asText(data['sessionId']))
    if (record['success'] === false) {
      this.#run.warn(asText(record['error']) ?? 'Pi refused a command without saying why.', asText(record['command']))
    } else this.#run.consume('control')
  }
}

function retryMessage(record: JsonObject): string {
  const message = asText(record['errorMessage'])
  const attempt = asInteger(record['attempt'])
  const of = asInteger(record['maxAttempts'])
  const count = attempt === undefined ? '' : ` ${attempt}${of === undefined ? '' : ` of ${of}`}`
  return `Retry${count}${message === undefined ? '' : `: ${message}`}`
}
