import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue, Part } from '@inspan/protocol'
import { cleanText } from '../kit/clean-text.ts'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { ownServer } from '../launch/own-server.ts'
import type { Ask } from '../live/asks.ts'
import type { LiveLink, LivePeer, LiveTask, TurnPort } from '../live/live-cli-spec.ts'
import { Replies } from '../live/replies.ts'
import type { NativeCall } from '../live/tool-calls.ts'
import { workdirOf } from '../live/workdir.ts'
import { answeredInput, interactionOf, isInteraction, isPlan, verdictOnPlan } from './interaction.ts'
import { nativeServers } from './launch.ts'
import { userMessage } from './live-launch.ts'
import { claudeCodeProfile } from './profile.ts'
import { MessageStates } from './message-states.ts'

/** Tools that change only what the CLI itself remembers, or act through tools that are asked about. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'Agent',
  'EnterPlanMode',
  'ListAgents',
  'Skill',
  'StructuredOutput',
  'Task',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TodoWrite',
  'ToolSearch',
])

/** The hook that gets every tool call before it runs, also those that the CLI would allow by itself. */
const HOOK_ID = 'inspan-tool-call'
/** The hook never waits for a person. A call that it does not judge does not run. */
const HOOKS: JsonObject = { PreToolUse: [{ hookCallbackIds: [HOOK_ID], timeout: 600, onFailure: 'block' }] }
const NO_TURN = 'No turn is under way.'

/**
 * Speaks with Claude Code over its control protocol: lines of JSON on standard input and output. A call comes to a hook
 * first, where rules decide. If somebody has to be asked, it comes again as a request for permission.
 */
export class ClaudePeer implements LivePeer {
  readonly #link: LiveLink
  readonly #replies = new Replies(claudeCodeProfile.title)
  readonly #messages = new MessageStates()
  /** The callers of this turn's calls: the call that started a subagent, by call id. */
  readonly #callers = new Map<string, string>()
  /** The directories in which calls were made, by call id, if not the session's. */
  readonly #workdirs = new Map<string, string>()
  /** Our ids of the messages that steered this turn, by their uuid. */
  readonly #steered = new Map<string, string>()
  #port: TurnPort | undefined
  #cwd: string | undefined
  #model: string | undefined
  #ids = 0

  constructor(link: LiveLink) {
    this.#link = link
  }

  get isWaiting(): boolean {
    return this.#replies.areOpen
  }

  get undelivered(): readonly string[] {
    return [...this.#steered].flatMap(([uuid, id]) => (this.#messages.wasHeard(uuid) ? [] : [id]))
  }

  async start({ request, isFirst, handoverText }: LiveTask, port: TurnPort): Promise<void> {
    this.#port = port
    this.#cwd = request.cwd
    this.#callers.clear()
    this.#workdirs.clear()
    this.#steered.clear()
    if (isFirst) await this.#control('start', { subtype: 'initialize', hooks: HOOKS })
    else if (request.model !== this.#model) {
      await this.#control('change the model', { subtype: 'set_model', model: request.model ?? null })
    }
    this.#model = request.model
    if (request.toolServer !== undefined) {
      const servers = nativeServers(ownServer(request.toolServer))
      await this.#control('connect to our tools', { subtype: 'mcp_set_servers', servers })
    }
    const before = await handoverText()
    const earlier: readonly Part[] = before === undefined ? [] : [{ id: 'handover', type: 'text', text: before }]
    this.#messages.begin(this.#say([...earlier, ...request.input]))
  }

  async steer(parts: readonly Part[], id: string): Promise<'injected' | 'queued'> {
    this.#steered.set(this.#say(parts, 'next'), id)
    // The CLI hears it after the running tool or the current answer: within this turn in any case.
    return 'injected'
  }

  async interrupt(): Promise<void> {
    await this.#control('interrupt the turn', { subtype: 'interrupt', cancel_queued: true })
  }

  gone(): void {
    this.#replies.end('it has ended')
  }

  record(record: JsonObject): void {
    switch (record['type']) {
      case 'control_response':
        this.#response(asObject(record['response']) ?? NO_FIELDS)
        return
      case 'control_request':
        this.#request(asText(record['request_id']), asObject(record['request']) ?? NO_FIELDS)
        return
      case 'control_cancel_request':
        this.#port?.asks.withdraw(asText(record['request_id']) ?? '')
        return
      case 'assistant':
        this.#noteCallers(record)
        return
      default:
        if (this.#messages.read(record)) this.#over()
    }
  }

  #over(): void {
    const port = this.#port
    this.#port = undefined
    port?.over()
  }

  /** Sends a message and returns its uuid. */
  #say(parts: readonly Part[], priority?: 'next'): string {
    const uuid = randomUUID()
    this.#messages.sent(uuid)
    this.#link.send({ ...userMessage(parts), uuid, ...(priority === undefined ? {} : { priority }) })
    return uuid
  }

