import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { canMark } from '../../test/run/marks.ts'
import {
  deafInOwnSession,
  inOwnSession,
  isAlive,
  LineReader,
  printedPids,
  unmarked,
  until,
} from '../../test/run/processes.ts'
import type { HostReport } from '../../test/run/host-program.ts'
import { capabilities, hostTable } from './capabilities.ts'
import { killGroups } from './kill-group.ts'
import { findTagged, killTree } from './kill-tree.ts'
import { newRunId } from './run-tag.ts'
import { spawnRun } from './spawn-run.ts'
import type { RunProcess } from './run-process.ts'

const hostProgram = new URL('../../test/run/host-program.ts', import.meta.url).pathname

function runShell(script: string): Promise<RunProcess> {
  return spawnRun({ command: '/bin/sh', args: ['-c', script] })
}

/** For tests in which nothing must need SIGKILL, even on a busy machine. */
const patient = { graceMs: 60_000 }

const pidsOf = (processes: readonly { pid: number }[]): number[] => processes.map(({ pid }) => pid)

async function assertNothingIsLeft(run: RunProcess, pids: readonly number[]): Promise<void> {
  assert.deepEqual(await findTagged(run.runId), [])
  assert.deepEqual(pids.filter(isAlive), [])
}

if (capabilities.reach === 'tree') {
  describe('killTree', () => {
    it('ends a process that obeys without killing it', async () => {
      const run = await runShell('echo $$; sleep 1000')
      const pids = await printedPids(run, 1)
      assert.deepEqual(await run.kill(patient), { how: 'clean', killed: [], left: [] })
      assert.deepEqual(await run.exited, { code: null, signal: 'SIGTERM' })
      await assertNothingIsLeft(run, pids)
    })

    it('lets a process end in its own way on the signal it is asked with', async () => {
      const run = await runShell('trap "echo bye; exit 7" INT; echo ready; while :; do sleep 0.05; done')
      run.stderr.discard()
      const reader = new LineReader(run.stdout)
      await reader.next()
      assert.equal((await run.kill({ ...patient, signal: 'SIGINT' })).how, 'clean')
      assert.deepEqual(await run.exited, { code: 7, signal: null })
      assert.deepEqual(await reader.rest(), ['bye'])
    })

    it('kills a child that ignores SIGTERM', async () => {
      const run = await runShell('trap "" TERM; echo $$; while :; do sleep 1000; done')
      const [pid] = await printedPids(run, 1)
      const receipt = await run.kill({ graceMs: 100 })
      assert.equal(receipt.how, 'killed')
      assert.ok(pidsOf(receipt.killed).includes(pid ?? 0))
      assert.deepEqual(receipt.left, [])
      assert.deepEqual(await run.exited, { code: null, signal: 'SIGKILL' })
      await assertNothingIsLeft(run, [pid ?? 0])
    })

    it('ends grandchildren that were re-parented by a double fork', async () => {
      const run = await runShell('( ( sleep 1000 & echo $! ) & ); echo $$; sleep 1000')
      const pids = await printedPids(run, 2)
      assert.equal((await run.kill(patient)).how, 'clean')
      await assertNothingIsLeft(run, pids)
    })

    it('ends grandchildren in sessions of their own', async () => {
      const run = await runShell(`${inOwnSession('exec sleep 1000')}; ${inOwnSession('exec sleep 1000')}; sleep 1000`)
      const pids = await printedPids(run, 2)
      assert.ok(pids.every((pid) => hostTable.stat(pid)?.session === pid))
      assert.deepEqual(pidsOf(await findTagged(run.runId)).filter((pid) => pids.includes(pid)).length, 2)
      assert.equal((await run.kill(patient)).how, 'clean')
      await assertNothingIsLeft(run, pids)
    })

    it('kills what ignores SIGTERM in a session of its own after the CLI itself has exited', async () => {
      const run = await runShell(deafInOwnSession())
      const pids = await printedPids(run, 1)
      await run.processExited
      const receipt = await run.kill({ graceMs: 100 })
      assert.equal(receipt.how, 'killed')
      await assertNothingIsLeft(run, pids)
    })

    it('ends what is started in answer to the polite signal', async () => {
      const fork = deafInOwnSession()
      const run = await runShell(
        `trap '${fork.replaceAll("'", `'\\''`)}; exit 0' TERM; echo ready; while :; do sleep 0.05; done`,
      )
      run.stderr.discard()
      const reader = new LineReader(run.stdout)
      await reader.next()
      const receipt = await run.kill({ graceMs: 1000 })
      const [late] = await reader.rest()
      assert.equal(receipt.how, 'killed')
      await assertNothingIsLeft(run, [Number(late)])
    })

    it('ends processes that keep forking while they are killed', async () => {
      const breed = 'breed() { trap "" TERM; while :; do sleep 1000 & sleep 0.01; done; }'
      const run = await runShell(`${breed}; breed & breed & breed & ${inOwnSession(`${breed}; breed`)}; breed`)
      const pids = await printedPids(run, 1)
      const receipt = await run.kill({ graceMs: 50 })
      assert.equal(receipt.how, 'killed')
      assert.deepEqual(receipt.left, [])
      await assertNothingIsLeft(run, pids)
    })

    it('ends a chain in which every process starts the next one and exits', async () => {
      const link = 'n=0; while [ $n -lt 50 ]; do n=$((n+1)); done; /bin/sh -c "$LINK" &'
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const run = await spawnRun({ command: '/bin/sh', args: ['-c', link], env: { ...process.env, LINK: link } })
        run.stdout.discard()
        run.stderr.discard()
        await run.processExited
        const receipt = await run.kill({ graceMs: 0 })
        assert.equal(receipt.how, 'killed')
        await assertNothingIsLeft(run, pidsOf(receipt.killed))
      }
    })

    it(
      'ends a daemon that has cleared its environment, in a session of its own, after its parents have exited',
      { skip: !canMark },
      async () => {
        const run = await runShell(inOwnSession('exec sleep 1000', '{}'))
        const pids = await printedPids(run, 1)
        await run.exited
        assert.deepEqual(pidsOf(await findTagged(run.runId)), pids)
        assert.equal((await run.kill(patient)).how, 'clean')
        await assertNothingIsLeft(run, pids)
      },
    )

    it('ends a process that has cleared its environment and is still in the tree', async () => {
      const run = await runShell(
        `${unmarked}; echo $$; ${inOwnSession('exec sleep 1000', '{}').replace(/c\.unref\(\)/, 'setInterval(() => 0, 1000)')}`,
      )
      const pids = await printedPids(run, 2)
      assert.ok(!pidsOf(await findTagged(run.runId)).includes(pids[1] ?? 0))
      await run.kill({ graceMs: 0 })
      await assertNothingIsLeft(run, pids)
    })

    it('ends a process that has cleared its environment in the session of a root that has exited', async () => {
      const run = await runShell(
        `${unmarked}; env -i /bin/sh -c "echo \\$\\$; exec sleep 1000 >/dev/null 2>&1" & wait_for_nothing=1`,
      )
      const pids = await printedPids(run, 1)
      await run.exited
      await until('it is re-parented', () => hostTable.stat(pids[0] ?? 0)?.parent !== run.pid)
      assert.deepEqual(await findTagged(run.runId), [])
      assert.equal((await run.kill(patient)).how, 'clean')
      await assertNothingIsLeft(run, pids)
    })

    it('asks a stopped process so that it can react', async () => {
      const run = await runShell('echo $$; kill -STOP $$; sleep 1000')
      const pids = await printedPids(run, 1)
      assert.equal((await run.kill(patient)).how, 'clean')
      await assertNothingIsLeft(run, pids)
    })

    it('does not count zombies', async () => {
      // The child ends once its parent is `sleep`: a shell may reap it before.
      const child = '(until read name < /proc/$$/comm && [ "$name" = sleep ]; do :; done)'
      const run = await runShell(`${child} & echo $!; exec sleep 1000`)
      const [zombie] = await printedPids(run, 1)
      await until('the child is a zombie', () => hostTable.stat(zombie ?? 0)?.zombie === true)
      assert.deepEqual(pidsOf(await findTagged(run.runId)), [run.pid])
      assert.equal((await run.kill(patient)).how, 'clean')
    })

    it('reports when there is nothing to end', async () => {
      assert.deepEqual(await killTree({ runId: newRunId() }), { how: 'gone', killed: [], left: [] })
      const run = await runShell('exit 3')
      assert.deepEqual(await run.exited, { code: 3, signal: null })
      assert.deepEqual(await run.kill(), { how: 'gone', killed: [], left: [] })
    })

    it('leaves all other processes alone', async () => {
      const run = await runShell('echo $$; sleep 1000')
      await printedPids(run, 1)
      const similar = await spawnRun({ command: 'sleep', args: ['1000'], runId: `${run.runId}x` })
      const untagged = spawn('sleep', ['1000'], { stdio: 'ignore', env: { OTHER: `INSPAN_RUN=${run.runId}` } })
      await once(untagged, 'spawn')
      await run.kill({ graceMs: 0 })
      assert.ok(isAlive(similar.pid))
      assert.ok(isAlive(untagged.pid ?? 0))
      untagged.kill('SIGKILL')
      await similar.kill({ graceMs: 0 })
    })

    it('does not touch a process that has the pid of a root by now', async () => {
      const bystander = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true })
      await once(bystander, 'spawn')
      const pid = bystander.pid ?? 0
      const startTime = (hostTable.stat(pid)?.startTime ?? 0) - 1
      assert.equal((await killTree({ runId: newRunId(), root: { pid, startTime } })).how, 'gone')
      assert.ok(isAlive(pid))
      bystander.kill('SIGKILL')
    })

    it('never kills the process that asks', async () => {
      const script = `sleep 1000 & "${process.execPath}" "${hostProgram}" "[]"; echo host ended`
      const run = await spawnRun({ command: '/bin/sh', args: ['-c', script], stdin: 'open' })
      run.stderr.discard()
      const reader = new LineReader(run.stdout)
      const host = JSON.parse(await reader.next()) as HostReport
      await run.write('kill my own run\n')
      const killed = JSON.parse(await reader.next()) as number[]
      assert.ok(killed.includes(run.pid))
      assert.ok(!killed.includes(host.pid))
      await run.kill({ graceMs: 0 })
      await assertNothingIsLeft(run, [host.pid])
    })

    it('ends the runs of a host that runs inside the run, its strays and its guard', async () => {
      const inner = `${deafInOwnSession()}; sleep 1000`
      const args = [hostProgram, JSON.stringify([inner])]
      const outer = await spawnRun({ command: process.execPath, args, stdin: 'open' })
      outer.stderr.discard()
      const host = JSON.parse(await new LineReader(outer.stdout).next()) as HostReport
      const [innerRun] = host.runs
      assert.ok(innerRun)
      const pids = [host.pid, host.guardPid, innerRun.pid, Number(innerRun.printed)]
      assert.deepEqual(pids.filter(isAlive), pids)
      await outer.kill({ graceMs: 0 })
      await assertNothingIsLeft(outer, pids)
      assert.deepEqual(await findTagged(innerRun.runId), [])
    })
  })
}

describe('killGroups, for systems without /proc', () => {
  it('ends the group a run was started in', async () => {
    const run = await runShell('sleep 1000 & echo $!; exec sleep 1000')
    const pids = await printedPids(run, 1)
    const target = { runId: run.runId, root: { pid: run.pid, startTime: null } }
    assert.equal((await killGroups([target], 'SIGTERM', 60_000, 'group')).how, 'clean')
    assert.deepEqual([run.pid, ...pids].filter(isAlive), [])
    await run.exited
  })

  it('kills a group that ignores the polite signal', async () => {
    const run = await runShell('trap "" TERM; echo $$; exec sleep 1000')
    await printedPids(run, 1)
    const target = { runId: run.runId, root: { pid: run.pid, startTime: null } }
    const receipt = await killGroups([target], 'SIGTERM', 100, 'group')
    assert.equal(receipt.how, 'killed')
    assert.deepEqual(pidsOf(receipt.killed), [run.pid])
    await run.exited
  })

  it('leaves the number of a root that has ended alone', async () => {
    const bystander = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true })
    await once(bystander, 'spawn')
    const target = { runId: newRunId(), root: { pid: bystander.pid ?? 0, startTime: null, exitedAt: 0 } }
    assert.equal((await killGroups([target], 'SIGTERM', 0, 'group')).how, 'gone')
    assert.ok(isAlive(bystander.pid ?? 0))
    bystander.kill('SIGKILL')
  })
})
