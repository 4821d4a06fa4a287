import { contextUsage, InspanError, type ContextUsage, type UsageMetadata } from '@inspan/protocol'
import type {
  AgentHarness,
  AgentLogCallback,
  ChatEvent,
  ChatMessage,
  ChatMessagePart,
  ChatStreamResult,
  ChatToolResultInfo,
  Model,
  OperationStatus,
  TelemetryEventCallback,
  Unsubscribe,
} from '@inspan/protocol/chat'
import { checkInput } from './check-input.ts'
import { checkStreamOptions } from './chat-options.ts'
import { turnOf, type ChatTurn } from './chat-turn.ts'
import { AgentSDKError, disposed, throwIfAborted, unsupported } from './errors.ts'
import type { LogBus, TelemetryBus } from './event-bus.ts'
import type { ChatOptions, ChatSession } from './public-types.ts'
import { TurnObserver } from './turn-observer.ts'

export interface SessionPorts {
  readonly harness: AgentHarness
  readonly agentId: string
  readonly sessionId: string
  readonly logs: LogBus
  readonly telemetry: TelemetryBus
  readonly now: () => number
  readonly model: () => Model
}

/** A conversation over any harness. */
export class HarnessChatSession implements ChatSession {
  readonly #ports: SessionPorts
  readonly #scope: { readonly agentId: string; readonly sessionId: string }
  readonly #subscribers = new Set<(event: ChatEvent) => void>()
  readonly #unsubscribes = new Set<Unsubscribe>()
  readonly #observed = new WeakMap<ChatTurn, TurnObserver>()
  #turn: ChatTurn | undefined
  #lastUsage: UsageMetadata = {}
  #isDisposed = false

  constructor(ports: SessionPorts) {
    this.#ports = ports
    this.#scope = { agentId: ports.agentId, sessionId: ports.sessionId }
    // What waits since before a restart is heard by subscribers when it goes on, whoever asks for its stream.
    const waiting = ports.harness.resumeTurn?.(ports.agentId, ports.sessionId)
    if (waiting !== undefined) this.#follow(turnOf(waiting))
  }

  getId(): string {
    return this.#ports.sessionId
  }

  async chat(message: string | ChatMessagePart[], options: ChatOptions = {}): Promise<ChatStreamResult> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    checkStreamOptions(options)
    checkInput(message, this.#ports.model())
    throwIfAborted(options.abortSignal)
    if (harness.getOperation === undefined && isBeyondThePage(options)) {
      throw unsupported(harness.id, 'operationId, whenBusy, model, effort, budget and onLimit')
    }
    if (harness.getOperation === undefined && this.#turn?.isOver === false) {
      throw new AgentSDKError('TURN_IN_PROGRESS', 'A turn of this session is not over yet.')
    }
    const turn = turnOf(await harness.stream(agentId, sessionId, message, options))
    const observer = this.#follow(turn)
    const onAbort = (): void => observer?.noteAbort()
    options.abortSignal?.addEventListener('abort', onAbort, { once: true })
    void turn.over.then(() => options.abortSignal?.removeEventListener('abort', onAbort))
    return { eventStream: turn.eventStream, textStream: turn.textStream }
  }

  resumeTurn(): ChatStreamResult | undefined {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    const result = harness.resumeTurn?.(agentId, sessionId)
    if (result !== undefined && this.#turn === undefined) this.#follow(turnOf(result))
    if (this.#turn === undefined || this.#turn.isOver) return undefined
    const { eventStream, textStream } = this.#turn
    return { eventStream, textStream }
  }

  async cancelTurn(): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    if (harness.cancelTurn === undefined) throw unsupported(harness.id, 'ending a turn (`cancelTurn`)')
    if (this.#turn !== undefined) this.#observed.get(this.#turn)?.noteAbort()
    await harness.cancelTurn(agentId, sessionId)
  }

  async submitToolResult(toolResult: ChatToolResultInfo): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    await harness.submitToolResult(agentId, sessionId, toolResult)
  }

  async approveToolCall(toolCallId: string, options: { remember?: boolean } = {}): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    await harness.approveToolCall(agentId, sessionId, toolCallId, options)
    this.#noteDecision(toolCallId, 'approved')
  }

