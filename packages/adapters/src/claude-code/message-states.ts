import type { JsonObject } from '@inspan/protocol'
import { asText } from '../kit/fields.ts'

/** `dropped`: withdrawn before it was heard. */
type SentState = 'sent' | 'queued' | 'started' | 'over' | 'dropped'

/**
 * Tracks the messages that we sent, to know when a turn is over: the session is idle and the prompt was handled.
 * Background subagents keep the session busy, background commands do not. If the CLI's version does not report its
 * state, the turn ends with its result, when no message is left.
 */
export class MessageStates {
  readonly #states = new Map<string, SentState>()
  #prompt = ''
  #tellsState = false
  #tellsMessages = false
  #hasResult = false
  #isIdle = false

  sent(uuid: string): void {
    this.#states.set(uuid, 'sent')
  }

  /** Begins a turn with this message. */
  begin(prompt: string): void {
    for (const uuid of this.#states.keys()) if (uuid !== prompt) this.#states.delete(uuid)
    this.#prompt = prompt
    this.#hasResult = false
    this.#isIdle = false
  }

  wasHeard(uuid: string): boolean {
    const state = this.#states.get(uuid)
    return state === 'started' || state === 'over'
  }

  /** Returns true if the turn is over with this record. */
  read(record: JsonObject): boolean {
    switch (record['type']) {
      case 'result':
        this.#hasResult = true
        break
      case 'command_lifecycle':
        this.#lifecycle(asText(record['command_uuid']), record['state'])
        break
      case 'system':
        if (record['subtype'] !== 'session_state_changed') return false
        this.#tellsState = true
        this.#isIdle = record['state'] === 'idle'
        break
      default:
        return false
    }
    if (this.#prompt === '' || !this.#isTurnOver()) return false
    this.#prompt = ''
    return true
  }

  #isTurnOver(): boolean {
    const prompt = this.#states.get(this.#prompt)
    const isAnswered = prompt === 'over' || prompt === 'dropped' || (!this.#tellsMessages && this.#hasResult)
    if (!isAnswered) return false
    if (this.#tellsState) return this.#isIdle
    return this.#hasResult && ![...this.#states.values()].some((state) => state === 'queued' || state === 'started')
  }

  #lifecycle(uuid: string | undefined, state: unknown): void {
    const before = uuid === undefined ? undefined : this.#states.get(uuid)
    this.#tellsMessages = true
    if (uuid === undefined || before === undefined) return
    if (state === 'started') this.#isIdle = false
    if (state === 'queued' || state === 'started') this.#states.set(uuid, state)
    else this.#states.set(uuid, state === 'cancelled' && before !== 'started' ? 'dropped' : 'over')
  }
}
