import type { EventExtras, ThreadMessage } from '@inspan/protocol'
import type { PartAddress } from '@inspan/protocol/log'

export type PartKind = 'text' | 'reasoning' | 'tool-call' | 'tool-result'

/** A part that is still growing. */
export interface OpenPart extends PartAddress {
  readonly kind: PartKind
  /** The agent's own id of the part, if it has one; for calls and results the call id. */
  readonly key: string
  text: string
  /** The newest extras of its events. */
  extras: Pick<EventExtras, 'native' | 'activity'>
}

export interface TrackedCall extends PartAddress {
  readonly toolName: string
  isEnded: boolean
}

/** Numbers the parts of one message and knows which are open. */
export class PartTracker {
  readonly messageId: string
  #count = 0
  #last: OpenPart | undefined
  #unanswered = 0
  readonly #open = new Map<string, OpenPart>()
  /** Apart from `#open`, because texts are few and looked at with every delta; tool inputs may be many. */
  readonly #texts = new Set<OpenPart>()
  readonly #calls = new Map<string, TrackedCall>()

  constructor(messageId: string) {
    this.messageId = messageId
  }

  /** Returns a tracker for a message that an earlier process left open. */
  static of(message: ThreadMessage): PartTracker {
    const tracker = new PartTracker(message.id)
    tracker.#count = message.parts.length
    for (const part of message.parts) {
      const address = { messageId: message.id, partId: part.id }
      if (part.type === 'tool-call') {
        tracker.order(part.toolCallId, part.toolName, address)
        if (part.call.stage === 'ended') tracker.answer(part.toolCallId)
      } else if (part.type === 'tool-result' && part.state === 'open') {
        tracker.#open.set(`tool-result:${part.toolCallId}`, {
          kind: 'tool-result',
          key: part.toolCallId,
          ...address,
          text: '',
          extras: {},
        })
      }
    }
    return tracker
  }

  open(kind: PartKind, key: string): OpenPart {
    // Nearly always the same part grows again.
    const last = this.#last
    if (last !== undefined && last.kind === kind && last.key === key) return last
    const part = this.#find(kind, key)
    this.#last = part
    return part
  }

  #find(kind: PartKind, key: string): OpenPart {
    const existing = this.#open.get(`${kind}:${key}`)
    if (existing !== undefined) return existing
    const part: OpenPart = { kind, key, messageId: this.messageId, partId: String(this.#count++), text: '', extras: {} }
    this.#open.set(`${kind}:${key}`, part)
    if (kind === 'text' || kind === 'reasoning') this.#texts.add(part)
    return part
  }

  get size(): number {
    return this.#count
  }

  isOpen(kind: PartKind, key: string): boolean {
    return this.#open.has(`${kind}:${key}`)
  }

  /** Returns the address for a part that comes whole. */
  next(): PartAddress {
    return { messageId: this.messageId, partId: String(this.#count++) }
  }

  /** Returns the address for a part that is sealed now: of its open part, or a new one. */
  take(kind: PartKind, key: string): PartAddress {
    const existing = this.#open.get(`${kind}:${key}`)
    if (existing === undefined) return this.next()
    this.#open.delete(`${kind}:${key}`)
    this.#texts.delete(existing)
    if (this.#last === existing) this.#last = undefined
    return { messageId: existing.messageId, partId: existing.partId }
  }

  get openTexts(): ReadonlySet<OpenPart> {
    return this.#texts
  }

  openInputs(): OpenPart[] {
    return [...this.#open.values()].filter((part) => part.kind === 'tool-call')
  }

  order(toolCallId: string, toolName: string, address: PartAddress): void {
    // A call id may be used again once its call has a result.
    if (this.#calls.get(toolCallId)?.isEnded !== false) this.#unanswered++
    this.#calls.set(toolCallId, { ...address, toolName, isEnded: false })
  }

  /** Notes that the call has a result; returns `undefined` if this message holds no such call. */
  answer(toolCallId: string): TrackedCall | undefined {
    const call = this.#calls.get(toolCallId)
    if (call !== undefined && !call.isEnded) {
      call.isEnded = true
      this.#unanswered--
    }
    return call
  }

  get toolCallIds(): Iterable<string> {
    return this.#calls.keys()
  }

  call(toolCallId: string): TrackedCall | undefined {
    return this.#calls.get(toolCallId)
  }

  get isAnswered(): boolean {
    return this.#unanswered === 0
  }

  unanswered(): [string, TrackedCall][] {
    return this.#unanswered === 0 ? [] : [...this.#calls].filter(([, call]) => !call.isEnded)
  }
}
