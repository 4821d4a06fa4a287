import { setTimeout as delay } from 'node:timers/promises'
import { addUsage, InspanError, NO_USAGE, type FinishReason, type UsageMetadata } from '@inspan/protocol'
import {
  DEFAULT_MAX_STEPS,
  type AgentHooks,
  type ChatEvent,
  type ChatMessage,
  type ChatMessagePart,
  type ChatStreamResult,
  type ChatToolCallInfo,
  type ChatToolResultInfo,
  type StreamOptions,
} from '@inspan/protocol/chat'
import { Backlog } from '@inspan/protocol/internal'
import type { Deltas, ModelTurn } from './script.ts'

/** A thread as the scripted harness keeps it. */
export interface PlayedThread {
  readonly messages: ChatMessage[]
  /** Tools whose approval was remembered. */
  readonly remembered: Set<string>
}

export interface PlayPorts {
  readonly thread: PlayedThread
  readonly options: StreamOptions
  /** The names of the tools that the caller runs. */
  readonly consumerTools: ReadonlySet<string>
  readonly hooks: AgentHooks | undefined
  readonly tools: Readonly<Record<string, (args: Record<string, unknown>) => unknown>>
}

type PlayedDecision = 'approve' | 'remember' | 'decline'
type PlayedOutcome = Pick<ChatToolResultInfo, 'result' | 'isError' | 'error'>

/** Plays the answers of a script as one turn, with its approvals and its tools. */
export class ScriptedTurnPlay {
  readonly result: ChatStreamResult
  readonly #ports: PlayPorts
  readonly #events = new Backlog<ChatEvent>()
  readonly #texts = new Backlog<string>()
  readonly #cancelled = new AbortController()
  readonly #signal: AbortSignal
  readonly #decisions = new Map<string, PromiseWithResolvers<PlayedDecision>>()
  /** The decision about each call that was asked about, also if it is given before the call has its turn. */
  readonly #answers = new Map<string, Promise<PlayedDecision>>()
  readonly #results = new Map<string, PromiseWithResolvers<PlayedOutcome>>()

