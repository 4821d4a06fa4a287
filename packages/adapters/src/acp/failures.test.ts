import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, stage } from '../../test/acp/acp-stage.ts'
import { brief } from '../../test/brief.ts'
import { finishOf, resultsOf, textOf } from '../../test/live/live-host.ts'

describe('an agent that fails', () => {
  it('by dying in the middle of a turn: one error with its last output, and the open call is closed', async (t) => {
    const body = `
      t.call('c1', { title: 'make', kind: 'execute', status: 'in_progress', rawInput: { command: 'make' } })
      console.error('out of memory')
      process.exit(3)`
    const { run } = await stage(t, body)
    const events = await run().all
    assert.equal(errorOf(events).code, 'exit-3')
    assert.match(errorOf(events).message, /out of memory/)
    assert.equal(resultsOf(events).length, 1)
    assert.equal(finishOf(events), 'error')
  })

  it('by exiting with code 0 in the middle of a turn', async (t) => {
    const { run } = await stage(t, `process.exit(0)`)
    const events = await run().all
    assert.equal(errorOf(events).code, 'exit-0')
    assert.equal(finishOf(events), 'error')
  })

  it('by answering with an error: the next turn can continue', async (t) => {
    const error = { code: -32603, message: 'Internal error', data: { details: 'bad key' } }
    const { run } = await stage(t, `if (t.count === 1) return { error: ${JSON.stringify(error)} }; t.text('Better.')`)
    const events = await run().all
    assert.deepEqual(errorOf(events), { code: '-32603', message: 'Internal error: bad key' })
    assert.equal(textOf(await run().all), 'Better.')
  })

  it('because nobody has logged in, explains how to', async (t) => {
    const agent = {
      refuse: { 'session/new': { code: -32000, message: 'Authentication required' } },
      authMethods: [{ id: 'login', name: 'Log in', description: 'Run `agent login` in the terminal' }],
    }
    const { run } = await stage(t, '', { agent })
    const error = errorOf(await run().all)
    assert.equal(error.code, 'auth-required')
    assert.match(error.message, /Run `agent login` in the terminal/)
  })

  it('because it speaks another version of the protocol, reports it', async (t) => {
    const { run } = await stage(t, '', { agent: { protocolVersion: 2 } })
    const error = errorOf(await run().all)
    assert.equal(error.code, 'unsupported')
    assert.match(error.message, /speaks version 2/)
  })

  it('because it is not there, reports it', async (t) => {
    const { run } = await stage(t, '', { command: '/nowhere/agent' })
    assert.match(errorOf(await run().all).message, /nowhere/)
  })

  it('loses no output that cannot be read: noise, half JSON, other JSON and unknown updates are reported as unknown', async (t) => {
    const body = `
      t.raw('Loading model...\\n{"half": \\n[1,2]\\n{"jsonrpc":"2.0","id":99,"result":{}}\\n')
      t.update('from_the_future', { value: 1 })
      t.notify('session/telemetry', { a: 1 })
      t.update('agent_message_chunk', { content: { type: 'image', data: '', mimeType: 'image/png' } })
      t.text('Still here.')`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.equal(textOf(events), 'Still here.')
    assert.deepEqual(brief(host.activity), [...Array<string>(6).fill('unknown'), 'agent: Still here.'])
  })

  it('is understood although it prints a banner before its first message', async (t) => {
    const { host, run } = await stage(t, `t.text('Hello.')`, { agent: { banner: 'Welcome!\n' } })
    assert.equal(textOf(await run().all), 'Hello.')
    assert.deepEqual(brief(host.activity), ['unknown', 'agent: Hello.'])
  })
})