  #control(what: string, request: JsonObject): Promise<JsonObject> {
    this.#ids += 1
    const id = `inspan-${this.#ids}`
    const reply = this.#replies.expect(id, what)
    this.#link.send({ type: 'control_request', request_id: id, request })
    return reply
  }

  #response(response: JsonObject): void {
    const id = asText(response['request_id']) ?? ''
    if (response['subtype'] === 'success') this.#replies.resolve(id, asObject(response['response']) ?? NO_FIELDS)
    else {
      const code = asText(response['error_code'])
      const message = asText(response['error']) ?? 'it does not say why'
      this.#replies.reject(id, { message, ...(code === undefined ? {} : { code }) })
    }
  }

  #request(id: string | undefined, request: JsonObject): void {
    if (id === undefined) return
    switch (request['subtype']) {
      case 'hook_callback':
        this.#reply(id, this.#judge(asObject(request['input']) ?? NO_FIELDS))
        return
      case 'can_use_tool':
        this.#mayUse(id, request)
        return
      default: {
        const error = `There is nobody for ${asText(request['subtype']) ?? 'this'}.`
        this.#link.send({ type: 'control_response', response: { subtype: 'error', request_id: id, error } })
      }
    }
  }

  #reply(id: string, response: JsonObject): void {
    this.#link.send({ type: 'control_response', response: { subtype: 'success', request_id: id, response } })
  }

  /** Decides by the rules before the CLI does. An empty answer leaves it to the CLI to ask. */
  #judge(input: JsonObject): JsonObject {
    const port = this.#port
    const call = this.#callOf(input, input['tool_input'])
    if (port === undefined || call === undefined) return decision('deny', NO_TURN)
    const { policy, reason } = port.asks.judge(call)
    if (policy === 'deny') return decision('deny', reason)
    if (isInteraction(call.toolName)) return {}
    return BOOKKEEPING.has(call.toolName) ? decision('allow', 'It changes nothing.') : decision(policy, reason)
  }

  #mayUse(id: string, request: JsonObject): void {
    const port = this.#port
    const call = this.#callOf(request, request['input'])
    if (port === undefined || call === undefined) {
      this.#reply(id, { behavior: 'deny', message: NO_TURN })
      return
    }
    const { toolName, input } = call
    const ask: Ask = {
      key: id,
      call,
      ...(interactionOf(toolName, input) ?? approvalOf(request, toolName)),
      answer: (verdict) => {
        const settled = isPlan(toolName) ? verdictOnPlan(verdict) : verdict
        if (settled.isAllowed) {
          // Once, and without the rules that the CLI suggests: lasting grants are ours to keep.
          this.#reply(id, { behavior: 'allow', updatedInput: answeredInput(toolName, input, settled.value) })
        } else this.#reply(id, { behavior: 'deny', message: settled.reason })
      },
    }
    void port.asks.put(ask)
  }

  #callOf(request: JsonObject, input: JsonValue | undefined): NativeCall | undefined {
    const toolCallId = asText(request['tool_use_id'])
    const toolName = asText(request['tool_name'])
    if (toolCallId === undefined || toolName === undefined) return undefined
    const parentToolCallId = this.#callers.get(toolCallId)
    const cwd = this.#cwd
    // The shell keeps the directory of the last command. Only the hook reports it, not the request for permission.
    const workdir = workdirOf(asText(request['cwd']), cwd) ?? this.#workdirs.get(toolCallId)
    if (workdir !== undefined) this.#workdirs.set(toolCallId, workdir)
    return {
      toolCallId,
      toolName,
      input: asObject(input) ?? NO_FIELDS,
      ...(cwd === undefined ? {} : { cwd }),
      ...(workdir === undefined ? {} : { workdir }),
      ...(parentToolCallId === undefined ? {} : { parentToolCallId }),
    }
  }

  #noteCallers(record: JsonObject): void {
    const parent = asText(record['parent_tool_use_id'])
    if (parent === undefined) return
    for (const item of asArray(asObject(record['message'])?.['content']) ?? []) {
      const block = asObject(item)
      const id = block?.['type'] === 'tool_use' ? asText(block['id']) : undefined
      if (id !== undefined) this.#callers.set(id, parent)
    }
  }
}

function decision(policy: 'allow' | 'ask' | 'deny', reason: string): JsonObject {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: policy,
      permissionDecisionReason: reason,
    },
  }
}

function approvalOf(request: JsonObject, toolName: string): Pick<Ask, 'kind' | 'description' | 'said' | 'payload'> {
  const name = asText(request['display_name']) ?? toolName
  const what = asText(request['description'])
  const blockedPath = asText(request['blocked_path'])
  const reason = request['decision_reason_type'] === 'hook' ? undefined : asText(request['decision_reason'])
  return {
    kind: 'approval',
    description: name,
    ...(what === undefined ? {} : { said: cleanText(what) }),
    payload: {
      ...(blockedPath === undefined ? {} : { blockedPath }),
      ...(reason === undefined ? {} : { reason: cleanText(reason) }),
    },
  }
}
