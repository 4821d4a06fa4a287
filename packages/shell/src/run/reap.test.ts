import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { inOwnSession, isAlive, printedPids } from '../../test/run/processes.ts'
import { capabilities, hostTable } from './capabilities.ts'
import { findTagged } from './kill-tree.ts'
import { reap } from './reap.ts'
import { newRunId } from './run-tag.ts'
import { spawnRun } from './spawn-run.ts'

describe('reap', { skip: !capabilities.reapAfterRestart }, () => {
  it('ends what is left of a recorded run', async () => {
    const script = `${inOwnSession('exec sleep 1000')}; sleep 1000`
    const run = await spawnRun({ command: '/bin/sh', args: ['-c', script] })
    const pids = await printedPids(run, 1)
    const receipt = await reap(run.record, { graceMs: 0 })
    assert.equal(receipt.how, 'killed')
    assert.deepEqual(await findTagged(run.runId), [])
    assert.deepEqual([run.pid, ...pids].filter(isAlive), [])
    assert.equal((await reap(run.record)).how, 'gone')
  })

  it('does nothing when the machine was started again since', async () => {
    const run = await spawnRun({ command: 'sleep', args: ['1000'] })
    assert.deepEqual(await reap({ ...run.record, bootId: 'another-boot' }), { how: 'gone', killed: [], left: [] })
    assert.ok(isAlive(run.pid))
    await run.kill({ graceMs: 0 })
  })

  it('does nothing to another process that has the pid now', async () => {
    const other = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    await once(other, 'spawn')
    const pid = other.pid ?? 0
    const startTime = (hostTable.stat(pid)?.startTime ?? 0) - 1
    const record = { runId: newRunId(), pid, startTime, bootId: hostTable.bootId() }
    assert.equal((await reap(record)).how, 'gone')
    assert.ok(isAlive(pid))
    other.kill('SIGKILL')
  })

  it('reports that it did nothing when the record cannot be verified', async () => {
    const run = await spawnRun({ command: 'sleep', args: ['1000'] })
    assert.equal((await reap({ ...run.record, startTime: null, bootId: null })).how, 'unverified')
    assert.ok(isAlive(run.pid))
    await run.kill({ graceMs: 0 })
  })
})
