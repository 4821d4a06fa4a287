import type {
  AgentLogCallback,
  AgentLogRecord,
  TelemetryEvent,
  TelemetryEventType,
  TelemetryPayloads,
  Unsubscribe,
} from '@inspan/protocol/chat'
import type { LogLevel } from '@inspan/protocol/driver'

/** Which agent and session something is about. */
export interface Scope {
  readonly agentId?: string | undefined
  readonly sessionId?: string | undefined
}

interface Subscriber<T> {
  readonly scope: Scope
  readonly callback: (item: T) => void
}

/** Delivers items to those who subscribed to their scope. A listener that throws affects nobody else. */
export class ScopedBus<T extends Scope> {
  #subscribers: readonly Subscriber<T>[] = []
  readonly #onThrow: (error: unknown) => void

  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow
  }

  get isHeard(): boolean {
    return this.#subscribers.length > 0
  }

  subscribe(callback: (item: T) => void, scope: Scope = {}): Unsubscribe {
    const subscriber = { scope, callback }
    this.#subscribers = [...this.#subscribers, subscriber]
    return () => {
      this.#subscribers = this.#subscribers.filter((each) => each !== subscriber)
    }
  }

  emit(item: T): void {
    for (const subscriber of this.#subscribers) {
      // Somebody may have unsubscribed in the callback of another.
      if (!covers(subscriber.scope, item) || !this.#subscribers.includes(subscriber)) continue
      try {
        subscriber.callback(item)
      } catch (error) {
        this.#onThrow(error)
      }
    }
  }

  clear(): void {
    this.#subscribers = []
  }
}

function covers(scope: Scope, item: Scope): boolean {
  return (
    (scope.agentId === undefined || scope.agentId === item.agentId) &&
    (scope.sessionId === undefined || scope.sessionId === item.sessionId)
  )
}

const MAX_EARLY = 1_000

/** The structured log. Records made before anybody listens are kept and given to the first listener. */
export class LogBus {
  readonly #bus: ScopedBus<AgentLogRecord>
  readonly #now: () => number
  #early: AgentLogRecord[] | undefined = []

  constructor(now: () => number) {
    this.#now = now
    // A broken log listener cannot be reported to the log: it would be called again.
    this.#bus = new ScopedBus(() => undefined)
  }

  subscribe(callback: AgentLogCallback, scope?: Scope): Unsubscribe {
    const unsubscribe = this.#bus.subscribe(callback, scope)
    // Only somebody who hears everything is given everything.
    if (this.#early !== undefined && scope === undefined) {
      const early = this.#early
      this.#early = undefined
      for (const record of early) this.#bus.emit(record)
    }
    return unsubscribe
  }

  emit(record: AgentLogRecord): void {
    if (this.#early !== undefined && this.#early.length < MAX_EARLY) this.#early.push(record)
    this.#bus.emit(record)
  }

  log(level: LogLevel, message: string, context?: Record<string, unknown>, scope: Scope = {}): void {
    const { agentId, sessionId } = scope
    this.emit({
      level,
      message,
      ...(context === undefined ? {} : { context }),
      timestamp: this.#now(),
      ...(agentId === undefined ? {} : { agentId }),
      ...(sessionId === undefined ? {} : { sessionId }),
    })
  }

  clear(): void {
    this.#bus.clear()
  }
}

/** Numbers and names about what happens. */
export class TelemetryBus extends ScopedBus<TelemetryEvent> {
  readonly #now: () => number
  #early: TelemetryEvent[] = []

  constructor(now: () => number, onThrow: (error: unknown) => void) {
    super(onThrow)
    this.#now = now
  }

  report<Type extends TelemetryEventType>(
    type: Type,
    scope: { readonly agentId: string; readonly sessionId?: string },
    payload: TelemetryPayloads[Type],
  ): void {
    if (this.isHeard) this.emit(this.#event(type, scope, payload))
  }

  /** Reports what happens before anybody can listen. The first listener to everything gets it. */
  reportEarly<Type extends TelemetryEventType>(
    type: Type,
    scope: { readonly agentId: string },
    payload: TelemetryPayloads[Type],
  ): void {
    this.#early.push(this.#event(type, scope, payload))
  }

  override subscribe(callback: (event: TelemetryEvent) => void, scope?: Scope): Unsubscribe {
    const unsubscribe = super.subscribe(callback, scope)
    if (scope === undefined) for (const event of this.#early.splice(0)) this.emit(event)
    return unsubscribe
  }

  #event<Type extends TelemetryEventType>(type: Type, scope: Scope, payload: TelemetryPayloads[Type]): TelemetryEvent {
    return { ...payload, ...scope, type, timestamp: this.#now() } as unknown as TelemetryEvent
  }
}
