import { InspanError } from './errors.ts'
import type { JsonValue } from './json.ts'

export type Path = readonly string[]

export interface SetOp {
  readonly type: 'set'
  readonly path: Path
  readonly value: JsonValue
}

export interface AppendTextOp {
  readonly type: 'append-text'
  /** On the wire `[]` means the last text of the newest message, which is where nearly everything is appended. */
  readonly path: Path
  readonly value: string
  /** How long the text was before, in UTF-16 units. A replica with another length has diverged. */
  readonly len?: number
}

/**
 * Removes what is at the path. With `from` and `to` it removes the messages whose `order` lies between them, or the
 * ranges of the lineage that begin between them.
 */
export interface RemoveOp {
  readonly type: 'remove'
  readonly path: Path
  readonly from?: number
  readonly to?: number
}

/** One change of a replica. Recorded where the change happens, never computed by comparing two states. */
export type Op = SetOp | AppendTextOp | RemoveOp

/** The ops of one commit, sent to every client. `seq` is the last record it covers. */
export interface DeltaFrame {
  readonly type: 'delta'
  readonly seq: number
  readonly operations: readonly Op[]
}

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** Ids become path segments, so an id must not be a name that reaches an object's prototype. */
export function isSafeSegment(segment: string): boolean {
  return segment.length > 0 && !FORBIDDEN.has(segment)
}

export function assertSafePath(path: Path): void {
  for (const segment of path) {
    if (typeof segment !== 'string' || !isSafeSegment(segment)) {
      throw new InspanError('invalid-input', `An op path may not contain ${JSON.stringify(segment)}.`, {
        details: { path },
      })
    }
  }
}

/**
 * Casts to JSON. Our records, messages and heads are JSON by construction (the schema tests prove it), but the compiler
 * cannot see that from an interface.
 */
export function asJson(value: object): JsonValue {
  return value as JsonValue
}
