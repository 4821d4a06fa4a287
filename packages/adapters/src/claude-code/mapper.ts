import type { JsonObject, JsonValue, NativeRef } from '@inspan/protocol'
import type { OpenCall } from '../kit/calls.ts'
import { asArray, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { CallAnswer, Dialect, DialectReader, HeldRecord, TextPlace, Run, RunEnd } from '../kit/mapper.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'
import { exitCodeOf } from './bash-result.ts'
import { nextDirectory } from './directory.ts'
import { PartialMessages } from './partial.ts'
import { failInterrupted, hasFailed, readResult } from './result.ts'
import { readSystem } from './system.ts'
import { Tasks } from './tasks.ts'
import { claudeTools, readFromResult } from './tools.ts'

/** Reads `claude --print --output-format stream-json --verbose`, and the same records in live mode. */
export const claudeCodeDialect: Dialect = {
  id: 'claude-code',
  version: 1,
  tools: claudeTools,
  open: (run) => new ClaudeReader(run),
}

/** The model name on texts that Claude Code wrote itself. */
const SYNTHETIC = '<synthetic>'
const SKILL_PREFIX = 'Base directory for this skill: '
const MCP_PREFIX = 'mcp__'
/** What the CLI tells the model after an interruption. There is no flag for it. */
const INTERRUPTED = '[Request interrupted by user'

interface PendingSkill {
  readonly name: string
  readonly answer: CallAnswer
  readonly held: HeldRecord
}

class ClaudeReader implements DialectReader {
  readonly #run: Run
  readonly #partial: PartialMessages
  readonly #tasks: Tasks
  #hasBegun = false
  #stepMessage: string | undefined
  #isTurnOver = false
  #lastMessage: NativeRef | undefined
  /** The directory the CLI was started in: commands may have left it since. */
  #workspace: string | undefined
  #pendingSkills: PendingSkill[] = []
  /** An API error printed as assistant text. A failing result repeats it; a run that goes on does not. */
  #heldError: HeldRecord | undefined
  /** Set if the CLI was interrupted and has neither printed a result nor gone on. */
  #interruption: 'aborted_tools' | 'aborted_streaming' | undefined

  constructor(run: Run) {
    this.#run = run
    this.#partial = new PartialMessages(run)
    this.#tasks = new Tasks(run)
  }

  record(record: JsonObject): void {
    this.#run.session(asText(record['session_id']))
    const { type } = record
    if (type !== 'user' && type !== 'system' && this.#pendingSkills.length > 0) this.#settleSkills()
    if (type !== 'result' && this.#heldError !== undefined) this.#settleError(false)
    if (type === 'result' || type === 'assistant') this.#interruption = undefined
    if (type !== 'result') this.#hasBegun = true
    switch (type) {
      case 'assistant':
        this.#assistant(record)
        return
      case 'user':
        this.#user(record)
        return
      case 'stream_event':
        this.#streamEvent(record)
        return
      case 'system':
        if (record['subtype'] === 'init') {
          this.#beginTurn()
          this.#workspace ??= firstText(record, 'original_cwd', 'cwd')
        }
        if (record['subtype'] === 'api_retry') this.#partial.retried()
        readSystem(record, this.#run, this.#tasks)
        return
      case 'result':
        this.#beginTurn()
        if (this.#heldError !== undefined) this.#settleError(hasFailed(record))
        if (hasFailed(record)) this.#tasks.failed()
        // `--output-format json` prints only results, so the text has not been emitted yet.
        else if (!this.#hasBegun) this.#run.text(asText(record['result']) ?? '', { native: this.#native(record) })
        readResult(record, this.#run, {
          native: this.#lastMessage ?? this.#native(record),
          hadSubagents: this.#tasks.hadAgents,
        })
        this.#isTurnOver = true
        this.#stepMessage = undefined
        return
      case 'rate_limit_event':
        this.#rateLimit(record)
        return
      case 'control_request':
        this.#controlRequest(record)
        return
      case 'control_response':
      case 'control_cancel_request':
      case 'keep_alive':
      case 'command_lifecycle':
        this.#run.consume('control')
        return
      case 'tool_progress':
        this.#run.consume('task-progress')
    }
  }

  end({ aborted }: RunEnd): void {
    this.#settleSkills()
    this.#settleError(false)
    this.#tasks.end()
    // Interrupted while a subagent works, the CLI exits with 0 and prints no result.
    if (this.#interruption === undefined || aborted === true) return
    this.#run.closeCalls()
    failInterrupted(this.#run, this.#interruption)
  }

  #native(record: JsonObject): NativeRef | undefined {
    const sessionId = asText(record['session_id'])
    const messageId = asText(record['uuid'])
    if (sessionId === undefined) return messageId === undefined ? undefined : { messageId }
    return messageId === undefined ? { sessionId } : { sessionId, messageId }
  }

  // Words and calls.

  #assistant(record: JsonObject): void {
    const message = asObject(record['message'])
    const content = message?.['content']
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
    if (message === undefined || blocks === undefined) return
    if (message['model'] === SYNTHETIC) {
      this.#synthetic(record, blocks)
      return
    }
    const parent = this.#tasks.speakerOf(record)
    const messageId = asText(message['id'])
    const native = this.#native(record)
    if (parent === undefined) {
      this.#beginStep(messageId, native)
      if (native !== undefined) this.#lastMessage = native
    }
    const texts: string[] = []
    let others = 0
    for (const item of blocks) {
      const block = asObject(item) ?? NO_FIELDS
      switch (block['type']) {
        case 'text':
          if (typeof block['text'] === 'string') texts.push(block['text'])
          else this.#run.unknown(item)
          break
        case 'thinking':
        case 'redacted_thinking':
          this.#reasoning(block, this.#place(messageId, 'reasoning', parent, native))
          break
        case 'tool_use':
        case 'server_tool_use':
        case 'mcp_tool_use':
          others += 1
          this.#toolUse(block, parent, native)
          break
        default:
          others += 1
          // Results of tools that the provider runs are part of the agent's own message.
          if (asText(block['type'])?.endsWith('_tool_result') === true) this.#toolResult(block, record, blocks.length)
          else this.#run.unknown(item)
      }
    }
    if (texts.length > 0)
      this.#say(texts, () => this.#place(messageId, 'text', parent, native), record['aborted'] === true)
    else if (others === 0) this.#run.consume('empty-text')
  }

  /** Emits the texts of one record as one message, also if they were streamed one by one. */
  #say(texts: readonly string[], nextPlace: () => TextPlace, wasAborted: boolean): void {
    const place = nextPlace()
    if (place.partId === undefined) {
      this.#run.text(texts.join('\n'), place, wasAborted)
      return
    }
    this.#run.texts(
      texts.map((text, index) => ({ text, place: index === 0 ? place : nextPlace() })),
      wasAborted,
    )
  }

  #place(
    messageId: string | undefined,
    kind: 'text' | 'reasoning',
    parent: string | undefined,
    native: NativeRef | undefined,
  ): TextPlace {
    const partId = this.#partial.takePart(messageId, kind, parent)
    return { partId, parent, native }
  }

  #reasoning(block: JsonObject, place: TextPlace): void {
    const text = asText(block['thinking'])
    if (text === undefined) this.#run.consume('reasoning')
    else this.#run.reasoning(text, place)
  }

  #toolUse(block: JsonObject, parent: string | undefined, native: NativeRef | undefined): void {
    const id = asText(block['id'])
    const name = asText(block['name'])
    const input = asObject(block['input'])
    if (id === undefined || name === undefined || input === undefined) {
      this.#run.unknown(block)
      return
    }
    if (name === 'Agent' || name === 'Task') this.#tasks.called(id, input, parent)
    this.#run.call({ id, name, input, raw: block, parent, native, serverName: mcpServer(name) })
  }

  /** Handles text that the model did not say: API errors and the output of slash commands. */
  #synthetic(record: JsonObject, blocks: readonly JsonValue[]): void {
    if (record['is_api_error_message'] !== true || this.#tasks.speakerOf(record) !== undefined) {
      this.#run.consume('synthetic')
      return
    }
    const message = blocks.map((block) => asText(asObject(block)?.['text']) ?? '').join('\n')
    const code = firstText(record, 'api_error_type', 'api_error', 'error')
    this.#heldError = this.#run.hold([{ type: 'warning', message, ...(code === undefined ? {} : { code }) }])
  }

  #settleError(isRepeated: boolean): void {
    if (isRepeated) this.#heldError?.drop('repeats-error')
    else this.#heldError?.keep()
    this.#heldError = undefined
  }

  /** Resets the failure: a process may take several turns, and one that failed does not fail the next. */
  #beginTurn(): void {
    if (!this.#isTurnOver) return
    this.#isTurnOver = false
    this.#run.turnStart()
  }

  #beginStep(messageId: string | undefined, native: NativeRef | undefined): void {
    this.#beginTurn()
    if (messageId === undefined || messageId === this.#stepMessage) return
    this.#stepMessage = messageId
    this.#run.stepStart(native)
  }

  #streamEvent(record: JsonObject): void {
    const event = asObject(record['event'])
    if (event === undefined) return
    const parent = this.#tasks.speakerOf(record)
    this.#run.consume('partial')
    const started = this.#partial.read(event, parent)
    if (started !== undefined && parent === undefined) this.#beginStep(started, undefined)
  }

  // Results.

  #user(record: JsonObject): void {
    const message = asObject(record['message'])
    const content = message?.['content']
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
    if (blocks === undefined) return
    for (const item of blocks) {
      const block = asObject(item)
      switch (block?.['type']) {
        case 'tool_result':
        case 'mcp_tool_result':
        case 'web_search_tool_result':
          this.#toolResult(block, record, blocks.length)
          break
        case 'text':
          this.#userText(block, record)
          break
        case 'image':
        case 'document':
          this.#run.consume('user-text')
          break
        default:
          this.#run.unknown(item)
      }
    }
    if (blocks.length === 0) this.#run.consume('user-text')
  }

  #userText(block: JsonObject, record: JsonObject): void {
    const isSynthetic = record['isSynthetic'] === true
    this.#run.consume(isSynthetic ? 'synthetic' : 'user-text')
    const text = block['text']
    if (typeof text !== 'string') return
    if (text.startsWith(INTERRUPTED) && this.#tasks.speakerOf(record) === undefined)
      this.#interruption = text.includes('for tool use') ? 'aborted_tools' : 'aborted_streaming'
    if (this.#pendingSkills.length === 0 || !text.startsWith(SKILL_PREFIX)) return
    const newline = text.indexOf('\n')
    const directory = text.slice(SKILL_PREFIX.length, newline === -1 ? undefined : newline).trim()
    const named = this.#pendingSkills.findIndex((skill) => directory.endsWith(`/${skill.name}`))
    const [skill] = this.#pendingSkills.splice(Math.max(0, named), 1)
    if (skill !== undefined) this.#settleSkill(skill, `${directory}/SKILL.md`)
  }

  #toolResult(block: JsonObject, record: JsonObject, siblings: number): void {
    const id = asText(block['tool_use_id'])
    const scope = this.#scopeOf(id, record)
    const call = id === undefined ? undefined : this.#run.openCall(id, scope)
    const outcome = outcomeOf(block, record, call?.name, siblings)
    const skill = call?.name === 'Skill' ? skillName(call.input) : undefined
    const native = this.#native(record)
    const answer: CallAnswer = {
      id,
      raw: block,
      outcome: skill === undefined ? outcome : { ...outcome, detail: this.#usualPlace(skill) },
      orphan: () => readFromResult(outcome, this.#run),
      parent: scope,
      native,
    }
    if (skill === undefined || outcome.isSuccess !== true) {
      this.#finishCall(answer, call, outcome)
    } else this.#pendingSkills.push({ name: skill, answer, held: this.#run.hold([]) })
  }

  #finishCall(answer: CallAnswer, call: OpenCall | undefined, outcome: ReportedOutcome): void {
    const run = this.#run
    if (call?.parent !== undefined && this.#tasks.isElsewhere(call.parent)) {
      const { cwd = null } = run
      run.directory(null)
      run.result(answer)
      run.directory(cwd)
      return
    }
    run.result(answer)
    // A subagent's shell keeps its directory only until the command ends.
    if (call !== undefined && call.parent === undefined) run.directory(nextDirectory(call, outcome, run))
  }

  /** Returns the default path of a skill's file. */
  #usualPlace(skill: string): JsonObject {
    return this.#workspace === undefined ? NO_FIELDS : { skillFile: `${this.#workspace}/skills/${skill}/SKILL.md` }
  }

  /** Returns the caller of the answered call. If the result names none or a wrong one, the call's id alone decides. */
  #scopeOf(id: string | undefined, record: JsonObject): string | null | undefined {
    const speaker = this.#tasks.speakerOf(record) ?? null
    return id === undefined || this.#run.isOpen(id, speaker) ? speaker : undefined
  }

  /** Ends pending skills. The text after a result names the skill's file; without it the default path is used. */
  #settleSkills(): void {
    const pending = this.#pendingSkills
    this.#pendingSkills = []
    for (const skill of pending) this.#settleSkill(skill, undefined)
  }

  #settleSkill(skill: PendingSkill, skillFile: string | undefined): void {
    const { answer, held } = skill
    const outcome = skillFile === undefined ? answer.outcome : { ...answer.outcome, detail: { skillFile } }
    this.#run.result({ ...answer, outcome })
    held.keep()
  }

  // Everything else.

  #rateLimit(record: JsonObject): void {
    const info = asObject(record['rate_limit_info']) ?? record
    const status = asText(info['status'])
    if (status === undefined) return
    if (status === 'allowed') this.#run.consume('rate-limit')
    else this.#run.warn(`Rate limit: ${status}${limitName(info)}`, status)
  }

  #controlRequest(record: JsonObject): void {
    this.#run.consume('control')
    const request = asObject(record['request'])
    if (request?.['subtype'] !== 'can_use_tool') return
    const toolCallId = asText(request['tool_use_id'])
    const toolName = asText(request['tool_name'])
    if (toolCallId === undefined || toolName === undefined) return
    const serverName = mcpServer(toolName)
    this.#run.emit({
      type: 'tool-approval-request',
      toolCall: { toolCallId, toolName, args: asObject(request['input']) ?? NO_FIELDS },
      ...(serverName === undefined ? {} : { serverName }),
    })
  }
}

