import type { JsonObject, JsonValue, NativeRef } from '@evener/protocol'
import type { LineSlot } from './ledger.ts'

/** A tool call as the program wrote it. */
export interface CallRecord {
  /** The program's own id for the call. */
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** The output the call was read from, for `unknown` events. */
  readonly raw: JsonValue
  /** Who called: the id of the call that started a subagent. Absent for the agent itself. */
  readonly parent?: string
  readonly native?: NativeRef
  readonly serverName?: string
  /** The input was no object: this is what came. */
  readonly invalidInput?: string
}

export interface OpenCall extends CallRecord {
  /** The id on our events: the program's own, unless that is not unique. */
  readonly callId: string
  readonly slot: LineSlot
  /** Set when other records tell the call's activity: the reason to consume it with. */
  toldElsewhere: string | undefined
}

export type Match =
  | { readonly kind: 'paired'; readonly call: OpenCall }
  /** Several open calls have this id: which one is answered cannot be told. */
  | { readonly kind: 'ambiguous'; readonly calls: readonly OpenCall[] }
  | { readonly kind: 'none' }

const NONE: Match = Object.freeze({ kind: 'none' })
/** How many ended calls are remembered at least: memory stays flat however long a run is. */
const REMEMBERED = 1024

/**
 * Pairs results with calls.
 *
 * A result belongs to the one open call with its id and its caller. Two open calls with the same id and caller are
 * ambiguous: neither is guessed. A call that is over can be followed by another with the same id, since the order of the
 * stream tells them apart; a second result for the first finds nothing.
 */
export class Calls {
  readonly #open = new Map<string, OpenCall | OpenCall[]>()
  /** How often an id was used by calls that are over, to keep the ids on our events unique. */
  #ended = new Map<string, number>()
  #endedBefore = new Map<string, number>()

  open(record: CallRecord, slot: LineSlot): OpenCall {
    const key = keyOf(record.id, record.parent)
    const call: OpenCall = { ...record, callId: this.#uniqueId(record.id), slot, toldElsewhere: undefined }
    const others = this.#open.get(key)
    if (others === undefined) this.#open.set(key, call)
    else if (Array.isArray(others)) others.push(call)
    else this.#open.set(key, [others, call])
    return call
  }

  /** `parent` is absent when the result does not say whose it is; then the id alone has to be unique. */
  take(id: string, parent: string | null | undefined): Match {
    const keys = this.#keys(id, parent)
    if (keys.length <= 1) return keys[0] === undefined ? NONE : this.#takeKey(keys[0])
    const calls = keys.flatMap((key) => {
      const match = this.#takeKey(key)
      return match.kind === 'paired' ? [match.call] : match.kind === 'ambiguous' ? match.calls : []
    })
    return { kind: 'ambiguous', calls }
  }

  has(id: string, parent: string | null | undefined): boolean {
    return this.#keys(id, parent).length > 0
  }

  /** The one call that `take` would give, left open. */
  peek(id: string, parent: string | null | undefined): OpenCall | undefined {
    const [key, ...more] = this.#keys(id, parent)
    const found = key === undefined || more.length > 0 ? undefined : this.#open.get(key)
    return Array.isArray(found) ? undefined : found
  }

  /** All that is still open, in the order it was opened; nothing is open afterwards. */
  takeAll(): Match[] {
    return [...this.#open.keys()].map((key) => this.#takeKey(key))
  }

  #keys(id: string, parent: string | null | undefined): readonly string[] {
    if (parent !== undefined) {
      const key = keyOf(id, parent ?? undefined)
      return this.#open.has(key) ? [key] : []
    }
    const keys: string[] = []
    for (const key of this.#open.keys()) if (key === id || key.endsWith(`\u0000${id}`)) keys.push(key)
    return keys
  }

  #takeKey(key: string): Match {
    const found = this.#open.get(key)
    if (found === undefined) return NONE
    this.#open.delete(key)
    if (!Array.isArray(found)) {
      this.#remember(found.id, 1)
      return { kind: 'paired', call: found }
    }
    const [first] = found
    if (first !== undefined) this.#remember(first.id, found.length)
    return { kind: 'ambiguous', calls: found }
  }

  #remember(id: string, uses: number): void {
    if (this.#ended.size >= REMEMBERED) {
      this.#endedBefore = this.#ended
      this.#ended = new Map()
    }
    this.#ended.set(id, this.#usesBefore(id) + uses)
  }

  #usesBefore(id: string): number {
    return this.#ended.get(id) ?? this.#endedBefore.get(id) ?? 0
  }

  #uniqueId(id: string): string {
    let uses = this.#usesBefore(id)
    if (this.#open.size > 0) {
      for (const open of this.#open.values()) {
        if (Array.isArray(open)) uses += open[0]?.id === id ? open.length : 0
        else if (open.id === id) uses += 1
      }
    }
    return uses === 0 ? id : `${id}#${uses + 1}`
  }
}

function keyOf(id: string, parent: string | undefined): string {
  return parent === undefined ? id : `${parent}\u0000${id}`
}
