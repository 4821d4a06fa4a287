import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findTagged, runTagVariable } from '@inspan/shell/run'

const command = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))

const limitProgram: string = 'prlimit'
/** Whether runs can have a mark here. Also removes the mark of a run that these tests may be part of. */
const canMark = spawnSync(limitProgram, ['--pid', String(process.pid), '--locks=0:'], { stdio: 'ignore' }).status === 0

/** A program inside a tool, with a child in its own session and, where marks work, a daemon without environment. */
const PROGRAM = `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('codex-cli 0.169.0'); process.exit(0) }
const { spawn } = await import('node:child_process')
const say = (record) => process.stdout.write(JSON.stringify(record) + '\\n')
for await (const chunk of process.stdin) chunk
say({ type: 'thread.started', thread_id: 'native-1' })
spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
spawn(process.execPath, ['-e', ${canMark} ? "require('child_process').spawn('/bin/sh', ['-c', 'exec sleep 1000'], { detached: true, stdio: 'ignore', env: {} }).unref()" : ''], { stdio: 'ignore' })
  .on('exit', () => {
    const command = process.env.${runTagVariable}
    say({ type: 'item.started', item: { id: 'call', type: 'command_execution', command, status: 'in_progress' } })
  })
setInterval(() => {}, 1000)
`

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-signals-'))
  await writeFile(join(folder, 'codex'), PROGRAM)
  await chmod(join(folder, 'codex'), 0o755)
})
after(() => rm(folder, { recursive: true, maxRetries: 5 }))

/** Without a limit, a command that does not end would never fail. */
const limit = { timeout: 120_000 }

interface Running {
  readonly inspan: ChildProcess
  readonly runTag: string
  /** Everything it has printed. */
  readonly out: () => string
}

/** Runs the program until its tool has started. */
async function inTool(t: TestContext, temporary: string, ...args: readonly string[]): Promise<Running> {
  const inspan = spawn(process.execPath, [command, 'run', '--harness', 'codex', '--json', ...args, 'Go'], {
    cwd: folder,
    env: {
      ...process.env,
      INSPAN_HOME: join(folder, 'home'),
      INSPAN_CODEX_BIN: join(folder, 'codex'),
      CODEX_API_KEY: 'k',
      TMPDIR: temporary,
      // Not in the temporary folder, which must be left empty.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compiled'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => inspan.kill('SIGKILL'))
  let out = ''
  inspan.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  while (!out.includes('"tool-call"')) await once(inspan.stdout, 'data')
  const runTag = /"command":"([^"]+)"/.exec(out)?.[1] ?? ''
  assert.equal((await findTagged(runTag)).length, canMark ? 3 : 2)
  return { inspan, runTag, out: () => out }
}

suite('inspan run that is asked to end in the middle of a tool', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    test(`by ${signal} ends all that was started, and leaves nothing but its recording`, limit, async (t) => {
      const temporary = join(folder, signal)
      await mkdir(temporary)
      const record = join(folder, `recorded-${signal}`)
      const { inspan, runTag, out } = await inTool(t, temporary, '--record', record)
      assert.equal((await readdir(temporary)).length, 1)
      inspan.kill(signal)
      const [code] = (await once(inspan, 'close')) as [number]
      assert.equal(code, 128 + constants.signals[signal])
      assert.deepEqual(await findTagged(runTag), [])
      assert.deepEqual(await readdir(temporary), [])
      assert.match(out().trim().split('\n').at(-1) ?? '', /"type":"finish"/)
      assert.match(await readFile(join(record, 'raw.jsonl'), 'utf8'), /"end":/)
    })
  }

  test('by kill -9 leaves no process either', limit, async (t) => {
    const { inspan, runTag } = await inTool(t, folder)
    inspan.kill('SIGKILL')
    await once(inspan, 'close')
    while ((await findTagged(runTag)).length > 0) await pause(50)
  })
})
