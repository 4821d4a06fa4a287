import { EvenerError } from './errors.ts'
import type { JsonValue } from './json.ts'

export type Path = readonly string[]

export interface SetOp {
  readonly type: 'set'
  readonly path: Path
  readonly value: JsonValue
}

export interface AppendTextOp {
  readonly type: 'append-text'
  readonly path: Path
  readonly value: string
}

/**
 * Removes what stands at the path; with `from`/`to` those messages whose `order`, or those ranges of the lineage whose
 * beginning lies between.
 */
export interface RemoveOp {
  readonly type: 'remove'
  readonly path: Path
  readonly from?: number
  readonly to?: number
}

/** A change of a replica. Recorded where it happens, never found by comparing two states. */
export type Op = SetOp | AppendTextOp | RemoveOp

/** What one commit sends to every client: `seq` is the last record it covers. */
export interface DeltaFrame {
  readonly type: 'delta'
  readonly seq: number
  readonly operations: readonly Op[]
}

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** Ids become path segments, so an id may not be a name that reaches an object's prototype. */
export function isSafeSegment(segment: string): boolean {
  return segment.length > 0 && !FORBIDDEN.has(segment)
}

export function assertSafePath(path: Path): void {
  for (const segment of path) {
    if (typeof segment !== 'string' || !isSafeSegment(segment)) {
      throw new EvenerError('invalid-input', `An op path may not contain ${JSON.stringify(segment)}.`, {
        details: { path },
      })
    }
  }
}

/**
 * Our records, messages and heads are JSON by construction (the schema tests prove it), which an interface cannot say
 * to the compiler.
 */
export function asJson(value: object): JsonValue {
  return value as JsonValue
}
