import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isAlive, LineReader, readTexts, unmarked, until } from '../../test/run/processes.ts'
import { capabilities, hostTable } from './capabilities.ts'
import { findTagged } from './kill-tree.ts'
import { StdinClosedError } from './run-process.ts'
import type { RunProcess } from './run-process.ts'
import { SpawnError } from './spawn-error.ts'
import type { SpawnErrorCode } from './spawn-error.ts'
import { spawnRun } from './spawn-run.ts'
import type { SpawnRunOptions } from './spawn-run.ts'
import { openSpool } from './spool.ts'
import { readSpool } from './spool-read.ts'

let dir = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'inspan-run-'))
})
after(() => rm(dir, { recursive: true }))

type Extra = Omit<SpawnRunOptions, 'command' | 'args'>

function runShell(script: string, options: Extra = {}): Promise<RunProcess> {
  return spawnRun({ ...options, command: '/bin/sh', args: ['-c', script] })
}

function runNode(program: string, options: Extra = {}): Promise<RunProcess> {
  return spawnRun({ ...options, command: process.execPath, args: ['-e', program] })
}

async function outputOf(run: RunProcess): Promise<{ stdout: string[]; stderr: string[] }> {
  const [stdout, stderr] = await Promise.all([readTexts(run.stdout), readTexts(run.stderr)])
  return { stdout, stderr }
}

