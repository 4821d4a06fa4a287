import type { JsonObject, JsonValue, NativeRef } from '@inspan/protocol'
import type { LineSlot } from './ledger.ts'
import { RecentIds } from './recent-ids.ts'

/** A tool call as the CLI reported it. */
export interface CallRecord {
  /** The CLI's own id of the call. */
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** The output that the call was read from, for `unknown` events. */
  readonly raw: JsonValue
  /** The caller: the id of the call that started a subagent. Absent for the agent itself. */
  readonly parent?: string | undefined
  readonly native?: NativeRef | undefined
  readonly serverName?: string | undefined
  /** What came as input, if it was not an object. */
  readonly invalidInput?: string | undefined
}

export interface OpenCall extends CallRecord {
  /** The id on our events: the CLI's own, unless that is not unique. */
  readonly callId: string
  /** How many earlier calls had this id. */
  readonly earlier: number
  readonly slot: LineSlot
  /** Set if other records report the call's activity: the reason to consume the call with. */
  reportedElsewhere: string | undefined
}

const NUMBERED = /#\d+$/

/**
 * Pairs results with calls.
 *
 * A result belongs to the one open call with its id and its caller. If two open calls have the same id and caller, the
 * result is ambiguous and we do not guess. After a call has ended, another may use its id, because the order of the
 * stream tells them apart; a second result for the first call finds no call.
 */
export class Calls {
  /** The call that was opened last, which mostly ends next. No other open call has its id. */
  #latest: OpenCall | undefined
  /** The other open calls by id, whoever the caller. A list only if several have the same id. */
  readonly #open = new Map<string, OpenCall | OpenCall[]>()
  /** How often an id was used by calls that ended, to keep the ids on our events unique. */
  readonly #ended = new RecentIds()

  open(record: CallRecord, slot: LineSlot): OpenCall {
    if (this.#latest !== undefined) this.#open.set(this.#latest.id, this.#latest)
    this.#latest = undefined
    const others = this.#openWith(record.id)
    const call = this.#make(record, slot, others)
    if (others === undefined) this.#latest = call
    else if (Array.isArray(others)) others.push(call)
    else this.#open.set(record.id, [others, call])
    return call
  }

  /** Registers a call that has already ended when it becomes known. */
  pass(record: CallRecord, slot: LineSlot): OpenCall {
    const call = this.#make(record, slot, this.#openWith(record.id))
    this.#end(call.id, call.earlier + 1)
    return call
  }

  /**
   * Removes and returns the open call that a result is for, or several if the result is ambiguous. Without a `parent`
   * the result does not name its caller, so the id alone has to be unique.
   */
  take(id: string, parent: string | null | undefined): OpenCall | OpenCall[] | undefined {
    const open = this.#openWith(id)
    if (open === undefined) return undefined
    if (Array.isArray(open)) return this.#takeOf(open, id, parent)
    if (!hasCaller(open, parent)) return undefined
    if (open === this.#latest) this.#latest = undefined
    else this.#open.delete(id)
    this.#end(id, open.earlier + 1)
    return open
  }

  #takeOf(open: readonly OpenCall[], id: string, parent: string | null | undefined): OpenCall | OpenCall[] | undefined {
    const taken = open.filter((call) => hasCaller(call, parent))
    const left = open.filter((call) => !taken.includes(call))
    if (left.length === 0) this.#open.delete(id)
    else this.#open.set(id, left)
    // Whichever call ends first, the one opened last has the highest number.
    this.#end(id, Math.max(...open.map((call) => call.earlier + 1)))
    return taken.length > 1 ? taken : taken[0]
  }

  has(id: string, parent: string | null | undefined): boolean {
    return this.#find(id, parent) !== undefined
  }

  /** Returns the one call that `take` would return, and leaves it open. */
  peek(id: string, parent: string | null | undefined): OpenCall | undefined {
    const found = this.#find(id, parent)
    return Array.isArray(found) ? undefined : found
  }

  /** Removes and returns all open calls, in the order in which they were opened. */
  takeAll(): (OpenCall | OpenCall[])[] {
    const all: (OpenCall | OpenCall[])[] = []
    const open = [...this.#open.values(), ...(this.#latest === undefined ? [] : [this.#latest])]
    for (const call of open.flat()) {
      const taken = this.take(call.id, call.parent ?? null)
      if (taken !== undefined) all.push(taken)
    }
    return all
  }

  /** Registers a result without a call. Returns false if calls or results with this id have ended already. */
  passOrphan(id: string): boolean {
    if (this.#ended.get(id) !== undefined || this.#openWith(id) !== undefined) return false
    this.#ended.set(id, 1)
    return true
  }

  /** A call that was opened first may end last: the highest number counts. */
  #end(id: string, used: number): void {
    this.#ended.set(id, Math.max(used, this.#ended.get(id) ?? 0))
  }

  #find(id: string, parent: string | null | undefined): OpenCall | OpenCall[] | undefined {
    const open = this.#openWith(id)
    if (open === undefined || !Array.isArray(open)) {
      return open === undefined || !hasCaller(open, parent) ? undefined : open
    }
    const calls = open.filter((call) => hasCaller(call, parent))
    return calls.length > 1 ? calls : calls[0]
  }

  #openWith(id: string): OpenCall | OpenCall[] | undefined {
    if (this.#latest?.id === id) return this.#latest
    return this.#open.size === 0 ? undefined : this.#open.get(id)
  }

  #make(record: CallRecord, slot: LineSlot, others: OpenCall | OpenCall[] | undefined): OpenCall {
    const latest = Array.isArray(others) ? others.at(-1) : others
    const earlier =
      latest === undefined
        ? (this.#ended.get(record.id) ?? 0)
        : Math.max(latest.earlier + 1, this.#ended.get(record.id) ?? 0)
    return {
      id: record.id,
      name: record.name,
      input: record.input,
      raw: record.raw,
      parent: record.parent,
      native: record.native,
      serverName: record.serverName,
      invalidInput: record.invalidInput,
      // An id of the CLI that looks like one of ours gets a number too.
      callId: earlier === 0 && !NUMBERED.test(record.id) ? record.id : `${record.id}#${earlier + 1}`,
      earlier,
      slot,
      reportedElsewhere: undefined,
    }
  }
}

function hasCaller(call: OpenCall, parent: string | null | undefined): boolean {
  return parent === undefined || call.parent === (parent ?? undefined)
}
