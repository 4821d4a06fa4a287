import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertRunId, newRunId, runIdsIn, tagged } from './run-tag.ts'

const block = (...entries: string[]): Buffer => Buffer.from(entries.map((entry) => `${entry}\0`).join(''))

describe('run tag', () => {
  it('is found anywhere in an environment', () => {
    assert.deepEqual(runIdsIn(block('INSPAN_RUN=r1', 'PATH=/bin')), ['r1'])
    assert.deepEqual(runIdsIn(block('PATH=/bin', 'INSPAN_RUN=r1')), ['r1'])
    assert.deepEqual(runIdsIn(Buffer.from('PATH=/bin\0INSPAN_RUN=r1')), ['r1'])
  })

  it('is not found in another variable, in a value or in a name that only looks like it', () => {
    assert.deepEqual(runIdsIn(block('X_INSPAN_RUN=r1', 'A=INSPAN_RUN=r1', 'INSPAN_RUNS=r1', 'INSPAN_RUN')), [])
    assert.deepEqual(runIdsIn(Buffer.alloc(0)), [])
  })

  it('is added to the environment of a process', () => {
    assert.deepEqual(tagged({ A: '1' }, 'r1', {}), { A: '1', INSPAN_RUN: 'r1' })
  })

  it('keeps the runs around it when the host is part of a run itself', () => {
    const outer = tagged({}, 'outer', {})
    const inner = tagged({ A: '1' }, 'inner', outer)
    assert.deepEqual(inner, { A: '1', INSPAN_RUN: 'inner', INSPAN_RUN_OUTER: 'outer' })
    const innermost = tagged({}, 'innermost', inner)
    const environ = block(...Object.entries(innermost).map(([name, value]) => `${name}=${value ?? ''}`))
    assert.deepEqual(runIdsIn(environ).toSorted(), ['inner', 'innermost', 'outer'])
  })

  it('takes the runs around it from the host and not from the environment it is given', () => {
    assert.deepEqual(tagged({ INSPAN_RUN: 'stale', INSPAN_RUN_OUTER: 'stale' }, 'r1', {}), { INSPAN_RUN: 'r1' })
  })

  it('has an id that fits into a line, a variable and a file name', () => {
    assert.doesNotThrow(() => assertRunId(newRunId()))
    assert.notEqual(newRunId(), newRunId())
    for (const bad of ['', ' ', 'a b', 'a\nb', 'a,b', 'a\0b', '../x', '-x', 'a/b', 'x'.repeat(129)]) {
      assert.throws(() => assertRunId(bad), TypeError)
    }
  })
})
