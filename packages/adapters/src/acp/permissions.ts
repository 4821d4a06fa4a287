import { cleanText } from '../kit/clean-text.ts'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { patchFiles } from '../kit/patch-files.ts'
import type { Ask, Verdict } from '../live/asks.ts'
import type { TurnPort } from '../live/live-cli-spec.ts'
import type { NativeCall } from '../live/tool-calls.ts'
import { isKnownCall, toolNameOf, type AcpHabits } from './habits.ts'
import { commandsOf, pathsOf } from './tool-activity.ts'
import { AcpToolCall } from './tool-call.ts'

/** How long to wait for the input of a call that is asked about. If it comes at all, it comes at once. */
const INPUT_MAY_FOLLOW_MS = 2_000
/** The same for agents whose input always follows: nobody can answer without it. */
const INPUT_FOLLOWS_MS = 60_000
const CANCELLED: JsonObject = Object.freeze({ outcome: { outcome: 'cancelled' } })

interface Option {
  readonly id: string
  readonly name: string
  readonly kind: string | undefined
}

/** The turn whose calls are asked about. */
export interface PermissionTurn {
  readonly port: TurnPort
  readonly cwd: string
  /** The names of the MCP servers that the agent was given. */
  readonly servers: readonly string[]
  /** Returns why this tool must not be used, whatever rules or people say. */
  readonly refusal: (toolName: string) => string | undefined
}

interface OpenPermission {
  readonly callId: string
  readonly settle: (answer: JsonObject) => void
}

/** Answers the agent's requests for permission, always for one call alone. */
export class Permissions {
  readonly #title: string
  readonly #habits: AcpHabits
  readonly #calls = new Map<string, AcpToolCall>()
  readonly #open = new Map<string, OpenPermission>()
  readonly #whenKnown = new Map<AcpToolCall, () => void>()
  #declined: string[] = []
  #turn: PermissionTurn | undefined

  constructor(title: string, habits: AcpHabits) {
    this.#title = title
    this.#habits = habits
  }

  begin(turn: PermissionTurn): void {
    this.#turn = turn
    this.#calls.clear()
  }

  /** Returns what was declined and why. The protocol can report it only with the next prompt. */
  takeDeclined(): readonly string[] {
    const declined = this.#declined
    this.#declined = []
    return declined
  }