function outcomeOf(
  block: JsonObject,
  record: JsonObject,
  toolName: string | undefined,
  siblings: number,
): ReportedOutcome {
  // `tool_use_result` exists once per record: with several results in it, it cannot be assigned.
  const detail = siblings === 1 ? (record['tool_use_result'] ?? record['toolUseResult']) : undefined
  const fields = asObject(detail)
  const isError = block['is_error'] === true
  const isBackground = fields !== undefined && asText(fields['backgroundTaskId']) !== undefined
  const exitCode = isError && toolName === 'Bash' ? exitCodeOf(block['content']) : undefined
  // A background command has only been started.
  const isSuccess = isBackground && !isError ? undefined : !isError && fields?.['interrupted'] !== true
  return { isSuccess, exitCode, detail, result: block['content'] }
}

function skillName(input: JsonObject): string | undefined {
  return firstText(input, 'skill', 'command', 'name')
}

/** Returns the server in `mcp__<server>__<tool>`. */
function mcpServer(toolName: string): string | undefined {
  if (!toolName.startsWith(MCP_PREFIX)) return undefined
  const end = toolName.indexOf('__', MCP_PREFIX.length)
  return end === -1 ? undefined : toolName.slice(MCP_PREFIX.length, end)
}

function limitName(info: JsonObject): string {
  const name = firstText(info, 'rateLimitType', 'rate_limit_type')
  return name === undefined ? '' : ` (${name})`
}
