import type { JsonObject, NativeRef } from '@inspan/protocol'
import { CodexSubagents } from '../subagents.ts'
import { asArray, asInteger, asObject, asText, firstText, NO_FIELDS, textList } from '../../kit/fields.ts'
import type { Dialect, DialectReader, TextPlace, Run } from '../../kit/mapper.ts'
import { UndecidedError } from '../undecided-error.ts'
import { warnOfLogLine } from '../log-line.ts'
import { failureOf } from './failure.ts'
import { callOfItem, collabItem, outcomeOfItem } from './items.ts'
import { reasonFor, serverRequests } from './notices.ts'
import { Threads } from './threads.ts'
import { appServerTools } from './tools.ts'

/** Reads `codex app-server`: answers to our requests, its own requests, and notifications. */
export const codexAppServerDialect: Dialect = {
  id: 'codex-app-server',
  version: 1,
  tools: appServerTools,
  open: (run) => new AppServerReader(run),
}

class AppServerReader implements DialectReader {
  readonly #run: Run
  readonly #threads: Threads
  readonly #subagents = new CodexSubagents()
  #turnId: string | undefined
  #isInStep = false
  /** The end of the turn decides whether it was because of this. */
  readonly #error: UndecidedError

  constructor(run: Run) {
    this.#run = run
    this.#error = new UndecidedError(run)
    this.#threads = new Threads(run.sessionId)
  }

  record(record: JsonObject): void {
    const method = asText(record['method'])
    const params = asObject(record['params']) ?? NO_FIELDS
    if (method === undefined) {
      if ('id' in record && ('result' in record || 'error' in record)) this.#run.consume('control')
    } else if ('id' in record) {
      if (serverRequests.has(method)) this.#run.consume('control')
    } else this.#notification(method, params, record)
  }

  stderr(text: string): void {
    warnOfLogLine(this.#run, text)
  }

  end(): void {
    this.#error.endRun()
  }

  #notification(method: string, params: JsonObject, record: JsonObject): void {
    switch (method) {
      case 'thread/started':
        this.#threads.started(asObject(params['thread']) ?? NO_FIELDS)
        this.#run.consume('lifecycle')
        return
      case 'turn/started':
        this.#turnStarted(params)
        return
      case 'turn/completed':
        this.#turnCompleted(params)
        return
      case 'item/started':
      case 'item/completed':
        this.#item(params, method === 'item/completed', record)
        return
      case 'item/agentMessage/delta':
      case 'item/reasoning/summaryTextDelta':
      case 'item/reasoning/summaryPartAdded':
      case 'item/reasoning/textDelta':
        this.#delta(method, params)
        return
      case 'item/commandExecution/outputDelta':
        this.#output(params)
        return
      case 'thread/tokenUsage/updated':
        this.#usage(params)
        return
      case 'error':
        this.#reported(params)
        return
      case 'hook/completed':
        this.#hook(asObject(params['run']) ?? NO_FIELDS)
        return
      case 'mcpServer/startupStatus/updated':
        this.#mcpServer(params)
        return
      case 'warning':
      case 'guardianWarning':
      case 'deprecationNotice':
      case 'configWarning':
      case 'windows/worldWritableWarning':
        this.#run.warn(firstText(params, 'message', 'summary') ?? 'Codex warns without saying of what.', method)
        return
      case 'model/rerouted':
        this.#run.warn(`The model was changed to ${asText(params['toModel']) ?? 'another one'}.`, method)
        return
      default: {
        const reason = reasonFor(method)
        if (reason !== undefined) this.#run.consume(reason)
      }
    }
  }

  // Turns.

  #turnStarted(params: JsonObject): void {
    const threadId = asText(params['threadId'])
    const turn = asObject(params['turn']) ?? NO_FIELDS
    this.#threads.turnStarted(threadId, turn)
    this.#run.consume('lifecycle')
    if (!this.#threads.isMain(threadId)) return
    this.#run.session(threadId)
    this.#turnId = asText(turn['id'])
    this.#run.turnStart()
  }

