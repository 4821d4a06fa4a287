import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { dialects, liveDialects } from '../src/dialects.ts'
import type { Dialect } from '../src/kit/mapper.ts'
import { createMapper } from '../src/kit/mapping.ts'
import { mutateLine, pseudoRandom } from './mutate.ts'
import { AT, fixtureNames, readFixture } from './support.ts'

/** Mutated lines for each dialect. */
const LINES = 16_000

/** Feeds lines to one run and checks what must hold whatever they are. Gives the number of activity events. */
function check(dialect: Dialect, lines: readonly string[], stderr: readonly string[] = []): number {
  let events = 0
  let finishes = 0
  const calls = new Set<string>()
  const results = new Set<string>()
  const problems: string[] = []
  const mapper = createMapper(dialect, {
    cwd: '/workspace',
    emit: (event) => {
      events += event.activity?.events.length ?? 0
      if (event.type === 'finish') finishes += 1
      if (event.type === 'tool-call') {
        if (typeof event.toolName !== 'string') problems.push(`a tool named ${String(event.toolName)}`)
        if (calls.has(event.toolCallId)) problems.push(`two calls ${event.toolCallId}`)
        calls.add(event.toolCallId)
      }
      if (event.type === 'tool-result') {
        if (results.has(event.toolCallId)) problems.push(`two results of ${event.toolCallId}`)
        results.add(event.toolCallId)
      }
    },
  })
  for (const line of stderr) mapper.stderr(line, AT)
  for (const line of lines) mapper.line(line, AT)
  mapper.end({ exitCode: 0 }, AT)
  assert.deepEqual(problems, [])
  const sums = mapper.ledger.sums()
  const seen = JSON.stringify(sums)
  assert.equal(sums.lines, lines.length + stderr.length, seen)
  assert.equal(sums.events + sums.consumed, sums.lines, seen)
  assert.equal(sums.waiting, 0, seen)
  assert.equal(sums.faults, 0, seen)
  assert.equal(sums.reasons['unexplained'], undefined, seen)
  assert.ok(events >= (sums.events > 0 ? 1 : 0))
  assert.equal(finishes, 1)
  return events
}

describe('lines nobody wrote on purpose', () => {
  for (const dialect of [...dialects, ...liveDialects]) {
    const title = liveDialects.includes(dialect) ? `${dialect.id}, live` : dialect.id

    it(`${title}: ${LINES} mutated lines: no throw, no loss`, () => {
      const fixtures = fixtureNames(dialect.id).map((name) => readFixture(dialect.id, name).lines)
      assert.ok(fixtures.flat().length > 0, 'there is nothing to mutate')
      const random = pseudoRandom(0x5eed)
      let read = 0
      for (let round = 0; read < LINES; round += 1) {
        for (const lines of fixtures) {
          const mutated = lines.flatMap((line) => mutateLine(line, lines, random, round))
          check(dialect, mutated)
          read += mutated.length
        }
      }
      assert.ok(read >= LINES)
    })

    it(`${title}: any text on both streams`, () => {
      const line = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'grapheme' }),
        fc.json(),
        fc.constantFrom('\u0000', '\ufeff{}', '{', '}', '{"', '\ud800', '{"type":"result"}x{"type":"turn.started"}'),
      )
      fc.assert(
        fc.property(fc.array(line, { maxLength: 20 }), fc.array(line, { maxLength: 5 }), (lines, stderr) => {
          check(dialect, lines, stderr)
        }),
        { numRuns: 150, seed: 7 },
      )
    })

    it(`${title}: records with known types and any content`, () => {
      const shapes = knownShapes(dialect.id)
      const anything = fc.dictionary(
        fc.constantFrom(...shapes.keys),
        fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(...shapes.values)),
      )
      const nested = fc.dictionary(
        fc.constantFrom(...shapes.keys),
        fc.oneof(anything, fc.constantFrom(...shapes.values), fc.array(anything)),
      )
      fc.assert(
        fc.property(fc.array(nested, { minLength: 1, maxLength: 15 }), (records) => {
          check(
            dialect,
            records.map((record) => JSON.stringify(record)),
          )
        }),
        { numRuns: 120, seed: 11 },
      )
    })
  }
})

/** The keys and short strings that a dialect's fixtures are made of: random records of these reach every branch. */
function knownShapes(id: string): { readonly keys: readonly string[]; readonly values: readonly string[] } {
  const keys = new Set<string>()
  const values = new Set<string>()
  const visit = (value: JsonValue): void => {
    if (typeof value === 'string' && value.length < 40) values.add(value)
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const item of value as readonly JsonValue[]) visit(item)
      return
    }
    for (const [key, item] of Object.entries(value as JsonObject)) {
      keys.add(key)
      visit(item)
    }
  }
  for (const name of fixtureNames(id)) {
    for (const line of readFixture(id, name).lines) {
      try {
        visit(JSON.parse(line) as JsonValue)
      } catch {
        values.add(line.slice(0, 40))
      }
    }
  }
  return { keys: [...keys], values: [...values] }
}
