// What a coding agent has begun without us, listed and continued in a real terminal: `inspan sessions`, `inspan chat`.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startProvider } from '@inspan/testing'
import { TmuxTerminal } from './tmux.fixture.ts'

const run = promisify(execFile)
const INSTALL = fileURLToPath(new URL('../../../adapters/test/real/install-cli.ts', import.meta.url))
const INSPAN = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
/** Many times what it takes: the machine may be busy, and the line on which a program is installed slow. */
const TEST_MS = 30 * 60_000

describe('a conversation that Claude Code has begun alone', { timeout: TEST_MS }, () => {
  it('is listed, shown and continued', { timeout: TEST_MS }, async (t) => {
    const bin = (await run(process.execPath, [INSTALL, 'claude-code'])).stdout.trim()
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-session-')))
    t.after(() => rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
    const [home, folder] = [join(base, 'home'), join(base, 'project')]
    for (const each of [home, folder]) mkdirSync(each)
    await using provider = await startProvider([{ text: 'I will remember.' }, { text: 'It was seven.' }])
    const env = {
      HOME: home,
      PATH: `${dirname(bin)}:/usr/bin:/bin`,
      INSPAN_HOME: join(base, 'inspan'),
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    }
    const alone = run(bin, ['-p', 'Remember the number seven.'], { cwd: folder, env })
    alone.child.stdin?.end()
    await alone

    const { stdout: listed } = await run(process.execPath, [INSPAN, 'sessions'], { cwd: folder, env })
    const [, id = ''] = /^claude-code {2}(\S+) {2}.* {2}Remember the number seven\.\n$/.exec(listed) ?? []
    assert.match(id, /^[\da-f-]{36}$/, listed)

    using terminal = new TmuxTerminal()
    terminal.start(['chat', '--session', id.slice(-6)], env, folder)
    await terminal.shows(/> Remember the number seven\.\s+I will remember\.[^]*Type a message/)
    const before = provider.requests.length
    terminal.type('Which number was it?')
    terminal.press('Enter')
    await terminal.shows(/> Which number was it\?[^]*It was seven\./)
    const asked = provider.requests.slice(before).map(({ body }) => JSON.stringify(body))
    const turn = asked.find((body) => body.includes('Which number was it?')) ?? ''
    // Once, from the agent's own history: it is not told again what it knows.
    assert.equal(turn.split('Remember the number seven.').length, 2, turn)
  })
})
