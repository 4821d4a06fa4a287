import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asObject, asText } from './fields.ts'

/** A part of a line. A CLI that prints text without a newline joins it to the next record. */
export type LinePart =
  | { readonly kind: 'record'; readonly record: JsonObject }
  /** JSON, but not an object. */
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'text'; readonly text: string }

/** How many failed tries to find a record a line may cost: each may read the line to its end. */
const MAX_TRIES = 16
/** Deeper values cannot be written as JSON again, and no CLI prints them. */
const MAX_DEPTH = 500

const BRACE = 0x7b

/** What JSON can begin with. Trying to parse instead costs an exception for each line of plain text. */
const JSON_START = /^\s*[[{"\-\dtfn]/

/** Returns the record that a line consists of, if the line begins like one. */
export function recordOf(text: string): JsonObject | undefined {
  return text.charCodeAt(0) === BRACE ? parseRecord(text) : undefined
}

/** Returns the record of a well-formed line. `undefined` for all other lines, which `splitLine` takes apart. */
export function parseRecord(text: string): JsonObject | undefined {
  return asObject(parseJson(text))
}

/** Splits a line that is not one record: text before, between and after records, other JSON, or no JSON at all. */
export function splitLine(text: string): readonly LinePart[] {
  const whole = JSON_START.test(text) ? parseJson(text) : undefined
  if (whole !== undefined) return isRecords(whole) ? whole.map(partOf) : [partOf(whole)]
  const parts: LinePart[] = []
  let from = 0
  let at = recordStart(text, 0)
  for (let failed = 0; at !== -1 && failed < MAX_TRIES;) {
    const end = recordEnd(text, at)
    const record = end === -1 ? undefined : parseRecord(text.slice(at, end))
    if (record === undefined) {
      failed += 1
      at = recordStart(text, at + 1)
      continue
    }
    addText(parts, text.slice(from, at))
    parts.push({ kind: 'record', record })
    from = end
    at = recordStart(text, from)
  }
  addText(parts, text.slice(from))
  return parts
}

function addText(parts: LinePart[], text: string): void {
  if (text.trim() !== '') parts.push({ kind: 'text', text })
}

/** Recognises a list with all records of a run, which a CLI prints if it is asked for one JSON value. */
function isRecords(value: JsonValue): value is readonly JsonValue[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => asText(asObject(item)?.['type']) !== undefined)
  )
}

function partOf(value: JsonValue): LinePart {
  const record = asObject(value)
  return record === undefined ? { kind: 'value', value } : { kind: 'record', record }
}

/** Returns `undefined` for what is not JSON, or too deep to be passed on. */
function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue
    return text.length > MAX_DEPTH * 2 && mayBeDeep(text) && isDeep(value) ? undefined : value
  } catch {
    return undefined
  }
}

/** Whether the brackets of a text go deep. Those inside of strings count too, so this only rules most texts out. */
function mayBeDeep(text: string): boolean {
  let opened = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1 && opened <= MAX_DEPTH; at = text.indexOf(bracket, at + 1))
      opened += 1
  }
  return opened > MAX_DEPTH
}

function isDeep(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

function recordStart(text: string, from: number): number {
  return text.indexOf('{"', from)
}

/** Returns the index after the brace that closes the one at `start`, or -1. */
function recordEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = stringEnd(text, at)
      if (at === -1) return -1
    } else if (code === 0x7b) depth += 1
    else if (code === 0x7d) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}

function stringEnd(text: string, quote: number): number {
  let at = text.indexOf('"', quote + 1)
  while (at !== -1) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1
    if (slashes % 2 === 0) return at
    at = text.indexOf('"', at + 1)
  }
  return -1
}
