import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { errorOf, heard, stage } from '../../test/acp/acp-stage.ts'
import { survivors } from '../../test/launch/stand-in.ts'
import { aMessage, finishOf, resultsOf, says, textOf } from '../../test/live/live-host.ts'

describe('a turn that is stopped', () => {
  it('while a question waits: the agent learns that nobody will answer, and answers itself', async (t) => {
    const { dir, host, session, run } = await stage(t, `await t.tool('c1', 'make'); await t.cancelled`)
    const turn = run()
    await host.nextAsk()
    const receipt = await session.cancel()
    const events = await turn.all
    assert.equal(finishOf(events), 'other')
    assert.deepEqual(receipt.calls, ['c1'])
    assert.deepEqual((await heard(dir)).slice(-2), ['session/cancel', '{"outcome":{"outcome":"cancelled"}}'])
  })

  it('leaves nothing running, also not what has left the session of the process', async (t) => {
    const body = `
      t.call('c1', { title: 'sleep', kind: 'execute', status: 'in_progress', rawInput: { command: 'sleep 600' } })
      t.longTool()
      await new Promise(() => {})`
    const { host, session, run } = await stage(t, body)
    const turn = run()
    await turn.until(({ type }) => type === 'tool-call')
    await session.cancel()
    assert.equal(await survivors(host), 0)
    assert.deepEqual(resultsOf(await turn.all).length, 1)
  })

  it('is continued in the same native session, when the agent has answered', async (t) => {
    const body = `t.text('working'); if (t.prompt === 'Do it.') await t.cancelled`
    const agent = { capabilities: { sessionCapabilities: { resume: {} } } }
    const { dir, host, session, run } = await stage(t, body, { agent })
    const turn = run()
    await turn.until(says('working'))
    await session.cancel()
    await turn.all
    const [stopped] = host.bindings
    assert.equal(host.bindings.at(-1)?.extra?.['settled'], true)
    const next = run({ turnId: 'turn-2', input: [{ id: '0', type: 'text', text: 'Something else.' }] })
    assert.equal(finishOf(await next.all), 'stop')
    assert.equal(host.bindings.at(-1)?.nativeId, stopped?.nativeId)
    assert.deepEqual((await heard(dir)).slice(-3), ['initialize', 'session/resume', 'session/prompt'])
  })

  it('fails when the agent closes its output, because nothing more can arrive', async (t) => {
    const body = `
      const { closeSync } = await import('node:fs')
      t.text('half')
      process.stdout.write('', () => closeSync(1))
      await new Promise(() => {})`
    const { run } = await stage(t, body)
    const events = await run().all
    assert.equal(finishOf(events), 'error')
    assert.equal(textOf(events), 'half')
  })

  it('by its deadline fails, also when the agent does not listen', async (t) => {
    const deaf = `t.text('for ever'); setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 20)
      await new Promise(() => {})`
    const { host, run } = await stage(t, deaf, { deadlineMs: 2_000, interruptMs: 500 })
    const events = await run().all
    assert.equal(await survivors(host), 0)
    assert.equal(errorOf(events).code, 'deadline')
    assert.equal(finishOf(events), 'error')
  })

  it('takes no messages until it has ended: they go to the next turn', async (t) => {
    const { driver, session, run } = await stage(t, `t.text('working'); await t.cancelled`)
    assert.equal((await driver.describe()).steer, 'restart')
    const turn = run()
    await turn.until(says('working'))
    const steered = session.steer?.(aMessage('m1', 'Stop that.'))
    await assert.rejects(steered ?? Promise.resolve(), (error: unknown) => InspanError.is(error, 'unsupported'))
    await session.cancel()
    await turn.all
  })
})