describe('spawnRun', () => {
  it('gives the lines of both streams and the exit code', async () => {
    const run = await runShell('echo one; echo two; echo oops >&2; exit 3')
    assert.deepEqual(await outputOf(run), { stdout: ['one', 'two'], stderr: ['oops'] })
    assert.deepEqual(await run.exited, { code: 3, signal: null })
  })

  it('passes arguments, directory and environment as they are', async () => {
    const program =
      'console.log(JSON.stringify([process.argv.slice(1), process.cwd(), process.env.GREETING, process.env.HOME]))'
    const args = ['-e', program, '--', 'a b', '$HOME', '"', '*']
    const run = await spawnRun({ command: process.execPath, args, cwd: dir, env: { GREETING: 'hi ✓' } })
    const [line] = (await outputOf(run)).stdout
    assert.deepEqual(JSON.parse(line ?? ''), [['a b', '$HOME', '"', '*'], dir, 'hi ✓', null])
  })

  it('runs in a session and a group of its own, tagged with the id it was given', async () => {
    const run = await runShell('echo $INSPAN_RUN; read line', { runId: 'my-run.1', stdin: 'open' })
    run.stderr.discard()
    const reader = new LineReader(run.stdout)
    assert.equal(await reader.next(), 'my-run.1')
    const stat = hostTable.stat(run.pid)
    assert.deepEqual([stat?.group, stat?.session], [run.pid, run.pid])
    assert.deepEqual(run.record, {
      runId: 'my-run.1',
      pid: run.pid,
      startTime: stat?.startTime,
      bootId: hostTable.bootId(),
    })
    await run.closeStdin()
    await run.exited
  })

  it('makes a random id when none is given', async () => {
    const runs = await Promise.all([runShell('echo $INSPAN_RUN'), runShell('echo $INSPAN_RUN')])
    const printed = await Promise.all(runs.map(async (run) => (await outputOf(run)).stdout[0]))
    assert.deepEqual(
      printed,
      runs.map((run) => run.runId),
    )
    assert.notEqual(printed[0], printed[1])
  })

  it('gives a half line at the end of the output', async () => {
    const run = await runShell('printf "whole\\n{\\"half"; exit 1')
    run.stderr.discard()
    const seen: unknown[] = []
    for await (const line of run.stdout) seen.push([line.text, line.complete])
    assert.deepEqual(seen, [
      ['whole', true],
      ['{"half', false],
    ])
    assert.deepEqual(await run.exited, { code: 1, signal: null })
  })

  it('reports an exit code without a word on stderr', async () => {
    const run = await runShell('exit 42')
    assert.deepEqual(await outputOf(run), { stdout: [], stderr: [] })
    assert.deepEqual(await run.exited, { code: 42, signal: null })
  })

  it('reports which signal killed it', async () => {
    const run = await runShell('kill -SEGV $$')
    await outputOf(run)
    assert.deepEqual(await run.exited, { code: null, signal: 'SIGSEGV' })
  })

  it('reads a flood on stderr to the end, also when nobody wants it', async () => {
    const flood = 'for (let n = 0; n < 20000; n++) process.stderr.write("x".repeat(500) + "\\n"); console.log("done")'
    const read = await runNode(flood)
    const { stdout, stderr } = await outputOf(read)
    assert.deepEqual([stdout, stderr.length], [['done'], 20000])
    const unread = await runNode(flood)
    unread.stderr.discard()
    assert.deepEqual(await readTexts(unread.stdout), ['done'])
    assert.equal((await unread.exited).code, 0)
  })

  it('splits a long line of a real process and keeps its bytes', async () => {
    const run = await runNode('process.stdout.write("é".repeat(100000) + "\\r\\n" + "end")', { maxLineBytes: 65536 })
    run.stderr.discard()
    const pieces: { text: string; partial: boolean }[] = []
    for await (const line of run.stdout) pieces.push({ text: line.text, partial: line.partial })
    const long = pieces.filter((piece) => piece.partial)
    assert.equal(long.length, 4)
    assert.equal(long.map((piece) => piece.text).join(''), 'é'.repeat(100000))
    assert.deepEqual(pieces.at(-1), { text: 'end', partial: false })
  })

  it('holds a process back whose output nobody reads, and loses none of it', async () => {
    const run = await runNode(
      'let n = 0; const next = () => { while (n < 20000) if (!process.stdout.write(n++ + " " + "x".repeat(1000) + "\\n")) return process.stdout.once("drain", next) }; next()',
    )
    run.stderr.discard()
    await until('the output is held back', () => run.stdout.paused)
    assert.ok(isAlive(run.pid))
    let read = 0
    for await (const line of run.stdout) {
      assert.equal(line.text.length, `${read} `.length + 1000)
      read += 1
    }
    assert.equal(read, 20000)
    assert.deepEqual(await run.exited, { code: 0, signal: null })
  })

  it('settles exited only when the streams have ended, and processExited before that', async () => {
    const run = await runShell('sleep 1000 & echo $!; exit 5')
    run.stderr.discard()
    const stray = Number(await new LineReader(run.stdout).next())
    assert.deepEqual(await run.processExited, { code: 5, signal: null })
    let isOver = false
    void run.exited.then(() => (isOver = true))
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    assert.equal(isOver, false)
    assert.equal((await run.kill({ graceMs: 60_000 })).how, 'clean')
    assert.deepEqual(await run.exited, { code: 5, signal: null })
    assert.ok(!isAlive(stray))
  })

  it('settles after a kill although nobody has read the output, and still has it', async () => {
    const run = await runNode('setInterval(() => process.stdout.write("x".repeat(100000) + "\\n"), 1)')
    await until('the output is held back', () => run.stdout.paused)
    await run.kill({ graceMs: 0 })
    assert.deepEqual(await run.exited, { code: null, signal: 'SIGKILL' })
    assert.ok((await readTexts(run.stdout)).length > 5)
  })

  if (capabilities.reach === 'tree') {
    it('releases the pipes when somebody who cannot be found holds them', async () => {
      // Outside the tree and the session and without the tag: only its pid, which it prints, leads to it.
      const hidden =
        'const c = require("child_process").spawn("/bin/sh", ["-c", "echo $$; exec sleep 1000"], { detached: true, stdio: ["ignore", "inherit", "ignore"], env: {} }); c.unref()'
      const run = await runShell(`${unmarked}; "${process.execPath}" -e '${hidden}'`)
      run.stderr.discard()
      const reader = new LineReader(run.stdout)
      const pid = Number(await reader.next())
      await run.processExited
      await until('it is re-parented', () => hostTable.stat(pid)?.parent !== run.pid)
      assert.equal((await run.kill({ graceMs: 0 })).how, 'gone')
      assert.deepEqual(await run.exited, { code: 0, signal: null })
      assert.deepEqual(await reader.rest(), [])
      process.kill(pid, 'SIGKILL')
    })
  }

  it('ends all processes that share a run id together', async () => {
    const first = await runShell('sleep 1000', { runId: 'shared-run' })
    const second = await runShell('sleep 1000', { runId: 'shared-run' })
    await first.kill({ graceMs: 0 })
    assert.deepEqual(await second.exited, { code: null, signal: 'SIGKILL' })
    assert.deepEqual(await findTagged('shared-run'), [])
  })

  it('records every line of both streams before anybody reads it', async () => {
    const spool = await openSpool({ dir: join(dir, 'spooled') })
    const run = await runShell('echo out; printf "caf\\351\\r\\n"; echo err >&2; printf half', { spool })
    run.stdout.discard()
    run.stderr.discard()
    await run.exited
    assert.deepEqual((await spool.close()).recorded, 4)
    const records = await Array.fromAsync(readSpool(spool.file))
    const ofStream = (stream: string): object[] =>
      records.flatMap((record) => ('stream' in record && record.stream === stream ? [{ ...record, at: 0 }] : []))
    assert.deepEqual(ofStream('stdout'), [
      { at: 0, stream: 'stdout', line: 'out' },
      { at: 0, stream: 'stdout', eol: '\r\n', base64: Buffer.from('caf\xe9', 'latin1').toString('base64') },
      { at: 0, stream: 'stdout', eol: '', line: 'half' },
    ])
    assert.deepEqual(ofStream('stderr'), [{ at: 0, stream: 'stderr', line: 'err' }])
  })
})

