import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { capabilities, hostTable } from './capabilities.ts'
import { parseStat, procfs } from './procfs.ts'

function statText(name: string, state: string, threads: number): string {
  return `4711 (${name}) ${state} 12 34 56 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 ${threads} 0 987654 0 0 18446744073709551615\n`
}

describe('parseStat', () => {
  it('reads parent, group, session and start time', () => {
    assert.deepEqual(parseStat(statText('node', 'S', 11)), {
      pid: 4711,
      name: 'node',
      parent: 12,
      group: 34,
      session: 56,
      startTime: 987654,
      zombie: false,
      headless: false,
      kernel: false,
    })
  })

  it('is not fooled by a name that looks like fields', () => {
    for (const name of ['a b', 'x) S 1 1 1 (y', '((', ') ', 'new\nline']) {
      const stat = parseStat(statText(name, 'R', 1))
      assert.equal(stat?.name, name)
      assert.equal(stat?.startTime, 987654)
    }
  })

  it('distinguishes a zombie from a process whose first thread only has ended', () => {
    assert.deepEqual(
      [parseStat(statText('a', 'Z', 1))?.zombie, parseStat(statText('a', 'Z', 1))?.headless],
      [true, false],
    )
    assert.deepEqual(
      [parseStat(statText('a', 'Z', 2))?.zombie, parseStat(statText('a', 'Z', 2))?.headless],
      [false, true],
    )
    assert.equal(parseStat(statText('a', 'X', 0))?.zombie, true)
  })

  it('gives nothing for what is no stat line', () => {
    for (const text of [undefined, '', '12', '12 (sh', '12 (sh) S 1 2']) assert.equal(parseStat(text), undefined)
  })
})

describe('procfs', () => {
  it('reports that it is not available where there is no /proc', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'inspan-proc-'))
    const table = procfs(dir)
    assert.equal(table.available, false)
    assert.deepEqual(table.pids(), [])
    assert.equal(table.stat(process.pid), undefined)
    assert.equal(table.bootId(), null)
    assert.equal(table.ticksSinceBoot(), null)
    await rm(dir, { recursive: true })
  })

  it('counts ticks without losing one to rounding', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'inspan-proc-'))
    for (const [uptime, ticks] of [
      ['2616.57 5000.00', 261657],
      ['0.29 0.00', 29],
      ['1.15 0.00', 115],
    ] as const) {
      await writeFile(join(dir, 'uptime'), `${uptime}\n`)
      assert.equal(procfs(dir).ticksSinceBoot(), ticks)
    }
    await rm(dir, { recursive: true })
  })

  it('leaves out an environment that it may not read', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'inspan-proc-'))
    await mkdir(join(dir, '4711', 'environ'), { recursive: true })
    const stat = parseStat(statText('sshd', 'S', 1))
    assert.ok(stat)
    assert.deepEqual(procfs(dir).runIds(stat), [])
    await rm(dir, { recursive: true })
  })

  it('looks at the other threads when the first one has ended', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'inspan-proc-'))
    await mkdir(join(dir, '4711', 'task', '4711', 'environ'), { recursive: true })
    await mkdir(join(dir, '4711', 'task', '4712'), { recursive: true })
    await writeFile(join(dir, '4711', 'task', '4712', 'environ'), 'A=1\0INSPAN_RUN=r1\0')
    const stat = parseStat(statText('server', 'Z', 2))
    assert.ok(stat)
    assert.deepEqual(procfs(dir).runIds(stat), ['r1'])
    await rm(dir, { recursive: true })
  })
})

if (capabilities.reach === 'tree') {
  describe('procfs on this machine', () => {
    it('knows this process and its start time', () => {
      const self = hostTable.stat(process.pid)
      assert.equal(self?.parent, process.ppid)
      const ticks = hostTable.ticksSinceBoot()
      assert.ok(self !== undefined && ticks !== null)
      const ageSeconds = (ticks - self.startTime) / 100
      assert.ok(Math.abs(ageSeconds - process.uptime()) < 10, `${ageSeconds} s, but ${process.uptime()} s`)
      assert.match(hostTable.bootId() ?? '', /^[0-9a-f-]{36}$/)
    })

    it('finds the tag in an environment of more than a megabyte', async () => {
      const filler = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`FILLER_${n}`, 'x'.repeat(100_000)]))
      const child = spawn('/bin/sh', ['-c', 'echo; read line'], {
        env: { ...filler, ZZ: 'INSPAN_RUN=not-this', INSPAN_RUN: 'r-huge' },
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      await once(child.stdout, 'data')
      const stat = hostTable.stat(child.pid ?? 0)
      assert.ok(stat)
      assert.deepEqual(hostTable.runIds(stat), ['r-huge'])
      child.stdin.end()
      await once(child, 'exit')
    })
  })
}
