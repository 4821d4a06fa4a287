import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { errorOf, stage } from '../../test/acp/acp-stage.ts'
import { textOf } from '../../test/live/live-host.ts'

describe('what an agent can do', () => {
  it('is reported by the agent itself', async (t) => {
    const { driver } = await stage(t, '', {
      agent: { capabilities: { loadSession: true, promptCapabilities: { image: true } } },
    })
    const { resume, images, version, governs } = await driver.describe()
    assert.deepEqual(
      { resume, images, version, governs },
      { resume: 'head', images: true, version: '1.2.3', governs: 'asks-only' },
    )
    const { driver: plain } = await stage(t, '')
    assert.equal((await plain.describe()).resume, 'none')
  })

  it('is unknown for a program that does not speak the protocol', async (t) => {
    const { driver } = await stage(t, '', { command: process.execPath, args: ['-e', 'console.log("Hello.")'] })
    await assert.rejects(driver.describe(), (error: unknown) => InspanError.is(error, 'unsupported'))
  })

  it('does not include keeping rules, because what it does not ask about is unknown', async (t) => {
    const rules = { categories: { execute: 'deny' }, tools: { grep: 'ask' }, patterns: [] } as const
    const { run } = await stage(t, `t.text('Hi.')`)
    const error = errorOf(await run({ rules }).all)
    assert.equal(error.code, 'policy-unsupported')
    assert.match(error.message, /deny every execute tool; ask grep/)
    const { run: confined } = await stage(t, `t.text('Hi.')`, { allowUngoverned: true })
    assert.equal(textOf(await confined({ rules }).all), 'Hi.')
  })
})
