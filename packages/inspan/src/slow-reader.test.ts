import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { setImmediate, setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { main } from './main.ts'

const command = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))
const LINES = 2_000
/** So long that all lines are several times the 1 MiB that may wait to be read, because that much may come at once. */
const WORDS = `'x'.repeat(2_000)`

/** A program that prints much, as fast as it is read: known or unknown records. */
const program = (line: string): string => `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('codex-cli 0.169.0'); process.exit(0) }
const { writeFileSync } = await import('node:fs')
const { once } = await import('node:events')
writeFileSync('pid', String(process.pid))
const say = async (record) => {
  if (!process.stdout.write(JSON.stringify(record) + '\\n')) await once(process.stdout, 'drain')
}
for await (const chunk of process.stdin) chunk
const end = process.env.INSPAN_TEST_ENDLESS === undefined ? ${LINES} : Infinity
for (let id = 0; id < end; id += 1) await say(${line})
await say({ type: 'turn.completed', usage: {} })
`
const TEXT = `{ type: 'item.completed', item: { id: String(id), type: 'agent_message', text: ${WORDS} } }`
/**
 * A reader that takes little at a time, for longer than the timeout for unread output, and gets less than one line. One
 * such line is more than can wait unread, so inspan is stuck in it however slowly the program prints.
 */
const SIP = 16_384
const SIPS = 150
const LONG = TEXT.replace(WORDS, `'x'.repeat(${SIP * SIPS})`)
const UNKNOWN = `{ type: 'something-new', text: ${WORDS} }`

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-slow-'))
  for (const [name, line] of Object.entries({ text: TEXT, long: LONG, unknown: UNKNOWN })) {
    await writeFile(join(folder, name), program(line))
    await chmod(join(folder, name), 0o755)
  }
})
after(() => rm(folder, { recursive: true, maxRetries: 5 }))

const envFor = (name: string): NodeJS.ProcessEnv => ({
  ...process.env,
  INSPAN_HOME: join(folder, 'home'),
  INSPAN_CODEX_BIN: join(folder, name),
  CODEX_API_KEY: 'k',
})

suite('inspan run into a reader that is slow', () => {
  for (const name of ['text', 'unknown']) {
    test(`holds the program back and loses nothing: ${name}`, async () => {
      let printed = 0
      let printedBefore = 0
      let mostAtOnce = 0
      await main(['run', '--harness', 'codex', '--json', 'Go'], {
        out: () => void (printed += 1),
        write: () => undefined,
        err: () => undefined,
        taken: async () => {
          mostAtOnce = Math.max(mostAtOnce, printed - printedBefore)
          await setImmediate()
          printedBefore = printed
        },
        input: Readable.from([]),
        isTty: false,
        cwd: folder,
        env: envFor(name),
      })
      assert.ok(printed > LINES)
      assert.ok(mostAtOnce > 0 && mostAtOnce < printed / 2, `${mostAtOnce} of ${printed} at once`)
    })
  }

  test('ends at Ctrl-C while nobody reads, and what it did is printed', async () => {
    const inspan = spawn(process.execPath, [command, 'run', '--harness', 'codex', '--json', 'Go'], {
      cwd: folder,
      env: { ...envFor('long'), INSPAN_TEST_ENDLESS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    let rest = ''
    rest += await untilItSpeaks(inspan.stdout)
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    inspan.kill('SIGINT')
    while (isAlive(pid)) await pause(20)
    inspan.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
    })
    inspan.stdout.resume()
    const [code] = (await once(inspan, 'close')) as [number]
    assert.equal(code, 130)
    assert.equal((JSON.parse(lines.at(-1) ?? '') as { type: string }).type, 'finish')
  })

  test('prints everything after Ctrl-C to one who takes little at a time', async () => {
    const inspan = spawn(process.execPath, [command, 'run', '--harness', 'codex', '--json', 'Go'], {
      cwd: folder,
      env: { ...envFor('long'), INSPAN_TEST_ENDLESS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let told = ''
    inspan.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()))
    let read = await untilItSpeaks(inspan.stdout)
    const closed = once(inspan, 'close')
    inspan.kill('SIGINT')
    for (let times = 0; times < SIPS; times += 1) {
      await pause(50)
      read += String(inspan.stdout.read(SIP) ?? '')
    }
    inspan.stdout.on('data', (chunk: Buffer) => (read += chunk.toString()))
    inspan.stdout.resume()
    await closed
    assert.equal(told.includes('Nobody'), false, told)
    assert.equal((JSON.parse(read.trimEnd().split('\n').at(-1) ?? '') as { type: string }).type, 'finish')
  })

  test('ends at Ctrl-C by itself although nobody ever reads on, and reports it', async () => {
    const inspan = spawn(process.execPath, [command, 'run', '--harness', 'codex', '--json', 'Go'], {
      cwd: folder,
      env: { ...envFor('long'), INSPAN_TEST_ENDLESS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let told = ''
    inspan.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()))
    await untilItSpeaks(inspan.stdout)
    inspan.kill('SIGINT')
    const [code] = (await once(inspan, 'exit')) as [number]
    assert.equal(code, 130)
    inspan.stdout.destroy()
    await once(inspan, 'close')
    assert.match(told, /^inspan: Nobody has taken the rest of the output\. It is left out\.$/m)
  })
})

/** Reads until the program's first output, and then no more. */
async function untilItSpeaks(output: Readable): Promise<string> {
  let read = ''
  output.on('data', (chunk: Buffer) => (read += chunk.toString()))
  while (!read.includes('xxx')) await once(output, 'data')
  output.pause()
  output.removeAllListeners('data')
  return read
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
