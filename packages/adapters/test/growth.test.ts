/** Ten times the input takes at most twelve times the time and memory, in every reader of what others wrote. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { GROWTH_LIMIT as LIMIT, memoryGrowth, timeGrowth } from '@inspan/testing'
import { classify, directoryAfter, readCommand } from '@inspan/shell/read'
import { LineSplitter } from '@inspan/shell/run'
import { providerSettings } from '../src/codex/own-provider.ts'
import { dialects, liveDialects } from '../src/dialects.ts'
import { cleanText } from '../src/kit/clean-text.ts'
import { parseRecord, splitLine } from '../src/kit/json-line.ts'
import type { Dialect } from '../src/kit/mapper.ts'
import { createMapper } from '../src/kit/mapping.ts'
import { patchFiles } from '../src/kit/patch-files.ts'
import { AT, fixtureNames, readFixture } from './support.ts'

/** Texts that readers look into: colours, records within a line, quotes, what a shell reads, patches, line ends. */
const SHAPES: readonly string[] = [
  'word ',
  '\u001b[31m',
  '\u009b',
  '{"a":',
  '"\\',
  '\n',
  '$(`<',
  '*** Update File: a\n',
  '<a>',
  'x=1;cat a|',
  '../',
  '[model_providers.a]\nname = "',
  "model = '''",
]
const LONG = 12_000
const OFTEN = 400

const textOf = (shape: string, length: number): string => shape.repeat(Math.ceil(length / shape.length))

/** Feeds lines to a new run. Returns how much it told. */
function told(dialect: Dialect, lines: Iterable<string>): number {
  let size = 0
  const mapper = createMapper(dialect, { cwd: '/workspace', emit: (event) => (size += JSON.stringify(event).length) })
  for (const line of lines) mapper.line(line, AT)
  mapper.end({ exitCode: 0 }, AT)
  return size
}

/** Checks a run that gets more of the same: what it tells is counted, how long it takes is measured. */
async function assertLinear(
  what: string,
  dialect: Dialect,
  lines: (factor: 1 | 10) => readonly string[],
): Promise<void> {
  const [small, large] = [told(dialect, lines(1)), told(dialect, lines(10))]
  assert.ok(large <= LIMIT * small + 1000, `${what}: ${small} characters are told, and of ten times as much ${large}`)
  const growth = await timeGrowth((factor) => {
    const made = lines(factor)
    return () => told(dialect, made)
  })
  assert.ok(growth <= LIMIT, `${what}: the time grows ${growth.toFixed(1)} times`)
}

/** Returns, by the kind of its last record, the beginning of a recording up to there. */
function kindsOf(dialect: Dialect): Map<string, readonly string[]> {
  const kinds = new Map<string, readonly string[]>()
  for (const name of fixtureNames(dialect.id)) {
    const { lines } = readFixture(dialect.id, name)
    for (const [index, line] of lines.entries()) {
      const record = parseRecord(line)
      if (record !== undefined && !kinds.has(kindOf(record))) kinds.set(kindOf(record), lines.slice(0, index + 1))
    }
  }
  return kinds
}

