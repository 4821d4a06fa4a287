import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { Dialect } from '../src/kit/mapper.ts'
import { fixtureNames, mapRun, readFixture } from './support.ts'

/** Stands in a line for the number of the repetition: a private-use character that no recording has. */
const HOLE = '\ue000'
/** What one reading of a pipe gives at most. */
const PIPE_BYTES = 64 * 1024
const BLOCK_CHARACTERS = 1024 * 1024

const MADE_BY_HAND = /^(?:hand)?made-/
const COMMAND_KEY = /^(?:command|commands|cmd)$/
const PATH_KEY = /path|file|pattern|query|regex/i
const ID_KEY = /(?:^id|Id|ID|_id|^uuid)$/
const SESSION_KEY = /session|thread/i
/** A word of a command or a path, unless it is a program, a keyword, or a directory of the system. */
const NAME =
  /(?<![-\p{L}\w$.])(?!(?:bash|sh|bin|usr|cat|sed|nl|head|rg|grep|find|ls|cd|echo|exit|sleep|rm|true|pwd|touch|make|wc|for|in|seq|do|done|id|workspace)\b)\p{L}[\p{L}\w]+(?![\p{L}\w-])/gu

/** `bash -lc ls`: a script that needs no quotes until a word is added. */
const BARE_SCRIPT = /^(\S*sh -l?c )([\w-]+)$/
/** With what closes the script of a shell after it. */
const LAST_WORD = /(\S)(['")]?)$/

/**
 * A stream as long as one likes, made of what a real program printed: its recorded lines over and over, each time with other
 * ids, other commands and other paths, so that nobody gains by remembering them.
 */
export class SyntheticStream {
  readonly #lines: readonly (readonly string[])[]
  #round = 0
  #next = 0

  constructor(dialect: Dialect) {
    this.#lines = wholeRuns(dialect).flatMap(withHoles)
    if (this.#lines.length === 0) throw new Error(`Nothing is recorded of ${dialect.id}.`)
  }

  /** At least so many bytes more, in pieces as they come through a pipe: these end in the middle of lines. */
  *chunks(bytes: number): Generator<Buffer, void, undefined> {
    for (let made = 0; made < bytes;) {
      const block = Buffer.from(this.#block())
      for (let at = 0; at < block.length; at += PIPE_BYTES) yield block.subarray(at, at + PIPE_BYTES)
      made += block.length
    }
  }

  #block(): string {
    let text = ''
    while (text.length < BLOCK_CHARACTERS) {
      if (this.#next === this.#lines.length) {
        this.#next = 0
        this.#round += 1
      }
      const number = String(this.#round)
      text += (this.#lines[this.#next] ?? []).join(number)
      text += '\n'
      this.#next += 1
    }
    return text
  }
}

/** Recorded runs that came to their end: their records only, and none that leaves a call open. */
function wholeRuns(dialect: Dialect): readonly (readonly string[])[] {
  return fixtureNames(dialect.id)
    .filter((name) => !MADE_BY_HAND.test(name))
    .map((name) => readFixture(dialect.id, name))
    .filter(({ end }) => end.exitCode === 0)
    .map(({ lines }) => lines.filter((line) => line.startsWith('{') && isJson(line)))
    .filter((lines) => mapRun(dialect, lines, { end: null }).sums.waiting === 0)
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

/** The lines of a run, taken apart where the number goes. */
function withHoles(lines: readonly string[]): readonly (readonly string[])[] {
  const ids = new Set<string>()
  const records = lines.map((line) => JSON.parse(line) as JsonValue)
  for (const record of records) collectIds(record, ids)
  return records.map((record) => JSON.stringify(renamed(record, '', ids)).split(HOLE))
}

function collectIds(value: JsonValue, ids: Set<string>): void {
  if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) collectIds(item, ids)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value as JsonObject)) {
      if (typeof item !== 'string') collectIds(item, ids)
      else if (item !== '' && ID_KEY.test(key) && !SESSION_KEY.test(key)) ids.add(item)
    }
  }
}

function renamed(value: JsonValue, key: string, ids: ReadonlySet<string>): JsonValue {
  if (typeof value === 'string') return renamedText(value, key, ids)
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => renamed(item, key, ids))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject)
  return Object.fromEntries(entries.map(([name, item]) => [name, renamed(item, name, ids)]))
}

function renamedText(text: string, key: string, ids: ReadonlySet<string>): string {
  if (ids.has(text)) return `${text}${HOLE}`
  if (!COMMAND_KEY.test(key)) return PATH_KEY.test(key) ? text.replace(NAME, `$&${HOLE}`) : text
  const other = text.replace(NAME, `$&${HOLE}`)
  if (other !== text) return other
  const script = text.replace(BARE_SCRIPT, `$1'$2'`)
  return script.replace(LAST_WORD, `$1 item${HOLE}$2`)
}
