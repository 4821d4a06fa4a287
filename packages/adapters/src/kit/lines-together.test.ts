import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AT, fixtureNames, readFixture } from '../../test/support.ts'
import { dialects } from '../dialects.ts'
import type { MappedEvent } from './activity.ts'
import type { LedgerSums } from './ledger.ts'
import type { Dialect, Mapper } from './mapper.ts'
import { createMapper } from './mapping.ts'

/** Returns more lines than are parsed at once, some of which are not records. */
function linesOf(dialect: Dialect): readonly string[] {
  const recorded = fixtureNames(dialect.id).flatMap((name) => readFixture(dialect.id, name).lines)
  return recorded.flatMap((line, at) => (at % 9 === 0 ? [line, line.slice(3), ''] : [line]))
}

function map(dialect: Dialect, read: (mapper: Mapper) => void): { events: MappedEvent[]; sums: LedgerSums } {
  const events: MappedEvent[] = []
  const mapper = createMapper(dialect, { cwd: '/workspace', emit: (event) => events.push(event) })
  read(mapper)
  mapper.end({ exitCode: 0 }, AT)
  return { events, sums: mapper.ledger.sums() }
}

describe('lines that come together', () => {
  for (const dialect of dialects) {
    it(`are read like lines that come one by one: ${dialect.id}`, () => {
      const lines = linesOf(dialect)
      const together = map(dialect, (mapper) => mapper.lines(lines, AT))
      const oneByOne = map(dialect, (mapper) => {
        for (const line of lines) mapper.line(line, AT)
      })
      assert.equal(together.sums.lines, lines.length)
      assert.deepEqual(together, oneByOne)
    })
  }
})