describe('stdin', () => {
  it('is at its end from the start unless something else is asked for', async () => {
    const run = await runShell('cat; echo end')
    assert.deepEqual((await outputOf(run)).stdout, ['end'])
  })

  it('is fed with a text or bytes and then closed', async () => {
    const text = await runShell('cat; echo end', { stdin: { feed: 'open\nclose\n' } })
    assert.deepEqual((await outputOf(text)).stdout, ['open', 'close', 'end'])
    const bytes = await runShell('wc -c', { stdin: { feed: Buffer.alloc(5_000_000, 'x') } })
    assert.deepEqual((await outputOf(bytes)).stdout.map(Number), [5_000_000])
  })

  it('does not mind a process that ends without reading what it is fed', async () => {
    const run = await runShell('exit 0', { stdin: { feed: 'x'.repeat(5_000_000) } })
    await outputOf(run)
    assert.deepEqual(await run.exited, { code: 0, signal: null })
  })

  it('stays open for writes until it is closed', async () => {
    const run = await runShell('while read line; do echo "got $line"; done; echo end', { stdin: 'open' })
    run.stderr.discard()
    const reader = new LineReader(run.stdout)
    await run.write('one\n')
    assert.equal(await reader.next(), 'got one')
    await run.write(Buffer.from('two\n'))
    assert.equal(await reader.next(), 'got two')
    await run.closeStdin()
    await run.closeStdin()
    assert.deepEqual(await reader.rest(), ['end'])
  })

  it('delivers what is posted in its order, and does not mind a process that has ended', async () => {
    const run = await runShell('while read line; do echo "got $line"; done', { stdin: 'open' })
    run.post('one\n')
    run.post('two\n')
    await run.closeStdin()
    assert.deepEqual((await outputOf(run)).stdout, ['got one', 'got two'])
    await run.exited
    run.post('late\n')
    await new Promise(setImmediate)
  })

  it('makes the writer wait for a process that does not read', async () => {
    const program =
      'let n = 0; process.on("SIGUSR2", () => process.stdin.on("data", (d) => (n += d.length)).on("end", () => { console.log(n); clearInterval(alive) })); const alive = setInterval(() => 0, 1000); console.log("ready")'
    const run = await runNode(program, { stdin: 'open' })
    run.stderr.discard()
    const reader = new LineReader(run.stdout)
    assert.equal(await reader.next(), 'ready')
    let isTaken = false
    const written = run.write(Buffer.alloc(10_000_000, 'x')).then(() => (isTaken = true))
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    assert.equal(isTaken, false)
    process.kill(run.pid, 'SIGUSR2')
    await written
    await run.closeStdin()
    assert.deepEqual(await reader.rest(), ['10000000'])
  })

  it('rejects a write that cannot be delivered', async () => {
    const ended = await runShell('exit 0', { stdin: 'open' })
    await outputOf(ended)
    await ended.exited
    await assert.rejects(ended.write('late\n'), StdinClosedError)
    const none = await runShell('exit 0')
    await assert.rejects(none.write('x'), { name: 'StdinClosedError', code: 'stdin-closed' })
    await outputOf(none)
  })

  it('rejects a write that is waiting when the process is killed', async () => {
    const run = await runShell('sleep 1000', { stdin: 'open' })
    const rejected = assert.rejects(run.write(Buffer.alloc(10_000_000)), StdinClosedError)
    await run.kill({ graceMs: 0 })
    await rejected
  })
})