  constructor(ports: PlayPorts) {
    this.#ports = ports
    const { abortSignal } = ports.options
    const own = this.#cancelled.signal
    this.#signal = abortSignal === undefined ? own : AbortSignal.any([own, abortSignal])
    this.result = { eventStream: this.#events, textStream: this.#texts }
  }

  cancel(): void {
    this.#cancelled.abort()
  }

  settle(toolCallId: string, decision: PlayedDecision): void {
    this.#waiting(this.#decisions, toolCallId).resolve(decision)
    this.#decisions.delete(toolCallId)
  }

  submit({ error, isError, result, toolCallId }: ChatToolResultInfo): void {
    const outcome = { result, ...(isError === true ? { isError } : {}), ...(error === undefined ? {} : { error }) }
    this.#waiting(this.#results, toolCallId).resolve(outcome)
    this.#results.delete(toolCallId)
  }

  /** Never rejects: what goes wrong is an event. */
  async run(next: () => ModelTurn): Promise<void> {
    let usage: UsageMetadata = {}
    let finishReason: FinishReason = 'other'
    this.#push({ type: 'start' })
    try {
      const { maxSteps = DEFAULT_MAX_STEPS } = this.#ports.options
      for (let stepIndex = 0; stepIndex < maxSteps; stepIndex++) {
        const step = await this.#step(next(), stepIndex)
        finishReason = step.finishReason
        usage = sum(usage, step.usage)
        if (step.calls.length === 0) break
        await this.#carryOut(step.calls)
      }
    } catch (error) {
      finishReason = this.#signal.aborted ? 'other' : 'error'
      if (!this.#signal.aborted) this.#push({ type: 'error', error: asError(error) })
    }
    this.#push({ type: 'finish', finishReason, ...(Object.keys(usage).length === 0 ? {} : { usage }) })
    this.#events.end()
    this.#texts.end()
  }

  async #step(
    turn: ModelTurn,
    stepIndex: number,
  ): Promise<{ finishReason: FinishReason; usage: UsageMetadata; calls: ChatToolCallInfo[] }> {
    const { delayMs = 0, error, hang, reasoning, text, toolCalls = [], usage = {} } = turn
    this.#push({ type: 'step-start', stepIndex })
    if (delayMs > 0) await this.#unlessCancelled(delay(delayMs))
    if (error !== undefined) throw new Error(error.message ?? `The model failed with status ${error.status ?? 500}.`)
    const parts: ChatMessagePart[] = []
    for (const delta of deltas(reasoning)) this.#push({ type: 'reasoning-delta', text: delta })
    for (const delta of deltas(text)) {
      this.#push({ type: 'text-delta', text: delta })
      this.#texts.push(delta)
    }
    if (reasoning !== undefined) parts.push({ type: 'reasoning', text: deltas(reasoning).join('') })
    if (text !== undefined) parts.push({ type: 'text', text: deltas(text).join('') })
    const calls = toolCalls.map(({ id = crypto.randomUUID(), input = {}, name }) => ({
      toolCallId: id,
      toolName: name,
      args: typeof input === 'string' ? (JSON.parse(input) as Record<string, unknown>) : input,
    }))
    for (const call of calls) {
      if (this.#ports.consumerTools.has(call.toolName)) this.#results.set(call.toolCallId, Promise.withResolvers())
      this.#push({ type: 'tool-call', ...call })
      parts.push({ type: 'tool-call', ...call })
    }
    this.#say('assistant', parts)
    if (hang === true) await this.#unlessCancelled(new Promise<never>(() => undefined))
    this.#signal.throwIfAborted()
    const finishReason = turn.finishReason ?? (calls.length === 0 ? 'stop' : 'tool-calls')
    const counted = Object.keys(usage).length === 0 ? {} : { usage }
    // A batch is complete when its step ends: its requests come first.
    if (this.#ports.options.requireToolApproval === 'batch') for (const call of this.#asked(calls)) this.#request(call)
    this.#push({ type: 'step-finish', stepIndex, finishReason, ...counted })
    return { finishReason, usage, calls }
  }

  async #carryOut(calls: readonly ChatToolCallInfo[]): Promise<void> {
    const isBatch = this.#ports.options.requireToolApproval === 'batch'
    for (const call of calls) {
      if (!isBatch && this.#asked([call]).length > 0) this.#request(call)
      const outcome = await this.#unlessCancelled(this.#outcome(call))
      const result = { toolCallId: call.toolCallId, toolName: call.toolName, ...(await this.#redacted(call, outcome)) }
      this.#push({ type: 'tool-result', ...result })
      this.#say('tool', [{ type: 'tool-result', ...result }])
    }
  }

  async #outcome({ args, toolCallId, toolName }: ChatToolCallInfo): Promise<PlayedOutcome> {
    const submitted = this.#results.get(toolCallId)
    if (submitted !== undefined) return submitted.promise
    const decision = await this.#answers.get(toolCallId)
    if (decision === 'remember') this.#ports.thread.remembered.add(toolName)
    if (decision === 'decline') return failed('The call was declined.')
    const tool = this.#ports.tools[toolName]
    if (tool === undefined) return failed(`There is no tool "${toolName}".`)
    try {
      return { result: await tool(args) }
    } catch (error) {
      return { ...failed(asError(error).message), error: asError(error) }
    }
  }

  async #redacted({ args, toolCallId, toolName }: ChatToolCallInfo, outcome: PlayedOutcome): Promise<PlayedOutcome> {
    const { isError = false, result } = outcome
    const replaced = await this.#ports.hooks?.onToolResult?.({ toolCallId, toolName, args, result, isError })
    return replaced === undefined ? outcome : { ...outcome, result: replaced.result }
  }

  /** Returns the calls that have to be asked about. */
  #asked(calls: readonly ChatToolCallInfo[]): ChatToolCallInfo[] {
    const { consumerTools, options, thread } = this.#ports
    const { requireToolApproval = false } = options
    if (requireToolApproval === false) return []
    return calls.filter(({ toolName }) => !consumerTools.has(toolName) && !thread.remembered.has(toolName))
  }

  #request(toolCall: ChatToolCallInfo): void {
    const decision = Promise.withResolvers<PlayedDecision>()
    this.#decisions.set(toolCall.toolCallId, decision)
    this.#answers.set(toolCall.toolCallId, decision.promise)
    this.#push({ type: 'tool-approval-request', toolCall })
  }

  #say(role: 'assistant' | 'tool', content: ChatMessagePart[]): void {
    if (content.length === 0) return
    this.#ports.thread.messages.push({ id: crypto.randomUUID(), role, content, createdAt: new Date() })
  }

  #waiting<T>(open: ReadonlyMap<string, PromiseWithResolvers<T>>, toolCallId: string): PromiseWithResolvers<T> {
    const found = open.get(toolCallId)
    if (found !== undefined) return found
    throw new InspanError('conflict', `Nothing waits for the tool call "${toolCallId}".`)
  }

  #push(event: ChatEvent): void {
    this.#events.push(event)
  }

  async #unlessCancelled<T>(work: Promise<T>): Promise<T> {
    this.#signal.throwIfAborted()
    const aborted = Promise.withResolvers<never>()
    const onAbort = (): void => aborted.reject(asError(this.#signal.reason))
    this.#signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([work, aborted.promise])
    } finally {
      this.#signal.removeEventListener('abort', onAbort)
    }
  }
}

function failed(result: string): PlayedOutcome {
  return { result, isError: true, error: new Error(result) }
}

function deltas(text: Deltas | undefined): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text
}

/** Adds usages. Counts that neither reported stay unreported. */
function sum(a: UsageMetadata, b: UsageMetadata): UsageMetadata {
  const total = addUsage(addUsage(NO_USAGE, a), b)
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof UsageMetadata)[]
  return Object.fromEntries(keys.map((key) => [key, total[key]]))
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
