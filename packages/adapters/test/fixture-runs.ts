import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Dialect } from '../src/kit/mapper.ts'
import { brief } from './brief.ts'
import { fixtureNames, mapFixture, mapRun, readFixture } from './support.ts'

/** Every fixture of a dialect gives the activity that is expected of it, in the words of `brief`. */
export function testRuns(title: string, dialect: Dialect, runs: Readonly<Record<string, readonly string[]>>): void {
  describe(title, () => {
    for (const [name, expected] of Object.entries(runs)) {
      it(name, () => assert.deepEqual(brief(mapFixture(dialect, name).activity), expected))
    }

    it('has an expectation for every run', () => {
      assert.deepEqual(Object.keys(runs).sort(), fixtureNames(dialect.id))
    })
  })
}

/** Whatever a run has said before and says afterwards, a record that the dialect does not know is told, once. */
export function testStrangers(title: string, dialect: Dialect): void {
  describe(`${title}: an unknown record is reported wherever it stands`, () => {
    for (const name of fixtureNames(dialect.id)) {
      it(`in ${name}`, () => {
        const { lines, end } = readFixture(dialect.id, name)
        const strangers = [-1, ...lines.keys()].map((after) => ({ type: 'never-heard-of', after }))
        const mixed = lines.flatMap((line, at) => [line, strangers[at + 1]])
        const { activity } = mapRun(dialect, [strangers[0], ...mixed], { end })
        const told = activity.flatMap((event) => (event.type === 'unknown' ? [event.raw] : []))
        for (const stranger of strangers) assert.equal(told.filter((raw) => isDeepStrictEqual(raw, stranger)).length, 1)
      })
    }
  })
}
