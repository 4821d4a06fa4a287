import { Backlog } from '@inspan/protocol/internal'
import type { ChatEvent, ChatStreamResult } from '@inspan/protocol/chat'
import type { FinishReason, UsageMetadata } from '@inspan/protocol'

type Listener = (event: ChatEvent) => void

/**
 * The events of one turn, from `start` to exactly one `finish`. Whoever produces them pushes; every reader gets all of
 * them, whenever it reads, and listeners get them at once. Leaving a loop keeps its place: the same stream can be read on
 * until `finish`.
 */
export class ChatTurn implements ChatStreamResult {
  readonly eventStream: AsyncGenerator<ChatEvent>
  readonly textStream: AsyncGenerator<string>
  readonly #events = new Backlog<ChatEvent>()
  readonly #texts = new Backlog<string>()
  #listeners: readonly Listener[] = []
  readonly #over = Promise.withResolvers<void>()
  #isStarted = false
  #hasFailed = false
  #isOver = false

  constructor() {
    this.eventStream = this.#events
    this.textStream = this.#texts
  }

  /** Whether an error was reported. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Whether somebody has begun to read one of the streams. */
  get isRead(): boolean {
    return this.#events.isRead || this.#texts.isRead
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves after `finish`. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  /** Calls the listener with the events that nobody has read yet, and then with every later one at once. */
  onEvent(listener: Listener): void {
    for (const event of this.#events.unread()) listener(event)
    this.#listeners = [...this.#listeners, listener]
  }

  /** Adds an event. Everything after `finish` and every further `start` is dropped. */
  push(event: ChatEvent): void {
    if (this.#isOver) return
    if (event.type === 'start') {
      if (this.#isStarted) return
      this.#isStarted = true
    } else if (!this.#isStarted) {
      this.push({ type: 'start' })
    }
    if (event.type === 'finish') this.#isOver = true
    else if (event.type === 'error') this.#hasFailed = true
    for (const listener of this.#listeners) listener(event)
    this.#events.push(event)
    if (event.type === 'text-delta') this.#texts.push(event.text)
    if (!this.#isOver) return
    this.#events.end()
    this.#texts.end()
    this.#over.resolve()
  }

  /** Ends the turn, if it is not over yet. */
  finish(finishReason: FinishReason, usage?: UsageMetadata): void {
    this.push({ type: 'finish', finishReason, ...(usage === undefined ? {} : { usage }) })
  }

  /** Reports a failure, unless one was reported, and ends the turn. */
  fail(error: Error, code?: string): void {
    if (!this.#hasFailed) this.push({ type: 'error', error, ...(code === undefined ? {} : { code }) })
    this.finish('error')
  }
}

/** Reads the events of a harness into a turn of ours, so that the promises about a turn hold for every harness. */
export function turnOf(result: ChatStreamResult): ChatTurn {
  if (result instanceof ChatTurn) return result
  const turn = new ChatTurn()
  void drain(result.eventStream, turn)
  return turn
}

async function drain(events: AsyncIterable<ChatEvent>, turn: ChatTurn): Promise<void> {
  try {
    for await (const event of events) turn.push(event)
  } catch (error) {
    turn.fail(error instanceof Error ? error : new Error(String(error)))
    return
  }
  turn.fail(new Error('The harness ended the turn without saying how it ended.'), 'no-finish')
}