describe('stall and deadline', () => {
  it('reports when a living process stops writing, and again after it has written', async () => {
    const alive = setInterval(() => undefined, 1000)
    const stalls = Promise.withResolvers<void>()
    let count = 0
    const run = await runShell('echo first; read line; echo second; read line', {
      stdin: 'open',
      stallMs: 100,
      onStall: ({ silentMs }) => {
        assert.ok(silentMs >= 100)
        count += 1
        if (count === 1) void run.write('go on\n')
        else stalls.resolve()
      },
    })
    run.stderr.discard()
    const reader = new LineReader(run.stdout)
    assert.equal(await reader.next(), 'first')
    assert.equal(await reader.next(), 'second')
    await stalls.promise
    clearInterval(alive)
    assert.ok(isAlive(run.pid))
    await run.kill({ graceMs: 0 })
  })

  it('leaves it to the caller what to do at the deadline', async () => {
    const run: RunProcess = await runShell('sleep 1000', {
      deadlineMs: 50,
      onDeadline: () => void run.kill({ graceMs: 0 }),
    })
    assert.deepEqual(await run.exited, { code: null, signal: 'SIGKILL' })
  })
})

describe('SpawnError', () => {
  async function failure(options: SpawnRunOptions): Promise<SpawnError> {
    try {
      await spawnRun(options)
    } catch (error) {
      assert.ok(error instanceof SpawnError)
      return error
    }
    throw new assert.AssertionError({ message: 'it was started' })
  }

  it('reports what is missing and what to do', async () => {
    const noProgram = join(dir, 'no-exec')
    await writeFile(noProgram, '#!/bin/sh\n')
    const noInterpreter = join(dir, 'no-interpreter')
    await writeFile(noInterpreter, '#!/no/such/interpreter\n')
    await chmod(noInterpreter, 0o755)
    const expected: [SpawnErrorCode, RegExp, SpawnRunOptions][] = [
      [
        'command-not-found',
        /"no-such-cli".*PATH \(\/nowhere\).*Install/,
        { command: 'no-such-cli', env: { PATH: '/nowhere' } },
      ],
      ['command-not-found', /no program at .*missing.*path/, { command: join(dir, 'missing') }],
      ['command-not-found', new RegExp(`no program at ${join(dir, 'tool')}`), { command: './tool', cwd: dir }],
      ['not-executable', /chmod \+x/, { command: noProgram }],
      ['not-executable', /may not be executed/, { command: dir }],
      ['interpreter-not-found', /first line/, { command: noInterpreter }],
      ['cwd-not-found', /does not exist/, { command: '/bin/sh', cwd: join(dir, 'missing') }],
      ['cwd-not-usable', /is not a directory/, { command: '/bin/sh', cwd: noProgram }],
      ['arguments-too-long', /stdin or a file/, { command: '/bin/sh', args: ['x'.repeat(3_000_000)] }],
      ['invalid-options', /NUL/, { command: '/bin/sh', args: ['a\0b'] }],
      ['invalid-options', /empty/, { command: '' }],
    ]
    for (const [code, message, options] of expected) {
      const error = await failure(options)
      assert.deepEqual([error.code, error.command, error.name], [code, options.command, 'SpawnError'])
      assert.match(error.message, message)
      assert.ok(error.cause instanceof Error)
    }
  })

  it('does not repeat arguments or environment values', async () => {
    const error = await failure({
      command: 'no-such-cli',
      args: ['--key=secret'],
      env: { TOKEN: 'secret', PATH: '/x' },
    })
    assert.doesNotMatch(error.message, /secret/)
  })

  it('comes before anything is started when the options make no sense', async () => {
    await assert.rejects(spawnRun({ command: 'true', runId: 'not an id' }), TypeError)
    await assert.rejects(spawnRun({ command: 'true', maxLineBytes: 1 }), RangeError)
    await assert.rejects(spawnRun({ command: 'true', stallMs: 100 }), TypeError)
  })
})
