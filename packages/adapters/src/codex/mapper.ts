import type { JsonObject, JsonValue, NativeRef } from '@inspan/protocol'
import type { CallRecord } from '../kit/calls.ts'
import { asInteger, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { Dialect, DialectReader, HeldRecord, Run, TurnEnd } from '../kit/mapper.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'
import { UndecidedError } from './undecided-error.ts'
import { warnOfLogLine } from './log-line.ts'
import { CodexSubagents } from './subagents.ts'
import { codexTools } from './tools.ts'

/** Reads `codex exec --json`. */
export const codexDialect: Dialect = {
  id: 'codex',
  version: 1,
  tools: codexTools,
  open: (run) => new CodexReader(run),
}

/** How Codex announces a retry. There is no other sign of it. */
const RETRY = /^Reconnecting\.\.\.|; retrying \d+\/\d+/

/** Types of items that are calls. */
type ItemType = 'command_execution' | 'file_change' | 'mcp_tool_call' | 'collab_tool_call' | 'web_search'
type Phase = 'started' | 'updated' | 'completed'

class CodexReader implements DialectReader {
  readonly #run: Run
  readonly #subagents = new CodexSubagents()
  /** The next record decides whether it ends the turn. */
  readonly #error: UndecidedError
  /** Items of unknown kinds that have started and not completed. */
  readonly #unknownItems = new Map<string, HeldRecord>()

  constructor(run: Run) {
    this.#run = run
    this.#error = new UndecidedError(run)
  }

  record(record: JsonObject): void {
    const { type } = record
    this.#error.settle(type === 'turn.failed')
    switch (type) {
      // The phase is passed as our own constant: strings of a record are slow to compare.
      case 'item.completed':
        this.#item(record, 'completed')
        return
      case 'item.started':
        this.#item(record, 'started')
        return
      case 'item.updated':
        this.#item(record, 'updated')
        return
      case 'thread.started':
        this.#threadStarted(asText(record['thread_id']))
        return
      case 'turn.started':
        this.#run.turnStart()
        this.#run.consume('lifecycle')
        return
      case 'turn.completed':
        this.#turnCompleted(record)
        return
      case 'turn.failed':
        this.#turnFailed(record)
        return
      case 'error':
        this.#reported(record)
    }
  }

  stderr(text: string): void {
    warnOfLogLine(this.#run, text)
  }

  end(): void {
    this.#error.endRun()
  }

  // Turns.

  #threadStarted(id: string | undefined): void {
    if (this.#run.sessionId !== undefined && id !== this.#run.sessionId) this.#run.usage.restart()
    this.#run.session(id)
    this.#run.consume('lifecycle')
  }

  #turnCompleted(record: JsonObject): void {
    const usage = asObject(record['usage'])
    if (usage !== undefined) {
      // The thread's total so far, over all its turns and processes.
      this.#run.usage.countTotal({
        inputTokens: usage['input_tokens'],
        outputTokens: usage['output_tokens'],
        cachedInputTokens: usage['cached_input_tokens'],
        cacheWriteInputTokens: usage['cache_write_input_tokens'],
        reasoningTokens: usage['reasoning_output_tokens'],
        inputIncludesCache: true,
      })
    }
    this.#run.consume('lifecycle')
    this.#run.turnEnd(this.#end('stop'))
  }

  #turnFailed(record: JsonObject): void {
    const error = asObject(record['error'])
    const message = asText(error?.['message']) ?? asText(record['error']) ?? asText(record['message'])
    this.#run.closeCalls()
    this.#run.fail(message ?? 'The turn failed without saying why.', asText(error?.['code']))
    this.#run.turnEnd(this.#end('error'))
  }

  #reported(record: JsonObject): void {
    const message = firstText(record, 'message') ?? asText(asObject(record['error'])?.['message'])
    if (message === undefined) return
    if (RETRY.test(message)) this.#run.warn(message, 'retry')
    else this.#error.hold({ message })
  }

  // Items.

  #item(record: JsonObject, phase: Phase): void {
    const item = asObject(record['item'])
    if (item === undefined) return
    const isCompleted = phase === 'completed'
    switch (item['type'] ?? item['item_type']) {
      case 'command_execution':
        this.#call('command_execution', item, phase, record)
        return
      case 'file_change':
        this.#call('file_change', item, phase, record)
        return
      case 'mcp_tool_call':
        this.#call('mcp_tool_call', item, phase, record)
        return
      case 'collab_tool_call':
        this.#call('collab_tool_call', item, phase, record)
        return
      case 'web_search':
        this.#call('web_search', item, phase, record)
        return
      case 'agent_message':
      case 'assistant_message':
        if (isCompleted) this.#message(item)
        else this.#run.consume('partial')
        return
      case 'reasoning':
        if (isCompleted) this.#reasoning(item)
        else this.#run.consume('partial')
        return
      case 'error':
        if (isCompleted) this.#run.complain(asText(item['message']) ?? 'Codex reports an error without saying which.')
        else this.#run.consume('partial')
        return
      default:
        this.#unknownItem(asText(item['id']), phase, record)
    }
  }

  #message(item: JsonObject): void {
    const text = item['text']
    if (typeof text === 'string') this.#run.text(text, { native: this.#native(asText(item['id'])) })
  }

  #reasoning(item: JsonObject): void {
    const text = asText(item['text'])
    if (text === undefined) this.#run.consume('reasoning')
    else this.#run.reasoning(text, { native: this.#native(asText(item['id'])) })
  }

  #call(type: ItemType, item: JsonObject, phase: Phase, record: JsonObject): void {
    const id = asText(item['id'])
    if (id === undefined) return
    if (phase === 'updated') {
      this.#run.consume('task-progress')
      return
    }
    const native = this.#native(id)
    if (phase === 'started') {
      this.#run.call(callOf(id, type, item, record, native))
      return
    }
    const activity = type === 'collab_tool_call' ? this.#subagents.read(item) : undefined
    const outcome = outcomeOf(type, item)
    // The call is nearly always known, so the item need not be read again.
    if (this.#run.isOpen(id, null)) {
      this.#run.result({ id, parent: null, raw: record, outcome, native, activity, isRestated: true })
    } else this.#run.resultOrCall(callOf(id, type, item, record, native), outcome, { activity })
  }

  /** Handles an item of an unknown kind: its last record is complete. */
  #unknownItem(id: string | undefined, phase: Phase, record: JsonObject): void {
    if (id === undefined) return
    if (phase === 'updated') {
      this.#run.consume('task-progress')
      return
    }
    this.#unknownItems.get(id)?.drop('restated')
    if (phase === 'started') this.#unknownItems.set(id, this.#run.hold([{ type: 'unknown', raw: record }]))
    else {
      this.#unknownItems.delete(id)
      this.#run.unknown(record)
    }
  }

  #end(finishReason: TurnEnd['finishReason']): TurnEnd {
    const { sessionId } = this.#run
    return { finishReason, native: sessionId === undefined ? undefined : { sessionId } }
  }

  #native(itemId: string | undefined): NativeRef {
    const { sessionId } = this.#run
    if (itemId === undefined) return sessionId === undefined ? {} : { sessionId }
    return sessionId === undefined ? { itemId } : { sessionId, itemId }
  }
}

