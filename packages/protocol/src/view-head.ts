import type { Head, RunState } from './head.ts'
import { applyToJson, badOp, isObject } from './json-op.ts'
import type { JsonValue } from './json.ts'
import { Keyed } from './keyed.ts'
import type { LineageRange } from './lineage.ts'
import { List } from './list.ts'
import { asJson, type Op } from './op.ts'
import {
  reviveHead,
  reviveRun,
  reviveSlice,
  withEntry,
  type KeyedSlice,
  type StoredHead,
  type StoredRunState,
} from './stored-head.ts'

type Slice = Keyed<unknown>

const ORDERED = ['queue', 'waits', 'definitions'] as const
const UNORDERED = ['bindings', 'children', 'settings', 'settingsAt', 'state', 'stateAt'] as const

/** Returns the head after an op. Entries of collections are addressed by id, as in `['head', 'waits', waitId]`. */
export function applyToHead(head: Head, op: Op): Head {
  const [, key] = op.path
  if (key === undefined) return headOf(op)
  if (key === 'run') return { ...head, run: applyToRun(head.run, op) }
  if (key === 'lineage') return { ...head, lineage: applyToLineage(head.lineage, op) }
  if (!isKeyedSlice(key)) return applyToJson(asJson(head), op, 1) as unknown as Head
  const revive = (value: JsonValue): Slice => {
    if (!isSlice(key, value)) throw badOp(op, `the value is no "${key}"`)
    return reviveSlice(key, value as StoredHead[typeof key])
  }
  const put = (slice: Slice, id: string, value: JsonValue): Slice => {
    if (isOrdered(key) && !isObject(value)) throw badOp(op, `the value is no entry of "${key}"`)
    return withEntry(key, slice, id, value)
  }
  return { ...head, [key]: applyToKeyed(head[key], op, 2, { revive, put }) }
}

function headOf(op: Op): Head {
  if (op.type !== 'set') throw badOp(op, 'the head is only set')
  const { value } = op
  const isHead = isObject(value) && [...ORDERED, ...UNORDERED].every((key) => isSlice(key, value[key] ?? null))
  if (!isHead || !isRun(value['run'] ?? null) || !isLineage(value['lineage'] ?? null))
    throw badOp(op, 'the value is no head')
  return reviveHead(value as unknown as StoredHead)
}

/** Ranges are added, shortened and removed at the end. The path names a range by its `from`. */
function applyToLineage(lineage: List<LineageRange>, op: Op): List<LineageRange> {
  const [, , start] = op.path
  if (start === undefined && op.type === 'set') {
    if (!isLineage(op.value)) throw badOp(op, 'the value is no lineage')
    return List.from(op.value as unknown as LineageRange[])
  }
  if (start === undefined && op.type === 'remove' && op.from !== undefined) {
    let left = lineage
    while (left.length > 0 && (left.at(-1)?.from ?? 0) >= op.from) left = left.pop()
    return left
  }
  if (op.type !== 'set' || !isRange(op.value)) throw badOp(op, 'the value is no range')
  const range = op.value as unknown as LineageRange
  const last = lineage.at(-1)
  if (String(range.from) !== start || range.from < (last?.from ?? 0))
    throw badOp(op, 'only the end of a lineage changes')
  return range.from === last?.from ? lineage.set(lineage.length - 1, range) : lineage.push(range)
}

function isLineage(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isRange)
}

function isRange(value: JsonValue): boolean {
  return isObject(value) && typeof (value as { readonly from?: unknown }).from === 'number'
}

function applyToRun(run: RunState | null, op: Op): RunState | null {
  const [, , key] = op.path
  if (key === undefined) {
    if (op.type !== 'set' || !isRun(op.value)) throw badOp(op, 'the value is no run')
    return op.value === null ? null : reviveRun(op.value as unknown as StoredRunState)
  }
  if (run === null) throw badOp(op, 'no run is open')
  if (key !== 'processes' && key !== 'kept') return applyToJson(asJson(run), op, 2) as unknown as RunState
  const revive = (value: JsonValue): Slice => {
    if (!isObject(value)) throw badOp(op, `the value is no "${key}"`)
    return Keyed.from(Object.entries(value))
  }
  const put = (slice: Slice, id: string, value: JsonValue): Slice => slice.set(id, value)
  return { ...run, [key]: applyToKeyed(run[key] ?? Keyed.empty(), op, 3, { revive, put }) }
}

interface SliceRules {
  readonly revive: (value: JsonValue) => Slice
  readonly put: (slice: Slice, id: string, value: JsonValue) => Slice
}

/** `depth` is the position of the id in the path. */
function applyToKeyed(slice: Slice, op: Op, depth: number, { revive, put }: SliceRules): Slice {
  const id = op.path[depth]
  if (id === undefined) {
    if (op.type !== 'set') throw badOp(op, 'entries are removed one by one, by id')
    return revive(op.value)
  }
  if (op.type === 'remove' && op.path.length === depth + 1) return slice.delete(id)
  return put(slice, id, applyToJson(slice.get(id) as JsonValue | undefined, op, depth + 1))
}

function isKeyedSlice(key: string): key is KeyedSlice {
  return isOrdered(key) || UNORDERED.some((each) => each === key)
}

function isOrdered(key: string): boolean {
  return ORDERED.some((each) => each === key)
}

function isSlice(key: KeyedSlice, value: JsonValue): boolean {
  return isObject(value) && (!isOrdered(key) || Object.values(value).every(isObject))
}

function isRun(value: JsonValue): boolean {
  if (value === null) return true
  return isObject(value) && isObject(value['processes'] ?? null) && isObject(value['kept'] ?? {})
}
