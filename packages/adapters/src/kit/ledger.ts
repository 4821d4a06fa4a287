/** What became of a line, in terms of activity. */
export type Account =
  /** At least one activity event was made of it. */
  | { readonly kind: 'event' }
  /** It holds a call without a result so far. */
  | { readonly kind: 'waiting' }
  /** It carries no activity, for this reason. */
  | { readonly kind: 'consumed'; readonly reason: string }

export interface LedgerSums {
  readonly lines: number
  readonly events: number
  readonly waiting: number
  readonly consumed: number
  /** How many lines were consumed for each reason. */
  readonly reasons: Readonly<Record<string, number>>
  /** Number of `unknown` events. A high number means that the CLI is newer than the dialect. */
  readonly unknown: number
  /** Records on which the dialect threw. Always zero, unless it has a bug. */
  readonly faults: number
}

/** A line with calls. It is settled when its last call is. */
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

/** Counts every line once: events + waiting + consumed = lines at all times, and at the end nothing is waiting. */
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

  /** Begins a line; what is noted next belongs to it. */
  begin(): void {
    this.#made = false
    this.#reason = undefined
    this.#slot = undefined
    this.#isUntouched = true
  }

  /** Begins another part of the same line, which needs an account of its own. */
  beginPart(): void {
    this.#isUntouched = true
  }

  /** Notes that an activity event was made of the line. */
  made(): void {
    this.#made = true
    this.#isUntouched = false
  }

  /** Notes that the line, or a part of it, carries no activity. The first reason counts. */
  consume(reason: string): void {
    this.#reason ??= reason
    this.#isUntouched = false
  }

  /** Notes that the line holds a call. */
  wait(): LineSlot {
    this.#isUntouched = false
    this.#slot ??= { open: 0, made: false, reason: undefined, booked: false }
    this.#slot.open += 1
    return this.#slot
  }

  /** Settles a call of that line: it is in an event, or was consumed for the reason given. */
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

  /** Whether nothing was noted so far about the line, or about this part of it. */
  get isUntouched(): boolean {
    return this.#isUntouched
  }

  /** Ends the line and returns what became of it. */
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