function callOf(id: string, type: ItemType, item: JsonObject, raw: JsonValue, native: NativeRef): CallRecord {
  switch (type) {
    case 'command_execution':
      return { id, name: 'command_execution', input: commandInput(item), raw, native }
    case 'file_change':
      return { id, name: 'file_change', input: { changes: item['changes'] ?? null }, raw, native }
    case 'mcp_tool_call': {
      const server = asText(item['server'])
      const name = `mcp__${server ?? ''}__${asText(item['tool']) ?? ''}`
      const input = asObject(item['arguments']) ?? NO_FIELDS
      return { id, name, input, raw, native, serverName: server }
    }
    case 'collab_tool_call': {
      const input = { prompt: item['prompt'] ?? null, receivers: item['receiver_thread_ids'] ?? null }
      return { id, name: asText(item['tool']) ?? type, input, raw, native }
    }
    default: {
      const input = { query: item['query'] ?? null, action: item['action'] ?? null }
      return { id, name: type, input, raw, native }
    }
  }
}

/** The versions that we have seen do not report the directory of a command. */
function commandInput(item: JsonObject): JsonObject {
  const command = item['command'] ?? null
  const cwd = item['cwd'] ?? item['workdir'] ?? item['working_directory']
  return cwd === undefined ? { command } : { command, cwd }
}

/** Returns how an item ended. A command that "completed" without an exit code does not tell. */
function outcomeOf(type: ItemType, item: JsonObject): ReportedOutcome {
  const exitCode = asInteger(item['exit_code'])
  const result = item['aggregated_output'] ?? item['result'] ?? item['error'] ?? item['changes'] ?? null
  if (exitCode !== undefined) return { exitCode, isSuccess: exitCode === 0, result }
  return { isSuccess: successOf(type, item), isUndone: item['status'] === 'declined', result }
}

function successOf(type: ItemType, item: JsonObject): boolean | undefined {
  switch (item['status']) {
    case 'failed':
    case 'declined':
      return false
    case 'completed':
      return type === 'command_execution' ? undefined : true
    default:
      return undefined
  }
}