  async declineToolCall(toolCallId: string): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    await harness.declineToolCall(agentId, sessionId, toolCallId)
    this.#noteDecision(toolCallId, 'declined')
  }

  async getMessageHistory(): Promise<ChatMessage[]> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    return harness.getMessages(agentId, sessionId)
  }

  async clearHistory(): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    await harness.clearMessages(agentId, sessionId)
    this.#lastUsage = {}
  }

  getContextUsage(): ContextUsage {
    this.#assertUsable()
    return contextUsage(this.#lastUsage, this.#ports.model().contextWindow)
  }

  async addContext(message: string | ChatMessage[]): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, now, sessionId } = this.#ports
    const given: ChatMessage[] =
      typeof message === 'string' ? [{ id: crypto.randomUUID(), role: 'user', content: message }] : message
    if (!Array.isArray(given)) {
      throw new AgentSDKError('INVALID_MESSAGE_CONTENT', 'Context is neither a text nor a list of messages.')
    }
    const model = this.#ports.model()
    for (const { content } of given) checkInput(content, model)
    const createdAt = now()
    try {
      await harness.addMessages(
        agentId,
        sessionId,
        given.map((each) => ({ ...each, createdAt: each.createdAt ?? new Date(createdAt) })),
      )
    } catch (error) {
      if (InspanError.is(error, 'invalid-input') && !(error instanceof AgentSDKError)) {
        throw new AgentSDKError('INVALID_MESSAGE_CONTENT', error.message, { cause: error })
      }
      throw error
    }
  }

  async getOperation(operationId: string): Promise<OperationStatus | undefined> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    if (harness.getOperation === undefined) throw unsupported(harness.id, 'operations')
    return harness.getOperation(agentId, sessionId, operationId)
  }

  async waitForOperation(operationId: string): Promise<OperationStatus> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    if (harness.waitForOperation === undefined) throw unsupported(harness.id, 'operations')
    return harness.waitForOperation(agentId, sessionId, operationId)
  }

  async abortOperation(operationId: string): Promise<void> {
    this.#assertUsable()
    const { agentId, harness, sessionId } = this.#ports
    if (harness.abortOperation === undefined) throw unsupported(harness.id, 'operations')
    await harness.abortOperation(agentId, sessionId, operationId)
  }

  subscribe(callback: (event: ChatEvent) => void): void {
    this.#assertUsable()
    this.#subscribers.add(callback)
  }

  unsubscribe(callback: (event: ChatEvent) => void): void {
    this.#subscribers.delete(callback)
  }

  onTelemetry(callback: TelemetryEventCallback): Unsubscribe {
    this.#assertUsable()
    return this.#kept(this.#ports.telemetry.subscribe(callback, this.#scope))
  }

  onLog(callback: AgentLogCallback): Unsubscribe {
    this.#assertUsable()
    return this.#kept(this.#ports.logs.subscribe(callback, this.#scope))
  }

  dispose(): void {
    this.#isDisposed = true
    this.#subscribers.clear()
    for (const unsubscribe of this.#unsubscribes) unsubscribe()
    this.#unsubscribes.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose()
  }

  #kept(unsubscribe: Unsubscribe): Unsubscribe {
    this.#unsubscribes.add(unsubscribe)
    return () => {
      this.#unsubscribes.delete(unsubscribe)
      unsubscribe()
    }
  }

  /** Passes the events of a turn on to subscribers, telemetry and the context usage. */
  #follow(turn: ChatTurn): TurnObserver | undefined {
    const known = this.#observed.get(turn)
    if (known !== undefined) return known
    const { now, telemetry } = this.#ports
    const observer = new TurnObserver(telemetry, this.#scope, now)
    this.#observed.set(turn, observer)
    this.#turn = turn
    turn.onEvent((event) => {
      if (event.type === 'step-finish' && event.usage !== undefined) this.#lastUsage = event.usage
      observer.observe(event)
      for (const subscriber of this.#subscribers) this.#deliver(subscriber, event)
    })
    return observer
  }

  #deliver(subscriber: (event: ChatEvent) => void, event: ChatEvent): void {
    try {
      subscriber(event)
    } catch (error) {
      this.#ports.logs.log('error', 'A subscriber of the session threw an error.', { error }, this.#scope)
    }
  }

  #noteDecision(toolCallId: string, decision: 'approved' | 'declined'): void {
    if (this.#turn !== undefined) this.#observed.get(this.#turn)?.noteDecision(toolCallId, decision)
  }

  #assertUsable(): void {
    if (this.#isDisposed) throw disposed(`The session "${this.#ports.sessionId}"`)
  }
}

function isBeyondThePage({ budget, effort, model, onLimit, operationId, whenBusy }: ChatOptions): boolean {
  return [budget, effort, model, onLimit, operationId, whenBusy].some((option) => option !== undefined)
}
