import assert from 'node:assert/strict'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { WorkspaceBench } from './workspace.fixture.ts'

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

suite('execute_command', () => {
  test('runs in the workspace, streams its output and reports how it ended', async () => {
    await using bench = new WorkspaceBench()
    const command = 'pwd; echo out; echo err >&2; exit 3'
    const { activity, isError, result } = await bench.call('execute_command', { command })
    assert.deepEqual(result, { exitCode: 3, stdout: `${realpathSync(bench.root)}\nout\n`, stderr: 'err\n' })
    assert.equal(isError, true)
    const [event] = activity?.events ?? []
    const told = { type: 'command', command, exitCode: 3, isSuccess: false, timestamp: '' }
    assert.deepEqual({ ...event, timestamp: '' }, told)
    const of = (name: string): string =>
      bench.progress
        .filter(([, stream]) => stream === name)
        .map(([text]) => text)
        .join('')
    assert.deepEqual([of('stdout'), of('stderr')], [`${realpathSync(bench.root)}\nout\n`, 'err\n'])
  })

  test('runs in a folder of the workspace', async () => {
    await using bench = new WorkspaceBench()
    await bench.result('mkdir', { path: 'sub' })
    const result = await bench.result('execute_command', { command: 'pwd; touch here', cwd: 'sub' })
    assert.equal((result as JsonObject)['stdout'], `${realpathSync(bench.root)}/sub\n`)
    assert.ok(existsSync(join(bench.root, 'sub/here')))
    assert.match(await bench.refusal('execute_command', { command: 'pwd', cwd: 'none' }), /There is no none/)
  })

  test('ends what takes too long, with everything it started, and keeps the output so far', async () => {
    await using bench = new WorkspaceBench()
    const command = 'echo begun; sleep 1000 & echo $!; wait'
    const { isError, result } = await bench.call('execute_command', { command, timeout: 500 })
    const { stdout, timedOut } = result as { readonly stdout: string; readonly timedOut: boolean }
    const [begun, pid] = stdout.split('\n')
    assert.deepEqual([begun, timedOut, isError], ['begun', true, true])
    assert.ok(!isAlive(Number(pid)))
  })

  test('ends when the run is cancelled', async () => {
    await using bench = new WorkspaceBench()
    const abort = new AbortController()
    const started = Promise.withResolvers<string>()
    const call = bench.call(
      'execute_command',
      { command: 'echo $$; sleep 1000' },
      { signal: abort.signal, progress: (output) => started.resolve(output) },
    )
    const pid = Number(await started.promise)
    abort.abort()
    const { isError } = await call
    assert.deepEqual([isError, isAlive(pid)], [true, false])
  })

  test('returns the beginning and the end of an output that is too long', async () => {
    await using bench = new WorkspaceBench({ tools: { execute_command: { maxOutputTokens: 100 } } })
    const result = await bench.result('execute_command', { command: 'seq 1 100000' })
    const { stdout } = result as { readonly stdout: string }
    assert.ok(stdout.length < 500)
    assert.match(stdout, /^1\n2\n/)
    assert.match(stdout, /\[\d+ characters left out\]/)
    assert.match(stdout, /99999\n100000\n$/)
  })

  test('is not there when the workspace has no shell', async () => {
    await using bench = new WorkspaceBench({ shell: false })
    const names = (await bench.workspace.list()).map(({ name }) => name)
    assert.deepEqual(
      names.filter((name) => /command|process/.test(name)),
      [],
    )
    await assert.rejects(bench.call('execute_command', { command: 'true' }), /offers no tool "execute_command"/)
  })

  test('has the environment it was given', async () => {
    await using bench = new WorkspaceBench({ shell: { env: { PATH: process.env['PATH'], ONLY: 'this' } } })
    const result = (await bench.result('execute_command', { command: 'echo $ONLY$HOME' })) as JsonObject
    assert.equal(result['stdout'], 'this\n')
  })
})

suite('a background process', () => {
  test('continues after its call, can be read and ended', async () => {
    await using bench = new WorkspaceBench()
    const started = await bench.result('execute_command', {
      command: 'echo hello; echo ready > flag; sleep 1000',
      background: true,
    })
    const { pid, processId } = started as { readonly pid: number; readonly processId: string }
    await untilThere(bench.root, 'flag')
    assert.ok(isAlive(pid))
    const ended = (await bench.result('kill_process', { processId })) as JsonObject
    assert.deepEqual([ended['status'], ended['output']], ['ended', 'hello\n'])
    assert.ok(!isAlive(pid))
  })

  test('can be waited for', async () => {
    await using bench = new WorkspaceBench()
    const { processId } = (await bench.result('execute_command', {
      command: 'echo done; exit 2',
      background: true,
    })) as { readonly processId: string }
    assert.deepEqual(await bench.result('get_process_output', { processId, wait: true }), {
      processId,
      status: 'ended',
      exitCode: 2,
      output: 'done\n',
    })
  })

  test('is seen only by its own thread', async () => {
    await using bench = new WorkspaceBench()
    const { processId } = (await bench.result('execute_command', {
      command: 'sleep 1000',
      background: true,
    })) as { readonly processId: string }
    for (const name of ['get_process_output', 'kill_process']) {
      assert.match(await bench.refusal(name, { processId }, { threadId: 'other' }), /There is no process/)
    }
  })

  test('ends with its workspace, and with a host that is killed', async () => {
    await using bench = new WorkspaceBench()
    const { pid } = (await bench.result('execute_command', { command: 'sleep 1000', background: true })) as {
      readonly pid: number
    }
    await bench.workspace.close()
    assert.ok(!isAlive(pid))

    const program = `
      import { Workspace } from '@inspan/tools'
      const workspace = new Workspace({ root: ${JSON.stringify(bench.root)} })
      const run = { signal: new AbortController().signal, threadId: 't', progress: () => undefined }
      const { result } = await workspace.call('execute_command', { command: 'sleep 1000', background: true }, run)
      process.stdout.write(String(result.pid))
      setInterval(() => undefined, 1000)`
    const host = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = (await once(host.stdout, 'data')) as [Buffer]
    const left = Number(said.toString())
    assert.ok(isAlive(left))
    host.kill('SIGKILL')
    await once(host, 'exit')
    // The guard ends it; there is nothing to wait for but its end.
    while (isAlive(left)) await new Promise((resolve) => setTimeout(resolve, 10))
  })
})

function untilThere(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, check)
    function check(): void {
      if (!existsSync(join(folder, name))) return
      watcher.close()
      resolve()
    }
    check()
  })
}

test('a command that leaves a process behind does not keep its call waiting', async () => {
  await using bench = new WorkspaceBench()
  writeFileSync(join(bench.root, 'x'), '')
  const result = (await bench.result('execute_command', { command: 'sleep 1000 & echo $!' })) as JsonObject
  assert.ok(!isAlive(Number(result['stdout'])))
})
