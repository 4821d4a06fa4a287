import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { InspanError } from '@inspan/protocol'
import { warnIfUnhandled } from './unhandled-error.ts'

function run(...args: string[]): string {
  const program = fileURLToPath(new URL('unhandled-child.fixture.ts', import.meta.url))
  const { ANTHROPIC_API_KEY: _key, ...env } = process.env
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env }).stderr
}

describe('a run that fails', () => {
  it('is reported as a warning when no listener looks at its error', () => {
    const stderr = run()
    assert.match(stderr, /InspanUnhandledError: .*ANTHROPIC_API_KEY/)
    assert.equal(stderr.split('InspanUnhandledError').length, 2)
  })

  it('is left to a listener that does', () => {
    const stderr = run('errors')
    assert.match(stderr, /^failed: .*ANTHROPIC_API_KEY.*$/m)
    assert.doesNotMatch(stderr, /InspanUnhandledError/)
  })

  it('is reported with its hint once', async () => {
    const error = new InspanError('closed', 'The session is closed.', { hint: 'Make another.' })
    const warned = once(process, 'warning')
    warnIfUnhandled({ type: 'error', error, threadId: 'a', sessionId: 'b' })
    const [{ message }] = (await warned) as [Error]
    assert.equal(message, 'The session is closed. Make another.')
  })
})
