import type { Conversation } from './conversation.ts'
import type { SessionBinding } from './session-binding.ts'

/** The run of the session's thread. */
export class SessionRun {
  readonly #binding: SessionBinding
  readonly #conversation: Conversation

  constructor(binding: SessionBinding, conversation: Conversation) {
    this.#binding = binding
    this.#conversation = conversation
  }

  /** Also of a run that waits. */
  getRunId(): string | null {
    return this.#binding.head?.run?.runId ?? null
  }

  /** False while it waits for a tool's question. */
  isRunning(): boolean {
    return this.#binding.isRunning
  }

  isAbortRequested(): boolean {
    return this.#conversation.isAbortRequested
  }

  requestAbort(): Promise<void> {
    return this.#conversation.abort()
  }
}

/** The live connection to the thread. */
export class SessionStream {
  readonly #binding: SessionBinding
  readonly #conversation: Conversation

  constructor(binding: SessionBinding, conversation: Conversation) {
    this.#binding = binding
    this.#conversation = conversation
  }

  /** What happens in the thread is being told. */
  isOpen(): boolean {
    return this.#binding.threadId !== null
  }

  isActive(): boolean {
    return this.#binding.isRunning
  }

  activeRunId(): string | null {
    return this.#binding.isRunning ? (this.#binding.head?.run?.runId ?? null) : null
  }

  abort(): Promise<void> {
    return this.#conversation.abort()
  }
}
