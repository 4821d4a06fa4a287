import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))
const message = '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"Hi."}}'
/** Without a limit, a command that keeps running without a reader would never end. */
const limit = { timeout: 120_000 }

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-gone-'))
})
after(() => rm(folder, { recursive: true }))

/** Reads once and closes, as `inspan … | head -1` does. */
async function readOnce(...args: readonly string[]): Promise<ChildProcessWithoutNullStreams> {
  const inspan = spawn(process.execPath, [command, ...args], { cwd: folder })
  inspan.stdin.on('error', () => undefined)
  inspan.stdin.write(`${message}\n`)
  await once(inspan.stdout, 'data')
  inspan.stdout.destroy()
  return inspan
}

async function endOf(inspan: ChildProcessWithoutNullStreams): Promise<{ code: number; err: string }> {
  let err = ''
  inspan.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(inspan, 'close')) as [number]
  return { code, err }
}

suite('a command whose reader has gone', () => {
  test('normalize ends, though its input continues', limit, async () => {
    const inspan = await readOnce('normalize', '--harness', 'codex')
    const ended = endOf(inspan)
    while (inspan.exitCode === null) {
      inspan.stdin.write(`${message}\n`)
      await pause(10)
    }
    assert.deepEqual(await ended, { code: 0, err: '' })
  })

  test('replay ends, however long the recording is', limit, async () => {
    const at = (ms: number): string => JSON.stringify({ at: 1_700_000_000_000 + ms, stream: 'stdout', line: message })
    const header = JSON.stringify({ at: 1_700_000_000_000, note: { run: { harness: 'codex' } } })
    const soon = Array.from({ length: 20 }, (_, index) => at(index * 200))
    await writeFile(join(folder, 'raw.jsonl'), `${[header, ...soon, at(3_600_000)].join('\n')}\n`)
    assert.deepEqual(await endOf(await readOnce('replay', folder)), { code: 0, err: '' })
  })

  test('run continues to its end, also when nobody reads its standard error', limit, async () => {
    const env = { ...process.env, INSPAN_HOME: join(folder, 'home') }
    const inspan = spawn(process.execPath, [command, 'run', 'Hello'], { cwd: folder, env })
    inspan.stderr.destroy()
    inspan.stdout.resume()
    assert.deepEqual(await once(inspan, 'close'), [0, null])
  })
})
