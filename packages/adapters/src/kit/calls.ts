import type { JsonObject, JsonValue, NativeRef } from '@evener/protocol'
import type { LineSlot } from './ledger.ts'
import { RecentIds } from './recent-ids.ts'

/** A tool call as the program wrote it. */
export interface CallRecord {
  /** The program's own id for the call. */
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** The output the call was read from, for `unknown` events. */
  readonly raw: JsonValue
  /** Who called: the id of the call that started a subagent. Absent for the agent itself. */
  readonly parent?: string | undefined
  readonly native?: NativeRef | undefined
  readonly serverName?: string | undefined
  /** The input was no object: this is what came. */
  readonly invalidInput?: string | undefined
}

export interface OpenCall {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  readonly raw: JsonValue
  readonly parent: string | undefined
  readonly native: NativeRef | undefined
  readonly serverName: string | undefined
  readonly invalidInput: string | undefined
  /** The id on our events: the program's own, unless that is not unique. */
  readonly callId: string
  /** How many calls had this id before. */
  readonly earlier: number
  readonly slot: LineSlot
  /** Set when other records tell the call's activity: the reason to consume it with. */
  toldElsewhere: string | undefined
}

/**
 * Pairs results with calls.
 *
 * A result belongs to the one open call with its id and its caller. Two open calls with the same id and caller are
 * ambiguous: neither is guessed. A call that is over can be followed by another with the same id, since the order of the
 * stream tells them apart; a second result for the first finds nothing.
 */
export class Calls {
  /** Opened last and mostly the next to be answered. No other open call has its id. */
  #latest: OpenCall | undefined
  /** The others by id, whoever called; in a list only where several have it. */
  readonly #open = new Map<string, OpenCall | OpenCall[]>()
  /** How often an id was used by calls that are over, to keep the ids on our events unique. */
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

  /** A call that is over as soon as it is known. */
  pass(record: CallRecord, slot: LineSlot): OpenCall {
    const call = this.#make(record, slot, this.#openWith(record.id))
    this.#ended.set(call.id, call.earlier + 1)
    return call
  }

  /**
   * The open call that a result is for; several if that cannot be told. `parent` is absent when the result does not say
   * whose it is; then the id alone has to be unique.
   */
  take(id: string, parent: string | null | undefined): OpenCall | OpenCall[] | undefined {
    const open = this.#openWith(id)
    if (open === undefined) return undefined
    if (Array.isArray(open)) return this.#takeOf(open, id, parent)
    if (!hasCaller(open, parent)) return undefined
    if (open === this.#latest) this.#latest = undefined
    else this.#open.delete(id)
    this.#ended.set(id, open.earlier + 1)
    return open
  }

  #takeOf(open: readonly OpenCall[], id: string, parent: string | null | undefined): OpenCall | OpenCall[] | undefined {
    const taken = open.filter((call) => hasCaller(call, parent))
    const left = open.filter((call) => !taken.includes(call))
    if (left.length === 0) this.#open.delete(id)
    else this.#open.set(id, left)
    // Whichever is over first, the last one opened has the highest number.
    this.#ended.set(id, Math.max(...open.map((call) => call.earlier + 1)))
    return taken.length > 1 ? taken : taken[0]
  }

  has(id: string, parent: string | null | undefined): boolean {
    return this.#find(id, parent) !== undefined
  }

  /** The one call that `take` would give, left open. */
  peek(id: string, parent: string | null | undefined): OpenCall | undefined {
    const found = this.#find(id, parent)
    return Array.isArray(found) ? undefined : found
  }

  /** All that is still open, in the order it was opened; nothing is open afterwards. */
  takeAll(): (OpenCall | OpenCall[])[] {
    const all: (OpenCall | OpenCall[])[] = []
    const open = [...this.#open.values(), ...(this.#latest === undefined ? [] : [this.#latest])]
    for (const call of open.flat()) {
      const taken = this.take(call.id, call.parent ?? null)
      if (taken !== undefined) all.push(taken)
    }
    return all
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
        : Math.max(latest.earlier + 1, this.#ended.getLatest(record.id) ?? 0)
    return {
      id: record.id,
      name: record.name,
      input: record.input,
      raw: record.raw,
      parent: record.parent,
      native: record.native,
      serverName: record.serverName,
      invalidInput: record.invalidInput,
      callId: earlier === 0 ? record.id : `${record.id}#${earlier + 1}`,
      earlier,
      slot,
      toldElsewhere: undefined,
    }
  }
}

function hasCaller(call: OpenCall, parent: string | null | undefined): boolean {
  return parent === undefined || call.parent === (parent ?? undefined)
}
