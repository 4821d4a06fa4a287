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
}

export type Match =
  | { readonly kind: 'paired'; readonly call: OpenCall }
  /** Several open calls have this id: which one is answered cannot be told. */
  | { readonly kind: 'ambiguous'; readonly calls: readonly OpenCall[] }
  | { readonly kind: 'none' }

const NONE: Match = Object.freeze({ kind: 'none' })
/** How many ended calls are remembered to keep ids on our events unique; memory stays flat however long a run is. */
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
  readonly #ended = new Map<string, number>()
  #count = 0

  get size(): number {
    return this.#count
  }

  open(record: CallRecord, slot: LineSlot): OpenCall {
    const key = keyOf(record.id, record.parent)
    const call: OpenCall = { ...record, callId: this.#uniqueId(record), slot }
    const others = this.#open.get(key)
    if (others === undefined) this.#open.set(key, call)
    else if (Array.isArray(others)) others.push(call)
    else this.#open.set(key, [others, call])
    this.#count += 1
    return call
  }

  /** `parent` is absent when the result does not say whose it is; then the id alone has to be unique. */
  take(id: string, parent: string | null | undefined): Match {
    if (parent !== undefined) return this.#takeKey(keyOf(id, parent ?? undefined))
    const keys: string[] = []
    for (const key of this.#open.keys()) if (key === id || key.endsWith(`\u0000${id}`)) keys.push(key)
    if (keys.length <= 1) return keys[0] === undefined ? NONE : this.#takeKey(keys[0])
    const calls = keys.flatMap((key) => {
      const match = this.#takeKey(key)
      return match.kind === 'paired' ? [match.call] : match.kind === 'ambiguous' ? match.calls : []
    })
    return { kind: 'ambiguous', calls }
  }

  has(id: string, parent?: string | null): boolean {
    return this.#open.has(keyOf(id, parent ?? undefined))
  }

  /** The open call that `take` would give, left open. */
  peek(id: string, parent?: string | null): OpenCall | undefined {
    const found = this.#open.get(keyOf(id, parent ?? undefined))
    return Array.isArray(found) ? undefined : found
  }

  /** All that is still open, in the order it was opened; nothing is open afterwards. */
  takeAll(): Match[] {
    const matches = [...this.#open.keys()].map((key) => this.#takeKey(key))
    this.#open.clear()
    return matches
  }

  #takeKey(key: string): Match {
    const found = this.#open.get(key)
    if (found === undefined) return NONE
    this.#open.delete(key)
    if (!Array.isArray(found)) {
      this.#remember(found)
      return { kind: 'paired', call: found }
    }
    for (const call of found) this.#remember(call)
    return { kind: 'ambiguous', calls: found }
  }

  #remember(call: OpenCall): void {
    this.#count -= 1
    if (this.#ended.size >= REMEMBERED) {
      const oldest = this.#ended.keys().next().value
      if (oldest !== undefined) this.#ended.delete(oldest)
    }
    this.#ended.set(call.id, (this.#ended.get(call.id) ?? 0) + 1)
  }

  #uniqueId(record: CallRecord): string {
    let uses = this.#ended.get(record.id) ?? 0
    if (this.#count > 0) {
      for (const open of this.#open.values()) {
        for (const call of Array.isArray(open) ? open : [open]) if (call.id === record.id) uses += 1
      }
    }
    return uses === 0 ? record.id : `${record.id}#${uses + 1}`
  }
}

function keyOf(id: string, parent: string | undefined): string {
  return parent === undefined ? id : `${parent}\u0000${id}`
}
