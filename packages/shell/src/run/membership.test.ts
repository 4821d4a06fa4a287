import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isGroupOfRoot, membersOf } from './membership.ts'
import type { Snapshot } from './membership.ts'
import type { ProcessStat } from './procfs.ts'

const self = 99

function process(pid: number, parent: number, more: Partial<ProcessStat> = {}): ProcessStat {
  return {
    pid,
    parent,
    name: 'x',
    group: pid,
    session: pid,
    startTime: 100,
    zombie: false,
    headless: false,
    kernel: false,
    ...more,
  }
}

function snapshot(processes: readonly ProcessStat[], tagged: readonly number[] = []): Snapshot {
  return {
    processes: new Map(processes.map((one) => [one.pid, one])),
    tagged: new Map(tagged.map((pid) => [pid, ['r1']])),
  }
}

const pids = (processes: readonly ProcessStat[]): number[] => processes.map(({ pid }) => pid).sort((a, b) => a - b)

describe('membersOf', () => {
  it('takes what carries the tag and everything below it', () => {
    const all = [process(10, 1), process(11, 10), process(12, 11), process(20, 1), process(21, 20)]
    assert.deepEqual(pids(membersOf(snapshot(all, [10]), [], [], self)), [10, 11, 12])
  })

  it('takes the session of a root that is there, tagged or not', () => {
    const all = [process(10, 1), process(15, 1, { session: 10 }), process(16, 15), process(20, 1)]
    const root = { pid: 10, startTime: 100 }
    assert.deepEqual(pids(membersOf(snapshot(all), [root], [], self)), [10, 15, 16])
  })

  it('takes the session of a root that is a zombie, but not the zombie', () => {
    const all = [process(10, self, { zombie: true }), process(15, 1, { session: 10 })]
    assert.deepEqual(pids(membersOf(snapshot(all), [{ pid: 10, startTime: 100 }], [], self)), [15])
  })

  it('leaves alone a process that has the pid and the session number of a dead root', () => {
    const all = [process(10, 1, { startTime: 500 }), process(15, 10, { session: 10, startTime: 510 })]
    assert.deepEqual(membersOf(snapshot(all), [{ pid: 10, startTime: 100 }], [], self), [])
    assert.deepEqual(membersOf(snapshot(all), [{ pid: 10, startTime: 100, exitedAt: 300 }], [], self), [])
    assert.deepEqual(membersOf(snapshot(all), [{ pid: 10, startTime: null }], [], self), [])
  })

  it('takes who was in the session of a root before that root ended', () => {
    const all = [process(15, 1, { session: 10, startTime: 200 }), process(16, 1, { session: 10, startTime: 400 })]
    assert.deepEqual(pids(membersOf(snapshot(all), [{ pid: 10, startTime: 100, exitedAt: 300 }], [], self)), [15])
    assert.deepEqual(membersOf(snapshot(all), [{ pid: 10, startTime: 100 }], [], self), [])
  })

  it('takes whom it knew before, wherever it went, unless the pid means another process now', () => {
    const all = [process(10, 1), process(11, 10), process(20, 1, { startTime: 500 })]
    const known = [
      { pid: 10, startTime: 100, name: 'x' },
      { pid: 20, startTime: 100, name: 'x' },
    ]
    assert.deepEqual(pids(membersOf(snapshot(all), [], known, self)), [10, 11])
  })

  it('never takes ourselves, nor what is only below us', () => {
    const all = [process(10, 1), process(self, 10), process(50, self), process(51, self)]
    assert.deepEqual(pids(membersOf(snapshot(all, [10, self, 51]), [], [], self)), [10, 51])
  })

  it('never takes init, ourselves or a zombie, and is closed below what it takes, for any process table', () => {
    const anyProcess = fc.record({
      pid: fc.integer({ min: 1, max: 30 }),
      parent: fc.integer({ min: 0, max: 30 }),
      session: fc.integer({ min: 1, max: 30 }),
      startTime: fc.integer({ min: 0, max: 5 }),
      zombie: fc.boolean(),
    })
    const property = fc.property(
      fc.uniqueArray(anyProcess, { selector: ({ pid }) => pid, maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 5 }),
      fc.record({ pid: fc.integer({ min: 1, max: 30 }), startTime: fc.integer({ min: 0, max: 5 }) }),
      (table, tagged, root) => {
        const all = table.map(({ pid, parent, ...more }) => process(pid, parent, more))
        const members = membersOf(snapshot(all, tagged), [root], [], 7)
        const taken = new Set(pids(members))
        assert.ok(!taken.has(1) && !taken.has(7) && members.every(({ zombie }) => !zombie))
        for (const one of all) {
          const mustBeTaken = !one.zombie && one.pid > 1 && one.pid !== 7 && taken.has(one.parent)
          if (mustBeTaken) assert.ok(taken.has(one.pid), `${one.pid} below ${one.parent}`)
        }
      },
    )
    fc.assert(property, { numRuns: 500 })
  })
})

describe('isGroupOfRoot', () => {
  const root = { pid: 10, startTime: 100 }

  it('is true while the root is there, and while a member is in its group', () => {
    assert.equal(isGroupOfRoot(root, snapshot([process(10, 1)]), []), true)
    assert.equal(isGroupOfRoot(root, snapshot([process(10, self, { zombie: true })]), []), true)
    assert.equal(isGroupOfRoot(root, snapshot([]), [process(15, 1, { group: 10 })]), true)
  })

  it('is false when the number is free or belongs to another process', () => {
    assert.equal(isGroupOfRoot(root, snapshot([]), [process(15, 1)]), false)
    assert.equal(isGroupOfRoot(root, snapshot([process(10, 1, { startTime: 500 })]), []), false)
  })
})
