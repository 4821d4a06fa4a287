/** What became of a line, as far as activity goes. */
export type Account =
  /** It is in at least one activity event. */
  | { readonly kind: 'event' }
  /** It holds a call whose result has not come. */
  | { readonly kind: 'waiting' }
  /** It says nothing about activity, for this reason. */
  | { readonly kind: 'consumed'; readonly reason: string }

export interface LedgerSums {
  readonly lines: number
  readonly events: number
  readonly waiting: number
  readonly consumed: number
  /** Why lines were consumed, and how many for each reason. */
  readonly reasons: Readonly<Record<string, number>>
  /** `unknown` events: high numbers say that the program is newer than the mapping. */
  readonly unknown: number
  /** Records on which a mapping broke. Always zero, unless it has a bug. */
  readonly faults: number
}

/** A line that holds calls. It is settled when the last of them is. */
export interface LineSlot {
  open: number
  made: boolean
  reason: string | undefined
  booked: boolean
}

interface ReasonCount {
  readonly account: Account
  count: number
}

const EVENT: Account = Object.freeze({ kind: 'event' })
const WAITING: Account = Object.freeze({ kind: 'waiting' })

/** Every line is counted once: events + waiting + consumed = lines, at every moment; at the end nothing waits. */
export class Ledger {
  #lines = 0
  #events = 0
  #waiting = 0
  #consumed = 0
  #unknown = 0
  #faults = 0
  readonly #reasons = new Map<string, ReasonCount>()
  #made = false
  #reason: string | undefined
  #slot: LineSlot | undefined
  #isUntouched = true

  /** A line is being read; what is noted from now on is about it. */
  begin(): void {
    this.#made = false
    this.#reason = undefined
    this.#slot = undefined
    this.#isUntouched = true
  }

  /** A further part of the same line, which needs an account of its own. */
  beginPart(): void {
    this.#isUntouched = true
  }

  /** The line is in an activity event. */
  made(): void {
    this.#made = true
    this.#isUntouched = false
  }

  /** The line, or a part of it, carries no activity. The first reason given is the one that counts. */
  consume(reason: string): void {
    this.#reason ??= reason
    this.#isUntouched = false
  }

  /** The line holds a call. */
  wait(): LineSlot {
    this.#isUntouched = false
    this.#slot ??= { open: 0, made: false, reason: undefined, booked: false }
    this.#slot.open += 1
    return this.#slot
  }

  /** A call of that line is over: it is in an event, or it was consumed for the reason given. */
  settle(slot: LineSlot, consumed: string | undefined): void {
    slot.open -= 1
    if (consumed === undefined) slot.made = true
    else slot.reason ??= consumed
    if (slot.open > 0 || !slot.booked) return
    this.#waiting -= 1
    this.#book(slot.made, slot.reason)
  }

  countUnknown(): void {
    this.#unknown += 1
  }

  countFault(): void {
    this.#faults += 1
  }

  /** Nothing was said so far about the line, or about this part of it. */
  get isUntouched(): boolean {
    return this.#isUntouched
  }

  /** The line has been read. */
  end(): Account {
    this.#lines += 1
    const slot = this.#slot
    if (slot === undefined) return this.#book(this.#made, this.#reason)
    slot.made ||= this.#made
    slot.reason ??= this.#reason
    if (slot.open === 0) return this.#book(slot.made, slot.reason)
    slot.booked = true
    this.#waiting += 1
    return WAITING
  }

  sums(): LedgerSums {
    return {
      lines: this.#lines,
      events: this.#events,
      waiting: this.#waiting,
      consumed: this.#consumed,
      reasons: Object.fromEntries([...this.#reasons].map(([reason, { count }]) => [reason, count])),
      unknown: this.#unknown,
      faults: this.#faults,
    }
  }

  #book(made: boolean, reason = 'unexplained'): Account {
    if (made) {
      this.#events += 1
      return EVENT
    }
    this.#consumed += 1
    let counted = this.#reasons.get(reason)
    if (counted === undefined) {
      counted = { account: Object.freeze({ kind: 'consumed', reason }), count: 0 }
      this.#reasons.set(reason, counted)
    }
    counted.count += 1
    return counted.account
  }
}