  #turnCompleted(params: JsonObject): void {
    const threadId = asText(params['threadId'])
    const turn = asObject(params['turn']) ?? NO_FIELDS
    const { status } = turn
    if (!this.#threads.isMain(threadId)) {
      this.#run.consume('lifecycle')
      if (threadId !== undefined && (status === 'failed' || status === 'interrupted')) this.#ended(threadId, false)
      return
    }
    const native = this.#threads.native({ ...params, turnId: turn['id'] ?? null })
    this.#isInStep = false
    this.#error.settle(status === 'failed')
    if (status === 'failed') {
      const { message, code } = failureOf(asObject(turn['error']) ?? NO_FIELDS)
      this.#run.closeCalls()
      this.#run.fail(message, code)
      this.#run.turnEnd({ finishReason: 'error', native })
      return
    }
    this.#run.consume('lifecycle')
    this.#run.turnEnd({ finishReason: status === 'completed' ? 'stop' : 'other', native })
  }

  #reported(params: JsonObject): void {
    const { message, code } = failureOf(asObject(params['error']) ?? NO_FIELDS)
    if (params['willRetry'] === true) {
      this.#run.warn(message, 'retry')
      // Partial texts are over; the answer begins anew.
      if (this.#threads.isMain(asText(params['threadId']))) this.#endStep()
    } else if (!this.#threads.isMain(asText(params['threadId']))) this.#run.warn(message, code)
    else this.#error.hold({ message, ...(code === undefined ? {} : { code }) })
  }

  /** Reads usage, which comes after every step, and again for an earlier turn when a thread is resumed. */
  #usage(params: JsonObject): void {
    this.#run.consume('usage')
    const usage = asObject(params['tokenUsage']) ?? NO_FIELDS
    const last = numbersOf(asObject(usage['last']) ?? NO_FIELDS)
    if (!this.#threads.isMain(asText(params['threadId']))) {
      this.#run.usage.add(last, 'subagents')
      return
    }
    this.#run.usage.mark(numbersOf(asObject(usage['total']) ?? NO_FIELDS))
    if (this.#turnId === undefined || asText(params['turnId']) !== this.#turnId) return
    const increment = this.#run.usage.add(last)
    this.#isInStep = false
    this.#run.stepEnd(increment === undefined ? {} : { usage: increment })
  }

  // Items.

  #item(params: JsonObject, isCompleted: boolean, record: JsonObject): void {
    const item = asObject(params['item'])
    const id = asText(item?.['id'])
    if (item === undefined || id === undefined) return
    switch (item['type']) {
      case 'userMessage':
        this.#run.consume('user-text')
        if (this.#threads.isMain(asText(params['threadId']))) this.#endStep()
        return
      case 'agentMessage':
        this.#beginStep(params)
        if (isCompleted) this.#message(item, this.#place(params, id))
        else this.#run.consume('partial')
        return
      case 'reasoning':
        this.#beginStep(params)
        if (isCompleted) this.#reasoning(item, this.#place(params, id))
        else this.#run.consume('partial')
        return
      case 'subAgentActivity':
        this.#subagent(item, params, isCompleted, record)
        return
      case 'hookPrompt':
        this.#run.consume('synthetic')
        return
      case 'contextCompaction':
      case 'enteredReviewMode':
      case 'exitedReviewMode':
        this.#run.consume('lifecycle')
        return
      case 'plan':
      case 'sleep':
      case 'functionCallOutput':
        this.#run.consume('bookkeeping')
        return
      default:
        this.#call(id, item, params, isCompleted, record)
    }
  }

  #message(item: JsonObject, place: TextPlace): void {
    const text = item['text']
    if (typeof text === 'string') this.#run.text(text, place)
  }

  #reasoning(item: JsonObject, place: TextPlace & { readonly partId: string }): void {
    const summary = textList(item['summary']).join('\n\n')
    const content = textList(item['content']).join('\n\n')
    if (summary === '' && content === '') this.#run.consume('reasoning')
    if (summary !== '') this.#run.reasoning(summary, place)
    if (content !== '') this.#run.reasoning(content, { ...place, partId: contentPart(place.partId) })
  }

  #call(id: string, item: JsonObject, params: JsonObject, isCompleted: boolean, record: JsonObject): void {
    const call = callOfItem(item)
    if (call === undefined) {
      // An item of an unknown kind: its last record is complete.
      if (!isCompleted) this.#run.consume('partial')
      return
    }
    this.#beginStep(params)
    const parent = this.#threads.parentOf(asText(params['threadId']))
    const native = this.#threads.native(params, id)
    const opened = { id, ...call, raw: record, native, ...(parent === undefined ? {} : { parent }) }
    if (!isCompleted) {
      this.#run.call(opened)
      return
    }
    const isCollab = item['type'] === 'collabAgentToolCall'
    const details = isCollab ? { activity: this.#subagents.read(collabItem(item)) } : undefined
    if (isCollab) this.#noteReceivers(id, item)
    this.#run.resultOrCall(opened, outcomeOfItem(item), details)
  }

  // CodexSubagents.

  #noteReceivers(id: string, item: JsonObject): void {
    if (collabItem(item)['tool'] !== 'spawn_agent') return
    for (const threadId of textList(item['receiverThreadIds'])) this.#threads.spawned(threadId, id)
  }

  /** Treats a subagent as a call from its start to its end. What it does meanwhile is reported in its own thread. */
  #subagent(item: JsonObject, params: JsonObject, isCompleted: boolean, record: JsonObject): void {
    const threadId = asText(item['agentThreadId'])
    const id = asText(item['id'])
    const { kind } = item
    if (threadId === undefined || id === undefined) return
    if (!isCompleted || (kind !== 'started' && kind !== 'completed' && kind !== 'interrupted')) {
      this.#run.consume('partial')
      return
    }
    if (kind !== 'started') {
      if (!this.#ended(threadId, kind === 'completed')) this.#run.consume('orchestration')
      return
    }
    if (!this.#threads.spawned(threadId, id)) {
      this.#run.consume('orchestration')
      return
    }
    this.#beginStep(params)
    const parent = this.#threads.parentOf(asText(params['threadId']))
    const agent = asText(item['agentPath'])?.split('/').at(-1)
    const input = { threadId, ...(agent === undefined ? {} : { agent }) }
    this.#run.call({
      id,
      name: 'spawn_agent',
      input,
      raw: record,
      native: this.#threads.native(params, id),
      ...(parent === undefined ? {} : { parent }),
    })
    const subagentName = agent === undefined ? {} : { subagentName: agent }
    this.#run.note([{ type: 'orchestration', action: 'subagent_started', subagentId: threadId, ...subagentName }])
  }

  /** Ends the call of a subagent. Returns false if it had ended before. */
  #ended(threadId: string, isSuccess: boolean): boolean {
    const id = this.#threads.callerOf(threadId)
    if (id === undefined || this.#run.openCall(id)?.name !== 'spawn_agent') return false
    this.#run.result({ id, raw: { threadId, isSuccess }, outcome: { isSuccess } })
    return true
  }

  // Deltas.

  #delta(method: string, params: JsonObject): void {
    const id = asText(params['itemId'])
    if (id === undefined) return
    this.#run.consume('partial')
    this.#beginStep(params)
    const place = this.#place(params, id)
    if (method === 'item/reasoning/summaryPartAdded') {
      if ((asInteger(params['summaryIndex']) ?? 0) > 0) this.#run.reasoningDelta('\n\n', place)
      return
    }
    const text = asText(params['delta'])
    if (text === undefined) return
    if (method === 'item/agentMessage/delta') this.#run.textDelta(text, place)
    else if (method === 'item/reasoning/summaryTextDelta') this.#run.reasoningDelta(text, place)
    else this.#run.reasoningDelta(text, { ...place, partId: contentPart(id) })
  }

  #output(params: JsonObject): void {
    const id = asText(params['itemId'])
    const output = asText(params['delta'])
    if (id === undefined || output === undefined) return
    this.#run.consume('partial')
    const parent = this.#threads.parentOf(asText(params['threadId']))
    const call = this.#run.openCall(id, parent ?? null)
    if (call === undefined) return
    this.#run.emit({
      type: 'tool-progress',
      toolCallId: call.callId,
      toolName: call.name,
      output,
      ...(parent === undefined ? {} : { parentToolCallId: parent }),
    })
  }

  #place(params: JsonObject, id: string): TextPlace & { readonly partId: string } {
    const parent = this.#threads.parentOf(asText(params['threadId']))
    return { partId: id, native: this.#threads.native(params, id), ...(parent === undefined ? {} : { parent }) }
  }

  /** Begins a step of the agent itself with its first item. */
  #beginStep(params: JsonObject): void {
    if (this.#isInStep || !this.#threads.isMain(asText(params['threadId']))) return
    this.#isInStep = true
    const native: NativeRef = this.#threads.native(params)
    this.#run.stepStart(native)
  }

  #endStep(): void {
    this.#isInStep = false
    this.#run.stepEnd()
  }

  // Everything else.

  #hook(run: JsonObject): void {
    const status = asText(run['status'])
    if (status !== 'failed' && status !== 'blocked' && status !== 'stopped') {
      this.#run.consume('hook')
      return
    }
    const said = (asArray(run['entries']) ?? []).map((entry) => asText(asObject(entry)?.['text']) ?? '')
    const message = said.join('\n').trim()
    this.#run.warn(`${asText(run['eventName']) ?? 'A hook'}: ${message === '' ? status : message}`, `hook-${status}`)
  }

  #mcpServer(params: JsonObject): void {
    const error = asText(params['error'])
    if (params['status'] !== 'failed' && error === undefined) this.#run.consume('lifecycle')
    else this.#run.warn(`MCP server ${asText(params['name']) ?? ''}: ${error ?? 'did not start'}`, 'mcp-server')
  }
}

function contentPart(partId: string): string {
  return `${partId}:content`
}

function numbersOf(counts: JsonObject): Parameters<Run['usage']['add']>[0] {
  return {
    inputTokens: counts['inputTokens'],
    outputTokens: counts['outputTokens'],
    cachedInputTokens: counts['cachedInputTokens'],
    cacheWriteInputTokens: counts['cacheWriteInputTokens'],
    reasoningTokens: counts['reasoningOutputTokens'],
    inputIncludesCache: true,
  }
}
