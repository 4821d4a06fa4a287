import type { UsageMetadata } from '@inspan/protocol'
import type { ChatEvent, ChatToolOrigin } from '@inspan/protocol/chat'
import type { TelemetryBus } from './event-bus.ts'

interface SessionScope {
  readonly agentId: string
  readonly sessionId: string
}

interface TimedCall extends ChatToolOrigin {
  readonly toolName: string
  readonly at: number
}

/** Reports a turn as telemetry: numbers and names, never what was said. */
export class TurnObserver {
  readonly #bus: TelemetryBus
  readonly #scope: SessionScope
  readonly #now: () => number
  readonly #startedAt: number
  readonly #calls = new Map<string, TimedCall>()
  readonly #requests = new Map<string, TimedCall>()
  #failure: { readonly errorName: string; readonly errorCode?: string } | undefined
  #isAborted = false
  #isReported = false

  constructor(bus: TelemetryBus, scope: SessionScope, now: () => number) {
    this.#bus = bus
    this.#scope = scope
    this.#now = now
    this.#startedAt = now()
    bus.report('chat-stream-started', scope, {})
  }

  /** The turn was cancelled: it ends as aborted, not as completed. */
  noteAbort(): void {
    this.#isAborted = true
  }

  /** Notes a person's decision. */
  noteDecision(toolCallId: string, decision: 'approved' | 'declined'): void {
    const asked = this.#requests.get(toolCallId)
    if (asked === undefined) return
    this.#requests.delete(toolCallId)
    const { at, toolName, ...origin } = asked
    const waitedMs = this.#now() - at
    this.#bus.report('tool-approval-resolved', this.#scope, { toolCallId, toolName, ...origin, decision, waitedMs })
  }

  observe(event: ChatEvent): void {
    switch (event.type) {
      case 'step-finish': {
        const { finishReason, stepIndex } = event
        this.#bus.report('step-completed', this.#scope, { stepIndex, finishReason, ...usageOf(event) })
        return
      }
      case 'tool-call': {
        const { toolCallId, toolName } = event
        const origin = originOf(event)
        this.#calls.set(toolCallId, { toolName, ...origin, at: this.#now() })
        this.#bus.report('tool-call-started', this.#scope, { toolCallId, toolName, ...origin })
        return
      }
      case 'tool-approval-request': {
        const { toolCallId, toolName } = event.toolCall
        const origin = originOf(event)
        this.#requests.set(toolCallId, { toolName, ...origin, at: this.#now() })
        this.#bus.report('tool-approval-requested', this.#scope, { toolCallId, toolName, ...origin })
        return
      }
      case 'tool-result':
        this.#result(event)
        return
      case 'error': {
        const { code, error } = event
        this.#failure ??= { errorName: error.name, ...(code === undefined ? {} : { errorCode: code }) }
        return
      }
      case 'finish':
        this.#finish(event)
        return
      default:
    }
  }

  #result(event: Extract<ChatEvent, { type: 'tool-result' }>): void {
    const { isError = false, toolCallId, toolName } = event
    const durationMs = this.#now() - (this.#calls.get(toolCallId)?.at ?? this.#now())
    this.#calls.delete(toolCallId)
    const origin = originOf(event)
    this.#bus.report('tool-call-completed', this.#scope, { toolCallId, toolName, ...origin, durationMs, isError })
  }

  #finish(event: Extract<ChatEvent, { type: 'finish' }>): void {
    if (this.#isReported) return
    this.#isReported = true
    const durationMs = this.#now() - this.#startedAt
    const usage = usageOf(event)
    const { finishReason } = event
    if (finishReason === 'error') {
      const failure = this.#failure ?? { errorName: 'Error' }
      this.#bus.report('chat-stream-failed', this.#scope, { durationMs, ...failure, ...usage })
    } else if (this.#isAborted) {
      this.#bus.report('chat-stream-aborted', this.#scope, { durationMs, ...usage })
    } else {
      this.#bus.report('chat-stream-completed', this.#scope, { durationMs, finishReason, ...usage })
    }
  }
}

function usageOf({ usage }: { readonly usage?: UsageMetadata }): { readonly usage?: UsageMetadata } {
  return usage === undefined ? {} : { usage }
}

function originOf({ annotations, serverName }: ChatToolOrigin): ChatToolOrigin {
  return {
    ...(annotations === undefined ? {} : { annotations }),
    ...(serverName === undefined ? {} : { serverName }),
  }
}
