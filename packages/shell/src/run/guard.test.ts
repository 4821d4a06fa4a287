import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import type { HostReport } from '../../test/run/host-program.ts'
import { canMark } from '../../test/run/marks.ts'
import { deafInOwnSession, inOwnSession, isAlive, LineReader, until } from '../../test/run/processes.ts'
import { capabilities, hostTable } from './capabilities.ts'
import { encodeCommand, parseCommand } from './guard-protocol.ts'
import type { GuardCommand } from './guard-protocol.ts'
import { hostGuard } from './guard.ts'
import { findTagged } from './kill-tree.ts'
import { LineStream } from './line-stream.ts'
import { spawnRun } from './spawn-run.ts'

const hostProgram = new URL('../../test/run/host-program.ts', import.meta.url).pathname

interface Host {
  readonly child: ChildProcess
  report(): Promise<HostReport>
  order(text: string): void
}

/** Starts a real host process, with the given shell commands as its runs. */
function startHost(commands: readonly string[], env: NodeJS.ProcessEnv = process.env): Host {
  const child = spawn(process.execPath, [hostProgram, JSON.stringify(commands)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  })
  const reader = new LineReader(new LineStream(child.stdout))
  return {
    child,
    report: async () => JSON.parse(await reader.next()) as HostReport,
    order: (text) => child.stdin.write(`${text}\n`),
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

async function untilAllIsOver(report: HostReport): Promise<void> {
  for (const { runId } of report.runs) {
    await until(`nothing carries ${runId}`, async () => (await findTagged(runId)).length === 0)
  }
  const pids = [report.guardPid, ...report.runs.flatMap(({ pid, printed }) => [pid, Number(printed)])]
  await until('the guard and all processes are gone', () => !pids.some(isAlive))
}

if (capabilities.reach === 'tree') {
  describe('when the host is killed with SIGKILL', () => {
    it('everything it has started dies: groups, own sessions, double forks and what ignores SIGTERM', async () => {
      const host = startHost([
        'echo $$; sleep 1000',
        `${inOwnSession('exec sleep 1000')}; sleep 1000`,
        '( ( sleep 1000 & echo $! ) & ); sleep 1000',
        `${deafInOwnSession()}; trap "" TERM; while :; do sleep 1000; done`,
      ])
      const report = await host.report()
      assert.equal(report.runs.length, 4)
      assert.ok(report.runs.every(({ pid, printed }) => isAlive(pid) && isAlive(Number(printed))))
      await kill(host.child)
      await untilAllIsOver(report)
    })

    it(
      'a daemon that has cleared its environment dies, in a session of its own, after its run',
      { skip: !canMark },
      async () => {
        const host = startHost([inOwnSession('exec sleep 1000', '{}')])
        const report = await host.report()
        await until('the run itself has ended', () => !report.runs.some(({ pid }) => isAlive(pid)))
        assert.ok(report.runs.every(({ printed }) => isAlive(Number(printed))))
        await kill(host.child)
        await untilAllIsOver(report)
      },
    )

    it('processes that outlived their run die, too', async () => {
      const host = startHost([inOwnSession('exec sleep 1000')])
      const report = await host.report()
      const [run] = report.runs
      assert.ok(run)
      await until('the run itself has ended', () => !isAlive(run.pid))
      assert.ok(isAlive(Number(run.printed)))
      await kill(host.child)
      await untilAllIsOver(report)
    })

    it('a guard that took the place of a killed one does the same', async () => {
      const host = startHost(['echo $$; sleep 1000'])
      const first = await host.report()
      process.kill(first.guardPid, 'SIGKILL')
      let second = first
      await until('there is a new guard', async () => {
        host.order('report')
        second = await host.report()
        return second.guardPid !== first.guardPid && second.guardPid !== 0
      })
      assert.ok(second.runs.every(({ pid }) => isAlive(pid)))
      await kill(host.child)
      await untilAllIsOver(second)
    })
  })

  describe('the guard', () => {
    it('ends what is left when the host exits by itself', async () => {
      const host = startHost(['echo $$; sleep 1000'])
      const report = await host.report()
      host.order('exit')
      assert.deepEqual(await once(host.child, 'exit'), [0, null])
      await untilAllIsOver(report)
    })

    it('does not keep the host alive, and exits with it', async () => {
      const host = startHost(['echo $$'])
      const report = await host.report()
      assert.ok(isAlive(report.guardPid))
      host.child.stdin?.end()
      assert.deepEqual(await once(host.child, 'exit'), [0, null])
      await untilAllIsOver(report)
    })

    it('is in a session of its own and carries no tag, also when its host does', async () => {
      const host = startHost(['echo $$'], { ...process.env, INSPAN_RUN: 'around-the-host' })
      const report = await host.report()
      const guard = hostTable.stat(report.guardPid)
      assert.ok(guard)
      assert.equal(guard.session, guard.pid)
      assert.deepEqual(hostTable.runIds(guard) ?? [], [])
      host.order('exit')
      await untilAllIsOver(report)
    })

    it(
      'does not carry the mark of the run that its host is part of, but what its host runs does',
      { skip: !canMark },
      async () => {
        const inner = JSON.stringify([inOwnSession('exec sleep 1000', '{}')])
        const around = await spawnRun({ command: process.execPath, args: [hostProgram, inner], stdin: 'open' })
        around.stderr.discard()
        const report = JSON.parse(await new LineReader(around.stdout).next()) as HostReport
        const tagged = new Set((await findTagged(around.runId)).map(({ pid }) => pid))
        assert.ok(!tagged.has(report.guardPid))
        assert.ok(report.runs.every(({ printed }) => tagged.has(Number(printed))))
        await around.kill({ graceMs: 0 })
        await untilAllIsOver(report)
      },
    )

    it('outlives the signals a terminal or a service manager sends to everybody', async () => {
      const run = await spawnRun({ command: '/bin/sh', args: ['-c', 'echo $$; sleep 1000'] })
      const guardPid = hostGuard.pid ?? 0
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(guardPid, signal)
      await hostGuard.register('after-the-signals')
      assert.equal(hostGuard.pid, guardPid)
      hostGuard.release('after-the-signals')
      await run.kill({ graceMs: 0 })
    })

    it('is started again for the next run when it died while there was none', async () => {
      const first = await spawnRun({ command: 'true' })
      await first.exited
      await first.kill()
      const guardPid = hostGuard.pid ?? 0
      process.kill(guardPid, 'SIGKILL')
      await until('it is gone', () => !isAlive(guardPid))
      const second = await spawnRun({ command: 'true' })
      assert.notEqual(hostGuard.pid, guardPid)
      await second.exited
    })

    it('confirms a registration that was under way when it died', async () => {
      await hostGuard.register('kept')
      const guardPid = hostGuard.pid ?? 0
      process.kill(guardPid, 'SIGSTOP')
      const confirmed = hostGuard.register('under-way')
      process.kill(guardPid, 'SIGKILL')
      await confirmed
      assert.notEqual(hostGuard.pid, guardPid)
      hostGuard.release('kept')
      hostGuard.release('under-way')
    })
  })
}

describe('guard protocol', () => {
  it('carries every command over a line', () => {
    const commands: GuardCommand[] = [
      { type: 'add', runId: 'r1' },
      { type: 'remove', runId: 'r1' },
      { type: 'root', runId: 'r1', root: { pid: 12, startTime: 34 } },
      { type: 'root', runId: 'r1', root: { pid: 12, startTime: 34, exitedAt: 56 } },
      { type: 'root', runId: 'r1', root: { pid: 12, startTime: null } },
    ]
    for (const command of commands) {
      const line = encodeCommand(command)
      assert.match(line, /^[^\n]+\n$/)
      assert.deepEqual(parseCommand(line.trimEnd()), command)
    }
  })

  it('ignores what it does not understand', () => {
    for (const line of ['', 'add', 'add ', 'kill r1', 'root r1', 'root r1 x 1 1', 'root r1 -5 1 1']) {
      assert.equal(parseCommand(line), undefined)
    }
  })
})
