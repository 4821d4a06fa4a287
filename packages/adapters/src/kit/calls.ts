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
    const earlier = this.#usesOf(record.id)
    const call: OpenCall = {
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
    const others = this.#open.get(key)
    if (others === undefined) this.#open.set(key, call)
    else if (Array.isArray(others)) others.push(call)
    else this.#open.set(key, [others, call])
    return call
  }

  /** `parent` is absent when the result does not say whose it is; then the id alone has to be unique. */
  take(id: string, parent: string | null | undefined): Match {
    if (parent !== undefined) return this.#takeKey(keyOf(id, parent))
    const keys = this.#keysOf(id)
    if (keys.length <= 1) return keys[0] === undefined ? NONE : this.#takeKey(keys[0])
    const calls = keys.flatMap((key) => {
      const match = this.#takeKey(key)
      return match.kind === 'paired' ? [match.call] : match.kind === 'ambiguous' ? match.calls : []
    })
    return { kind: 'ambiguous', calls }
  }

  has(id: string, parent: string | null | undefined): boolean {
    return parent === undefined ? this.#keysOf(id).length > 0 : this.#open.has(keyOf(id, parent))
  }

  /** The one call that `take` would give, left open. */
  peek(id: string, parent: string | null | undefined): OpenCall | undefined {
    const keys = parent === undefined ? this.#keysOf(id) : [keyOf(id, parent)]
    const found = keys.length === 1 ? this.#open.get(keys[0] ?? '') : undefined
    return Array.isArray(found) ? undefined : found
  }

  /** All that is still open, in the order it was opened; nothing is open afterwards. */
  takeAll(): Match[] {
    return [...this.#open.keys()].map((key) => this.#takeKey(key))
  }

  /** Whoever called. */
  #keysOf(id: string): readonly string[] {
    const keys: string[] = []
    for (const key of this.#open.keys()) if (key === id || key.endsWith(`\u0000${id}`)) keys.push(key)
    return keys
  }

  #takeKey(key: string): Match {
    const found = this.#open.get(key)
    if (found === undefined) return NONE
    this.#open.delete(key)
    if (!Array.isArray(found)) {
      this.#remember(found)
      return { kind: 'paired', call: found }
    }
    const last = found.at(-1)
    if (last !== undefined) this.#remember(last)
    return { kind: 'ambiguous', calls: found }
  }

  #remember(call: OpenCall): void {
    if (this.#ended.size >= REMEMBERED) {
      this.#endedBefore = this.#ended
      this.#ended = new Map()
    }
    this.#ended.set(call.id, Math.max(call.earlier + 1, this.#open.size === 0 ? 0 : this.#usesOf(call.id)))
  }

  #usesOf(id: string): number {
    let uses = this.#ended.get(id) ?? this.#endedBefore.get(id) ?? 0
    if (this.#open.size === 0) return uses
    for (const open of this.#open.values()) {
      const latest = Array.isArray(open) ? open.at(-1) : open
      if (latest?.id === id) uses = Math.max(uses, latest.earlier + 1)
    }
    return uses
  }
}

function keyOf(id: string, parent: string | null | undefined): string {
  return parent === undefined || parent === null ? id : `${parent}\u0000${id}`
}
