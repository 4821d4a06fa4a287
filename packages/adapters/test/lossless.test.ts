import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialects, liveDialects } from '../src/dialects.ts'
import { createMapper } from '../src/kit/mapping.ts'
import { AT, fixtureNames, mapFixture, readFixture } from './support.ts'

describe('every line is counted once', () => {
  for (const dialect of [...dialects, ...liveDialects]) {
    const names = fixtureNames(dialect.id)
    const title = liveDialects.includes(dialect) ? `${dialect.id}, live` : dialect.id

    it(`${title} has fixtures`, () => {
      assert.ok(names.length > 0)
    })

    for (const name of names) {
      it(`${title}: ${name}`, () => {
        const fixture = readFixture(dialect.id, name)
        const accounted = { event: 0, waiting: 0, consumed: 0 }
        const mapper = createMapper(dialect, { cwd: '/workspace', emit: () => {} })
        const count = (text: string, read: 'line' | 'stderr'): void => {
          accounted[mapper[read](text, AT).kind] += 1
          const { lines, events, waiting, consumed } = mapper.ledger.sums()
          assert.equal(events + waiting + consumed, lines)
        }
        for (const line of fixture.stderr) count(line, 'stderr')
        for (const line of fixture.lines) count(line, 'line')
        mapper.end(fixture.end, AT)

        const sums = mapper.ledger.sums()
        assert.equal(sums.lines, fixture.lines.length + fixture.stderr.length)
        assert.equal(accounted.event + accounted.waiting + accounted.consumed, sums.lines)
        assert.equal(sums.waiting, 0)
        assert.equal(sums.events + sums.consumed, sums.lines)
        assert.equal(sums.reasons['unexplained'], undefined)
        assert.equal(sums.faults, 0)
      })

      it(`${title}: ${name} has one start, one finish, one end per call and at most one error`, () => {
        const { events, activity } = mapFixture(dialect, name)
        assert.equal(events.filter((event) => event.type === 'start').length, 1)
        assert.equal(events.filter((event) => event.type === 'finish').length, 1)
        assert.equal(events.at(-1)?.type, 'finish')
        assert.ok(events.filter((event) => event.type === 'error').length <= 1)
        const calls = events.flatMap((event) => (event.type === 'tool-call' ? [event.toolCallId] : []))
        const results = events.flatMap((event) => (event.type === 'tool-result' ? [event.toolCallId] : []))
        assert.deepEqual(new Set(calls).size, calls.length)
        for (const id of calls) assert.equal(results.filter((result) => result === id).length, 1, id)
        for (const event of activity) assert.equal(event.timestamp, new Date(AT).toISOString())
      })

      it(`${title}: ${name} gives the same events again`, () => {
        assert.deepEqual(mapFixture(dialect, name).events, mapFixture(dialect, name).events)
      })
    }
  }
})
