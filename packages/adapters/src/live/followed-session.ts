import type { AgentEvent, JsonObject, StoredMessage } from '@inspan/protocol'
import type { AgentSession, Binding, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'

/** What a peer learns about the native session that the CLI's output does not tell. */
export interface SessionFacts {
  /** The native session's id, if it is not the session that was to be resumed. */
  nativeId: string | undefined
  /** The CLI reported how the turn ended, so its session ends where our turn does. */
  isSettled: boolean
  /** The process has ended: the next turn starts from the binding. */
  isGone: boolean
}

export type OpenSession = (binding: Binding | null, host: Host, facts: SessionFacts) => AgentSession

/**
 * A session that updates its binding with what the peer learns. A CLI that cannot go back to a message can still be
 * resumed after a turn was stopped, if it answered, and may have to begin a new session.
 */
export class FollowedSession implements AgentSession {
  readonly #open: OpenSession
  readonly #host: Host
  #binding: Binding | null
  #inner: AgentSession | undefined
  #isRunning = false
  #facts: SessionFacts = { nativeId: undefined, isSettled: false, isGone: false }

  constructor(open: OpenSession, binding: Binding | null, host: Host) {
    this.#open = open
    this.#binding = binding
    this.#host = this.#following(host)
  }

  async *run(turn: Turn): AsyncGenerator<AgentEvent, void, undefined> {
    const inner = this.#isRunning ? this.#current : await this.#ready()
    this.#isRunning = true
    try {
      for await (const event of inner.run(turn)) {
        if (event.type === 'finish') this.#settle()
        yield event
      }
    } finally {
      this.#isRunning = false
    }
  }

  async steer(message: StoredMessage): Promise<'injected' | 'queued'> {
    const inner = this.#current
    return inner.steer === undefined ? 'queued' : inner.steer(message)
  }

  async cancel(): Promise<CancelReceipt> {
    return this.#current.cancel()
  }

  async close(): Promise<void> {
    await this.#current.close()
  }

  get #current(): AgentSession {
    this.#inner ??= this.#open(this.#binding, this.#host, this.#facts)
    return this.#inner
  }

  /** Returns a session that uses the current binding. */
  async #ready(): Promise<AgentSession> {
    if (this.#facts.isGone) {
      await this.#inner?.close()
      this.#inner = undefined
      this.#facts = { nativeId: undefined, isSettled: false, isGone: false }
    }
    return this.#current
  }

  #bind(host: Host, told: Binding): void {
    const { nativeId } = this.#facts
    this.#binding = nativeId === undefined ? told : { ...told, nativeId }
    host.bind(this.#binding)
  }

  /** Binds the session as settled before the `finish` of the turn is passed on. */
  #settle(): void {
    const binding = this.#binding
    if (binding === null || !this.#facts.isSettled || binding.extra?.['settled'] === true) return
    const extra: JsonObject = { ...binding.extra, settled: true }
    this.#host.bind({ ...binding, extra })
  }

  /** Returns the same host with another `bind`. */
  #following(host: Host): Host {
    const bind: Host['bind'] = (binding) => this.#bind(host, binding)
    return Object.create(host, { bind: { value: bind } }) as Host
  }
}
