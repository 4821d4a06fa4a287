import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { canMark } from '../../test/run/marks.ts'
import { readTexts } from '../../test/run/processes.ts'
import { hostTable } from './capabilities.ts'
import { firstMark, limitProgram, markOf } from './mark.ts'
import { interpreterIn, marked } from './marked-command.ts'
import { newRunId } from './run-tag.ts'
import { spawnRun } from './spawn-run.ts'

let dir = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'inspan-mark-'))
})
after(() => rm(dir, { recursive: true }))

describe('the mark of a run', () => {
  it('is a number of its own that nobody would set as a limit', () => {
    const marks = Array.from({ length: 1000 }, () => markOf(newRunId()))
    assert.equal(new Set(marks).size, marks.length)
    assert.ok(marks.every((mark) => Number.isSafeInteger(mark) && mark >= firstMark))
    assert.equal(markOf('a'), markOf('a'))
  })

  if (canMark) {
    it('is there from the first moment of the process, and the process is the one that was asked for', async () => {
      const run = await spawnRun({
        command: process.execPath,
        args: ['-p', 'JSON.stringify([process.pid, process.argv.slice(1)])', '--', '-x', 'a b', ''],
        stdin: 'open',
      })
      run.stderr.discard()
      assert.deepEqual(await readTexts(run.stdout), [JSON.stringify([run.pid, ['-x', 'a b', '']])])
      const shown = await spawnRun({ command: 'grep', args: ['locks', '/proc/self/limits'] })
      shown.stderr.discard()
      assert.match((await readTexts(shown.stdout)).join(), new RegExp(` ${markOf(shown.runId)} `))
    })

    it('is on nobody else', () => {
      const self = hostTable.stat(process.pid)
      assert.ok(self)
      assert.ok((hostTable.mark(self) ?? 0) < firstMark)
    })
  }
})

describe('a command that cannot be started', () => {
  const mark = (command: string): ReturnType<typeof marked> =>
    marked({ command, cwd: dir, env: { PATH: `/nowhere:${dir}` } }, [], 'r1')

  async function file(name: string, content: string | Buffer, mode = 0o755): Promise<string> {
    await writeFile(join(dir, name), content)
    await chmod(join(dir, name), mode)
    return join(dir, name)
  }

  it('is left to the kernel, which explains why', async () => {
    const sh = await file('fine', '#!/bin/sh\n')
    if (canMark) assert.deepEqual((await mark('fine'))?.args.slice(1), ['--', 'fine'])
    assert.equal(await mark('missing'), undefined)
    assert.equal(await mark(await file('plain', '#!/bin/sh\n', 0o644)), undefined)
    assert.equal(await mark(await file('lost', '#!/no/such/thing\n')), undefined)
    assert.equal(await mark(await file('odd', 'neither script nor program')), undefined)
    assert.equal(await mark(`${sh}\0`), undefined)
    assert.equal(await mark(dir), undefined)
    assert.equal(await mark(''), undefined)
  })

  it('names its interpreter where scripts and programs do', async () => {
    assert.equal(interpreterIn(Buffer.from('#!/usr/bin/env node\nx')), '/usr/bin/env')
    assert.equal(interpreterIn(Buffer.from('#! /bin/sh\n')), '/bin/sh')
    assert.equal(interpreterIn(Buffer.from('#!sh\n')), undefined)
    assert.equal(interpreterIn(Buffer.from('')), undefined)
    if (process.platform !== 'linux' || process.arch !== 'x64') return
    const head = (await readFile('/bin/sh')).subarray(0, 4096)
    assert.match(interpreterIn(head) ?? '', /\/ld-/)
    for (const cut of [6, 64, 100, 200]) assert.equal(interpreterIn(head.subarray(0, cut)), undefined)
  })
})

describe('a host in an odd place', () => {
  /** Returns the output of a separate host that runs a program after `setup`. */
  function host(setup: string, environment: NodeJS.ProcessEnv = process.env): string {
    const program = `
      import { rmdirSync } from 'node:fs'
      import { spawnRun } from ${JSON.stringify(new URL('spawn-run.ts', import.meta.url).href)}
      ${setup}
      const run = await spawnRun({ command: process.execPath, args: ['-p', '"it runs"'], env: { PATH: '/nowhere' } })
      for await (const line of run.stdout) console.log(line.text)
      for await (const line of run.stderr) console.log(line.text)`
    const args = ['--input-type=module', '-e', program]
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, env: environment, encoding: 'utf8' })
    return stdout + stderr
  }

  it('runs a program though its own folder is gone', async () => {
    const gone = await mkdtemp(join(dir, 'gone-'))
    assert.equal(host(`process.chdir(${JSON.stringify(gone)}); rmdirSync(${JSON.stringify(gone)})`), 'it runs\n')
  })

  it('runs a program though its own environment is larger than a program may be given', () => {
    assert.equal(host(`process.env.LARGE = 'x'.repeat(4_000_000)`), 'it runs\n')
  })

  it('takes no program that sets the mark from the folder it works in', async () => {
    const trap = join(dir, limitProgram)
    await writeFile(trap, '#!/bin/sh\necho it runs what lies here\n')
    await chmod(trap, 0o755)
    for (const PATH of [undefined, '', '.', ':/usr/bin']) {
      assert.equal(host('', { ...process.env, PATH }), 'it runs\n', PATH)
    }
    await rm(trap)
  })
})