/** Returns the record with each of its texts in turn made longer; `path` says which. */
function* lengthened(
  value: JsonValue,
  text: string,
  path: readonly string[] = [],
): Generator<readonly [path: string, value: JsonValue]> {
  if (typeof value === 'string') yield [path.join('.'), value + text]
  if (typeof value !== 'object' || value === null) return
  for (const [key, each] of Object.entries(value)) {
    const place = isList(value) ? '0' : key
    for (const [at, longer] of lengthened(each, text, [...path, place])) {
      yield [at, isList(value) ? value.with(Number(key), longer) : { ...value, [key]: longer }]
    }
  }
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** One run for each field with a text that a dialect's recordings have, with that text made longer. */
function longFields(dialect: Dialect): Map<string, (text: string) => readonly string[]> {
  const found = new Map<string, (text: string) => readonly string[]>()
  for (const name of fixtureNames(dialect.id)) {
    const { lines } = readFixture(dialect.id, name)
    for (const [index, line] of lines.entries()) {
      const record = parseRecord(line)
      if (record === undefined) continue
      const at = (text: string): Map<string, JsonValue> => new Map(lengthened(record, text))
      for (const path of at('').keys()) {
        const field = `${kindOf(record)} ${path}`
        // Records before it matter: they announce the call whose result it is.
        const run = (text: string): string[] => [...lines.slice(0, index), JSON.stringify(at(text).get(path))]
        if (!found.has(field)) found.set(field, run)
      }
    }
  }
  return found
}

function kindOf(record: JsonObject): string {
  const { event, method, params, part, type } = record as Record<string, JsonObject | undefined>
  return [
    type,
    method,
    event?.['type'],
    part?.['type'],
    (params?.['update'] as JsonObject | undefined)?.['sessionUpdate'],
  ]
    .filter((word) => typeof word === 'string')
    .join('/')
}

describe('the events of a run, and the time to make them, grow with what the program printed', () => {
  for (const dialect of [...dialects, ...liveDialects]) {
    const title = liveDialects.includes(dialect) ? `${dialect.id}, live` : dialect.id

    it(`${title}: any text of any record becomes long`, async () => {
      const fields = [...longFields(dialect)]
      for (const [index, [field, run]] of fields.entries()) {
        // Each field gets one shape, each shape comes in turn: all together would take minutes.
        const shape = SHAPES[index % SHAPES.length] ?? ''
        await assertLinear(`${field} of ${JSON.stringify(shape)}`, dialect, (factor) =>
          run(textOf(shape, LONG * factor)),
        )
      }
    })

    it(`${title}: a line that is no record becomes long`, async () => {
      for (const shape of SHAPES) {
        await assertLinear(JSON.stringify(shape), dialect, (factor) => textOf(shape, LONG * factor).split('\n'))
      }
    })

    it(`${title}: any record comes again and again`, async () => {
      for (const [kind, lines] of kindsOf(dialect)) {
        const again = lines.at(-1) ?? ''
        await assertLinear(kind, dialect, (factor) => [
          ...lines,
          ...Array.from({ length: OFTEN * factor }, () => again),
        ])
      }
    })

    it(`${title}: what a run keeps in memory until it ends`, async () => {
      const kinds = [...kindsOf(dialect).values()]
      const growth = await memoryGrowth((factor) => {
        const lines = kinds.flatMap((each) => [
          ...each,
          ...Array.from({ length: OFTEN * factor }, () => each.at(-1) ?? ''),
        ])
        return () => {
          let size = 0
          const emit = (event: object): unknown => (size += Object.keys(event).length)
          const mapper = createMapper(dialect, { cwd: '/workspace', emit })
          for (const line of lines) mapper.line(line, AT)
          return [mapper, size]
        }
      })
      assert.ok(growth <= LIMIT, `the memory grows ${growth.toFixed(1)} times`)
    })
  }
})

describe('the time that a reader takes grows with its text', () => {
  const read: Readonly<Record<string, (text: string) => unknown>> = {
    cleanText,
    splitLine,
    patchFiles,
    providerSettings,
    readCommand: (text) => readCommand(text),
    classify: (text) => classify(text),
    directoryAfter: (text) => directoryAfter(text, '/'),
  }
  for (const [name, work] of Object.entries(read)) {
    it(name, async () => {
      for (const shape of SHAPES) {
        const growth = await timeGrowth((factor) => {
          const text = textOf(shape, LONG * factor)
          return () => work(text)
        })
        assert.ok(growth <= LIMIT, `${JSON.stringify(shape)}: the time grows ${growth.toFixed(1)} times`)
      }
    })
  }

  for (const [what, bytes] of [
    ['one line, byte by byte', 1],
    ['one line in small pieces', 100],
  ] as const) {
    it(`LineSplitter: ${what}`, async () => {
      const growth = await timeGrowth((factor) => {
        const piece = Buffer.alloc(bytes, 'x')
        return () => {
          const splitter = new LineSplitter(() => undefined)
          for (let index = 0; index < 20_000 * factor; index++) splitter.push(piece)
          splitter.end()
        }
      })
      assert.ok(growth <= LIMIT, `the time grows ${growth.toFixed(1)} times`)
    })
  }
})
