import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProvider } from '@inspan/testing'

/** The tests of packed packages name the command that was installed. */
const bin = process.env['INSPAN_TEST_BIN'] ?? fileURLToPath(new URL('../bin/inspan.js', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'inspan-hour-'))
after(() => rmSync(dir, { recursive: true }))

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function inspan(args: readonly string[], env: Readonly<Record<string, string>> = {}): Ran {
  const base = { PATH: process.env['PATH'] ?? '', HOME: dir, TZ: 'Asia/Tokyo' }
  const ran = spawnSync(process.execPath, [bin, ...args], { cwd: dir, encoding: 'utf8', env: { ...base, ...env } })
  return { code: ran.status, out: ran.stdout, err: ran.stderr }
}

/** For commands that talk to a server of this process. */
async function started(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  const base = { PATH: process.env['PATH'] ?? '', INSPAN_HOME: join(dir, 'models') }
  const child = spawn(process.execPath, [bin, ...args], { cwd: dir, env: { ...base, ...env } })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, err }
}

describe('the first hour with inspan', () => {
  it('names the variable of a missing key', () => {
    const { code, err } = inspan(['run', '--model', 'anthropic/claude-sonnet-4-5', 'Hi'])
    assert.equal(code, 1)
    assert.match(err, /no key for "anthropic\/claude-sonnet-4-5"\. Set ANTHROPIC_API_KEY in the environment/)
  })

  it('runs our own loop with --model, and continues with that model', async () => {
    await using provider = await startProvider([{ text: 'Hello from a model.' }, { text: 'Hello again.' }])
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` }
    const first = await started(['run', '--model', 'anthropic/claude-sonnet-4-5', 'Hi'], env)
    assert.match(first.out, /Hello from a model\./)
    const thread = /thread (\S+)\./.exec(first.err)?.[1] ?? ''
    assert.match((await started(['run', '--thread', thread, 'Again'], env)).out, /Hello again\./)
    assert.equal(provider.requests.length, 2)
  })

  it('suggests what was probably meant: commands, coding agents, options', () => {
    assert.match(inspan(['thread']).err, /there is no command "thread"\. Did you mean "threads"\?/)
    assert.match(inspan(['run', '--harness', 'claude', 'Hi']).err, /Did you mean "claude-code"\?/)
    const option = inspan(['run', '--modle', 'x', 'Hi'])
    assert.equal(option.code, 2)
    assert.match(option.err, /there is no option --modle\. Did you mean "--model"\?/)
    assert.match(inspan(['threads', '--al']).err, /Did you mean "--all"\?/)
  })

  it('accepts the end of a thread id, and reports when that is not enough', () => {
    const [first, second] = ['One', 'Two\nlines'].map(
      (prompt) => /thread (\S+)\./.exec(inspan(['run', prompt]).err)?.[1] ?? '',
    )
    assert.ok(first !== undefined && second !== undefined && first.length > 20)
    assert.match(inspan(['replay', first.slice(-8)]).out, /^> One/)
    assert.equal(inspan(['run', '--thread', second.slice(-8), 'More']).code, 0)
    const both = inspan(['replay', first.slice(0, 4)])
    assert.match(both.err, /Several threads begin or end with/)
    assert.match(inspan(['replay', 'nothing']).err, /There is no thread "nothing"/)
  })

  it('lists one line per thread, with local times', () => {
    const lines = inspan(['threads']).out.trim().split('\n')
    assert.equal(lines.length, 2)
    const now = new Date(Date.now() + 9 * 3600_000).toISOString().slice(0, 10)
    for (const line of lines) assert.match(line, new RegExp(`^\\S+ {2}${now} \\d\\d:\\d\\d {2}(One|Two)$`))
  })

  it('shortens a title between the characters people see', () => {
    const family = '👩‍👩‍👧'
    const home = { INSPAN_HOME: join(dir, 'models') }
    assert.equal(inspan(['run', family.repeat(90)], home).code, 0)
    const titles = inspan(['threads'], home).out.trim().split('\n')
    assert.ok(titles.some((line) => line.endsWith(`  ${family.repeat(80)}…`)))
  })

  it('keeps nothing in the current folder when there is no home', () => {
    const { code, err } = inspan(['run', 'Hi'], { HOME: '' })
    assert.equal(code, 1)
    assert.match(err, /no home folder.*INSPAN_HOME/)
    assert.deepEqual(readdirSync(dir), ['.inspan', 'models'])
    assert.ok(existsSync(join(dir, '.inspan', 'inspan.db')))
  })
})
