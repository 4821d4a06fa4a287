import type {
  AgentEvent,
  AgentSession,
  Binding,
  CancelReceipt,
  Host,
  JsonObject,
  StoredMessage,
  Turn,
} from '@evener/protocol'

/** What whoever talks to a process finds out about its session and the program's output does not tell. */
export interface SessionFacts {
  /** The native session, where it is not the one that was to be gone on with. */
  nativeId: string | undefined
  /** The program has said how the turn ended: its session ends where our turn does. */
  isSettled: boolean
  /** The process is gone: whoever comes next begins with what is bound. */
  isGone: boolean
}

export type OpenSession = (binding: Binding | null, host: Host, facts: SessionFacts) => AgentSession

/**
 * A session whose binding follows what became of the native one: programs that cannot go back to a message can be gone
 * on with after a turn was stopped, as long as they have answered, and may have to begin anew.
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

  /** A session that knows what is bound. */
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

  /** The last words of the turn are out. */
  #settle(): void {
    const binding = this.#binding
    if (binding === null || !this.#facts.isSettled || binding.extra?.['settled'] === true) return
    const extra: JsonObject = { ...binding.extra, settled: true }
    this.#host.bind({ ...binding, extra })
  }

  /** The same host, whatever it offers, but for what is bound. */
  #following(host: Host): Host {
    const bind: Host['bind'] = (binding) => this.#bind(host, binding)
    return Object.create(host, { bind: { value: bind } }) as Host
  }
}
