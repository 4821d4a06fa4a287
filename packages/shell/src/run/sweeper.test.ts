import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inOwnSession, printedPids, unmarked, until } from '../../test/run/processes.ts'
import { capabilities } from './capabilities.ts'
import { spawnRun } from './spawn-run.ts'
import { Sweeper } from './sweeper.ts'

describe('Sweeper', { skip: capabilities.reach !== 'tree' }, () => {
  it('reports when nothing is left of a run, and not before', async () => {
    const sweeper = new Sweeper()
    const gone: string[] = []
    const run = await spawnRun({ command: '/bin/sh', args: ['-c', inOwnSession('exec sleep 1000')] })
    await printedPids(run, 1)
    await run.exited
    sweeper.add({ runId: run.runId, onGone: () => gone.push('stray') })
    sweeper.add({ runId: 'never-started', onGone: () => gone.push('nothing') })
    await until('the first sweep is done', () => gone.length > 0)
    assert.deepEqual(gone, ['nothing'])

    await run.kill({ graceMs: 0 })
    sweeper.add({ runId: 'another', onGone: () => gone.push('another') })
    await until('the second sweep is done', () => gone.length > 1)
    assert.deepEqual(gone, ['nothing', 'stray', 'another'])
  })

  it('sees a process that has cleared its environment in the session of a root that has ended', async () => {
    const sweeper = new Sweeper()
    const gone: string[] = []
    const script = `${unmarked}; env -i /bin/sh -c "echo \\$\\$; exec sleep 1000 >/dev/null 2>&1" &`
    const run = await spawnRun({ command: '/bin/sh', args: ['-c', script] })
    await printedPids(run, 1)
    await run.exited
    const root = { pid: run.pid, startTime: run.startTime, exitedAt: Infinity }
    sweeper.add({ runId: run.runId, root, onGone: () => gone.push('stray') })
    sweeper.add({ runId: 'never-started', onGone: () => gone.push('nothing') })
    await until('the sweep is done', () => gone.length > 0)
    assert.deepEqual(gone, ['nothing'])
    await run.kill({ graceMs: 0 })
  })
})
