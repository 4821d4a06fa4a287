import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dialect } from '../src/kit/mapper.ts'
import { brief } from './brief.ts'
import { fixtureNames, mapFixture } from './support.ts'

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
