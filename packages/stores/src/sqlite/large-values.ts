import { createHash } from 'node:crypto'
import { BLOB_THRESHOLD, type JsonObject, type JsonValue } from '@inspan/protocol'

/**
 * The key under which a row lists the places of values stored as blobs. Rows are objects of our own types, so the name
 * is free.
 */
const PLACES = '$blobs'

interface ValuePlace {
  readonly path: readonly (string | number)[]
  readonly blob: string
  readonly mime: string
}

export interface LargeValue {
  readonly hash: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** A container while it is being restored. */
type Container = { [key: string]: JsonValue } | JsonValue[]

/**
 * Returns a row's JSON without its values above 32 KB, innermost first. Each one that `keep` accepts is replaced by an
 * empty value of its kind and a note of its place.
 */
export function takeOutLarge(json: string, keep: (value: LargeValue) => boolean): string {
  // A character has at most three bytes, so nearly every row is known to be small without counting.
  if (json.length * 3 <= BLOB_THRESHOLD || Buffer.byteLength(json) <= BLOB_THRESHOLD) return json
  const places: ValuePlace[] = []
  const slim = (value: JsonValue, path: ValuePlace['path']): JsonValue => {
    const slimmed = typeof value === 'object' && value !== null ? slimContainer(value, path) : value
    if (path.length === 0 || !isLarge(slimmed)) return slimmed
    const large = largeValue(slimmed)
    if (!keep(large)) return slimmed
    places.push({ path, blob: large.hash, mime: large.mime })
    return emptyOf(slimmed)
  }
  const slimContainer = (value: JsonValue & object, path: ValuePlace['path']): JsonValue =>
    Array.isArray(value)
      ? value.map((item, index) => slim(item, [...path, index]))
      : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, slim(item, [...path, key])]))
  const row = slim(JSON.parse(json) as JsonValue, []) as JsonObject
  return places.length === 0 ? json : JSON.stringify({ ...row, [PLACES]: places })
}

/** Restores a row. Values that were erased stay empty. */
export function putBackLarge(row: JsonObject, read: (hash: string) => Uint8Array | undefined): JsonObject {
  const { [PLACES]: places, ...whole } = row
  if (places === undefined) return row
  // In reverse order: a value within another large value was taken out first.
  for (const { path, blob, mime } of (places as unknown as readonly ValuePlace[]).toReversed()) {
    const bytes = read(blob)
    if (bytes !== undefined) put(whole, path, valueOf(bytes, mime))
  }
  return whole
}

function isLarge(value: JsonValue): boolean {
  if (typeof value === 'string') return Buffer.byteLength(value) > BLOB_THRESHOLD
  return typeof value === 'object' && value !== null && Buffer.byteLength(JSON.stringify(value)) > BLOB_THRESHOLD
}

/** Text is stored as it is, except that half a character survives only as a JSON escape. */
function largeValue(value: JsonValue): LargeValue {
  const isText = typeof value === 'string' && value.isWellFormed()
  const bytes = Buffer.from(isText ? value : JSON.stringify(value))
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { hash, mime: isText ? 'text/plain' : 'application/json', bytes }
}

function valueOf(bytes: Uint8Array, mime: string): JsonValue {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return mime === 'text/plain' ? text : (JSON.parse(text) as JsonValue)
}

function emptyOf(value: JsonValue): JsonValue {
  if (typeof value === 'string') return ''
  return Array.isArray(value) ? [] : {}
}

function put(root: JsonObject, path: ValuePlace['path'], value: JsonValue): void {
  let at = root as Container
  for (const key of path.slice(0, -1)) {
    const next = Object.hasOwn(at, key) ? (at as { [key: string]: JsonValue })[key] : undefined
    if (typeof next !== 'object' || next === null) return
    at = next as Container
  }
  // Defined, not assigned: `__proto__` is a name like any other here.
  const name = path.at(-1) as string
  Object.defineProperty(at, name, { value, enumerable: true, writable: true, configurable: true })
}