  /** Cancels all open requests, as the protocol demands. */
  end(): void {
    this.#turn = undefined
    for (const wake of this.#whenKnown.values()) wake()
    for (const { settle } of this.#open.values()) settle(CANCELLED)
  }

  /** Reads an update about a call. */
  read(update: JsonObject): void {
    const id = asText(update['toolCallId'])
    if (id === undefined || !asText(update['sessionUpdate'])?.startsWith('tool_call')) return
    const call = this.#call(id)
    call.merge(update)
    if (isKnownCall(call, this.#habits)) this.#whenKnown.get(call)?.()
    if (call.hasEnded) for (const open of this.#open.values()) if (open.callId === id) open.settle(CANCELLED)
  }

  /** Answers a request. `key` is the agent's id of the request; `signal` is aborted if the agent withdraws it. */
  async answer(params: JsonObject, key: string, signal: AbortSignal): Promise<JsonObject> {
    const toolCall = asObject(params['toolCall']) ?? NO_FIELDS
    const call = this.#call(asText(toolCall['toolCallId']) ?? key)
    call.mergeAsked(toolCall)
    await this.#known(call, signal)
    const turn = this.#turn
    if (turn === undefined || signal.aborted || call.hasEnded) return CANCELLED
    const options = optionsOf(params)
    const native = this.#nativeCall(call, turn)
    const refusal = turn.refusal(native.toolName)
    if (refusal !== undefined) {
      turn.port.warn(`${this.#title} was not allowed to use ${native.toolName}: ${refusal}`, 'ungoverned')
      return this.#outcome({ isAllowed: false, reason: refusal }, options, turn.port)
    }
    const ask = {
      ...askOf(call, native, options),
      ...(call.saidCommand === undefined ? {} : { isOnlySaid: true }),
    }
    const { promise, resolve } = Promise.withResolvers<JsonObject>()
    const settle = (answer: JsonObject): void => {
      this.#open.delete(key)
      turn.port.asks.withdraw(key)
      resolve(answer)
    }
    this.#open.set(key, { callId: call.id, settle })
    signal.addEventListener('abort', () => settle(CANCELLED))
    void turn.port.asks.put({
      key,
      call: native,
      ...ask,
      parts: partsOf(call, native),
      answer: (verdict) => {
        if (!verdict.isAllowed) this.#declined.push(`${ask.description}: ${verdict.reason}`)
        settle(this.#outcome(verdict, options, turn.port))
      },
    })
    return promise
  }

  #call(id: string): AcpToolCall {
    let call = this.#calls.get(id)
    if (call === undefined) {
      call = new AcpToolCall(id)
      this.#calls.set(id, call)
    }
    return call
  }

  /** Waits for the input: some agents ask first and report what about right afterwards. */
  async #known(call: AcpToolCall, signal: AbortSignal): Promise<void> {
    if (isKnownCall(call, this.#habits) || this.#turn === undefined || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = setTimeout(resolve, this.#habits.inputFollows === true ? INPUT_FOLLOWS_MS : INPUT_MAY_FOLLOW_MS)
    signal.addEventListener('abort', () => resolve())
    this.#whenKnown.set(call, resolve)
    await promise
    clearTimeout(late)
    this.#whenKnown.delete(call)
  }

  #nativeCall(call: AcpToolCall, { cwd, servers }: PermissionTurn): NativeCall {
    const toolName = toolNameOf(call, this.#habits)
    const { saidCommand } = call
    const serverName =
      this.#habits.serverName?.(call) ?? servers.find((server) => mcpToolOf(toolName, server) !== undefined)
    return {
      toolCallId: call.id,
      toolName,
      input: saidCommand === undefined ? call.input : { command: saidCommand },
      cwd,
      ...(serverName === undefined ? {} : { serverName }),
    }
  }

  /** Returns the option to select. Never one that allows later calls too: Inspan keeps the grants. */
  #outcome(verdict: Verdict, options: readonly Option[], port: TurnPort): JsonObject {
    if (verdict.isAllowed) {
      const chosen = options.find(({ id, name }) => id === verdict.value || name === verdict.value)
      const option = chosen ?? options.find(({ kind }) => kind === 'allow_once')
      if (option !== undefined) return { outcome: { outcome: 'selected', optionId: option.id } }
      port.warn(`${this.#title} offers no way to allow a call once, so it was refused.`, 'no-allow-once')
    }
    const option = options.find(({ kind }) => kind === 'reject_once')
    if (option === undefined) return CANCELLED
    const reason = verdict.isAllowed ? {} : { _meta: { reason: verdict.reason } }
    return { outcome: { outcome: 'selected', optionId: option.id, ...reason } }
  }
}

function optionsOf(params: JsonObject): readonly Option[] {
  return (asArray(params['options']) ?? []).flatMap((item): readonly Option[] => {
    const option = asObject(item) ?? NO_FIELDS
    const id = asText(option['optionId'])
    return id === undefined ? [] : [{ id, name: asText(option['name']) ?? id, kind: asText(option['kind']) }]
  })
}

/** Returns the question to ask: approval of a plan, a choice between several options, or approval of a call. */
function askOf(
  call: AcpToolCall,
  { toolName }: NativeCall,
  options: readonly Option[],
): Pick<Ask, 'kind' | 'description' | 'said' | 'isJudged' | 'payload' | 'answerSchema'> {
  const { title, kind, text, diffs, locations } = call
  const payload: Record<string, JsonValue> = {
    ...(kind === undefined ? {} : { kind }),
    ...(text === undefined ? {} : { text }),
    ...(diffs.length === 0 ? {} : { diffs: diffs.map((diff) => ({ ...diff })) }),
    ...(locations.length === 0 ? {} : { locations: locations.map((location) => ({ ...location })) }),
  }
  const description = title === undefined ? toolName : title.startsWith(toolName) ? title : `${toolName}: ${title}`
  const ways = options.filter((option) => option.kind === 'allow_once')
  if (ways.length > 1) {
    const names = ways.map(({ name }) => name)
    const answerSchema = JSON.stringify({ type: 'string', enum: names })
    return { kind: 'question', isJudged: true, description, payload: { ...payload, options: names }, answerSchema }
  }
  const said = title === undefined ? {} : { said: cleanText(title) }
  return { kind: kind === 'switch_mode' ? 'plan' : 'approval', description, ...said, payload }
}

/** Returns the calls to judge by the rules: one for each command and each file. */
function partsOf(call: AcpToolCall, native: NativeCall): readonly NativeCall[] {
  const { input, kind } = call
  const { serverName, toolName } = native
  if (serverName !== undefined) {
    const tool = mcpToolOf(toolName, serverName)
    return [native, { ...native, toolName: `mcp__${serverName}__${tool ?? toolName}` }]
  }
  const commands = Array.isArray(input['commands']) ? commandsOf(input) : []
  if (commands.length > 0) return commands.map((command) => ({ ...native, input: { command } }))
  const patch = asText(input['patchText']) ?? asText(input['input'])
  const patched = patch === undefined ? [] : patchFiles(patch)
  const paths = patched.length > 0 ? patched : kind === 'read' || kind === 'edit' ? [...new Set(pathsOf(call))] : []
  return paths.length === 0 ? [native] : paths.map((path) => ({ ...native, input: { ...input, path } }))
}

/** Returns the tool's name without its server. Agents join the two with one or two underscores. */
function mcpToolOf(toolName: string, server: string): string | undefined {
  const prefix = `${server.replaceAll(/[^\w-]/g, '_')}_`
  if (!toolName.startsWith(prefix)) return undefined
  const tool = toolName.slice(prefix.length)
  return tool.startsWith('_') ? tool.slice(1) : tool
}
