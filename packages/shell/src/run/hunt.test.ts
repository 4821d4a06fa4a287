import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Hunt } from './hunt.ts'
import type { ProcessStat, ProcessTable } from './procfs.ts'
import { newRunId } from './run-tag.ts'

/** Two thousand processes, of which only the newest belong to a run, and a count of what was read of them. */
function crowd(tagged: ReadonlyMap<number, string>): { readonly table: ProcessTable; readonly read: number[] } {
  const read: number[] = []
  const stat = (pid: number): ProcessStat => {
    const ids = { pid, name: 'p', parent: 1, group: pid, session: pid }
    return { ...ids, startTime: pid * 10, zombie: false, headless: false, kernel: false }
  }
  const table: ProcessTable = {
    available: true,
    pids: () => Array.from({ length: 2_000 }, (_, index) => 1_000_000 + index),
    stat,
    runIds: ({ pid }) => {
      read.push(pid)
      const runId = tagged.get(pid)
      return runId === undefined ? ['another'] : [runId]
    },
    mark: () => undefined,
    ticksSinceBoot: () => 30_000_000,
    bootId: () => 'boot',
  }
  return { table, read }
}

describe('the hunt for the processes of a run', () => {
  const root = 1_001_990
  const runId = newRunId()
  const tagged = new Map([
    [root, runId],
    [root + 3, runId],
  ])

  it('does not look into processes that are older than the run', async () => {
    const { read, table } = crowd(tagged)
    const hunt = new Hunt(table, [{ runId, root: { pid: root, startTime: root * 10 } }])
    const { members } = await hunt.look()
    assert.deepEqual(
      members.map(({ pid }) => pid),
      [root, root + 3],
    )
    assert.deepEqual(
      read,
      Array.from({ length: 10 }, (_, index) => root + index),
    )
  })

  it('looks into all when it is not known when a run began', async () => {
    const { read, table } = crowd(tagged)
    const { members } = await new Hunt(table, [{ runId }]).look()
    assert.deepEqual([members.length, read.length], [2, 2_000])
  })
})
