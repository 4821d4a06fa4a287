// Commands that wait for something else for more than a second say so on a terminal.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { suite, test, type TestContext } from 'node:test'
import { SqliteStore } from '@inspan/core'
import { main } from './main.ts'

interface Started {
  /** Resolves when the text is on standard error. */
  shows(text: string): Promise<void>
  readonly shown: () => string
  readonly code: Promise<number>
}

/** Starts a command as on a terminal, and watches standard error. */
function start(t: TestContext, folder: string, args: readonly string[]): Started {
  let shown = ''
  const watchers = new Set<() => void>()
  t.mock.method(process.stderr, 'write', (text: string) => {
    shown += text
    for (const watcher of watchers) watcher()
    return true
  })
  const env = { HOME: folder, INSPAN_HOME: join(folder, 'home'), PATH: join(folder, 'bin') }
  const print = (): void => undefined
  const terminal = { out: print, write: print, err: print, input: Readable.from([]), isTty: true, cwd: folder, env }
  const code = main(args, terminal).finally(() => t.mock.restoreAll())
  const shows = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (shown.includes(text)) resolve()
      }
      watchers.add(look)
      look()
      void code.then((ended) => reject(new Error(`It ended with ${ended} and showed ${JSON.stringify(shown)}`)), reject)
    })
  return { shows, shown: () => shown, code }
}

function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'inspan-progress-'))
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }))
  for (const name of ['bin', 'home']) mkdirSync(join(folder, name))
  return folder
}

/** A program that answers nothing before there is a file named `gate`. */
function slowProgram(folder: string, name: string, answer: string): void {
  const bin = join(folder, 'bin', name)
  const gate = JSON.stringify(join(folder, 'gate'))
  const program = `#!${process.execPath}
const { existsSync } = require('node:fs')
const timer = setInterval(() => {
  if (!existsSync(${gate})) return
  clearInterval(timer)
  console.log(${JSON.stringify(answer)})
}, 20)
`
  writeFileSync(bin, program)
  chmodSync(bin, 0o755)
}

suite('progress on a terminal', () => {
  for (const args of [['db', 'migrate'], ['db', 'status'], ['threads']]) {
    test(`inspan ${args.join(' ')}: while a database does not answer`, async (t) => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined))).listen(
        0,
        '127.0.0.1',
      )
      await once(server, 'listening')
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      const command = start(t, place(t), [...args, '--store', `postgres://nobody@127.0.0.1:${port}/none`])
      await command.shows('Connecting to the database …')
      server.close()
      for (const socket of sockets) socket.destroy()
      assert.equal(await command.code, 1)
      assert.ok(command.shown().endsWith('\r\x1b[K'), 'the line is removed')
    })
  }

  for (const [name, ...args] of [
    ['claude', 'doctor'],
    ['claude', 'keys'],
    ['claude', 'report', '--json'],
    ['opencode', 'sessions'],
  ]) {
    test(`inspan ${args.join(' ')}: while a coding agent does not answer`, async (t) => {
      const folder = place(t)
      slowProgram(folder, name ?? '', '1.0.0')
      const command = start(t, folder, args)
      await command.shows(args[0] === 'sessions' ? 'Looking for conversations …' : 'Looking for coding agents …')
      writeFileSync(join(folder, 'gate'), '')
      assert.ok((await command.code) <= 1)
      assert.ok(command.shown().endsWith('\r\x1b[K'), 'the line is removed')
    })
  }

  test('inspan data backup: before the copy, which blocks the process', async (t) => {
    const folder = place(t)
    const store = new SqliteStore({ url: join(folder, 'home', 'inspan.db') })
    await store.listThreads({ limit: 1 })
    await store.close()
    const command = start(t, folder, ['data', 'backup', 'copy.db'])
    assert.equal(await command.code, 0)
    const [nothing, line = '', end] = command.shown().split('\r\x1b[K')
    assert.deepEqual([nothing, end], ['', ''])
    assert.match(line, /^Copying [\d.]+ KB …$/)
  })
})
