import type { EventExtras, PartAddress, ThreadMessage } from '@evener/protocol'

export type PartKind = 'text' | 'reasoning' | 'tool-call' | 'tool-result'

/** A part that is still growing. */
export interface OpenPart extends PartAddress {
  readonly kind: PartKind
  /** The agent's own name for it, when it gives one. */
  readonly key: string
  text: string
  /** The newest of what its events said about it. */
  extras: Pick<EventExtras, 'native' | 'activity'>
}

export interface TrackedCall extends PartAddress {
  readonly toolName: string
  isEnded: boolean
}

/** The parts of one message: hands out their numbers and knows which are open. */
export class PartTracker {
  readonly messageId: string
  #count = 0
  #last: OpenPart | undefined
  #unanswered = 0
  readonly #open = new Map<string, OpenPart>()
  /** Texts are looked at with every delta and are few; tool inputs may be many. */
  readonly #texts = new Set<OpenPart>()
  readonly #calls = new Map<string, TrackedCall>()

  constructor(messageId: string) {
    this.messageId = messageId
  }

  /** Takes up a message where an earlier process left it. */
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
    // Nearly always it is the one that has grown before.
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

  /** The address for a part that is whole as it comes. */
  next(): PartAddress {
    return { messageId: this.messageId, partId: String(this.#count++) }
  }

  /** The address for a part that is sealed now: that of its open one, or a new one. */
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
    // One that has its result may be followed by another of the same name.
    if (this.#calls.get(toolCallId)?.isEnded !== false) this.#unanswered++
    this.#calls.set(toolCallId, { ...address, toolName, isEnded: false })
  }

  /** Notes the result; `undefined` when this message holds no such call. */
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
