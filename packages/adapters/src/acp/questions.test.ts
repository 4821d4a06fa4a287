import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { heard, stage } from '../../test/acp/acp-stage.ts'
import { brief } from '../../test/brief.ts'
import { APPROVE, finishOf, liveHost, resultsOf, textOf } from '../../test/live/live-host.ts'

describe('a question of the agent', () => {
  it('is answered by a rule that allows, once and not for ever', async (t) => {
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { dir, run } = await stage(t, `await t.tool('c1', 'make')`, { host })
    assert.deepEqual(resultsOf(await run().all), ['{"exit_code":0,"output":"ran make"}'])
    assert.deepEqual(host.asked, [])
    assert.ok((await heard(dir)).includes('{"outcome":{"outcome":"selected","optionId":"yes"}}'))
  })

  it('is answered by a rule that forbids, with the reason', async (t) => {
    const host = liveHost(() => ({ policy: 'deny', reason: 'not on Sundays' }))
    const { dir, run } = await stage(t, `await t.tool('c1', 'make')`, { host })
    assert.deepEqual(resultsOf(await run().all), ['✗ did not run make'])
    const refused = { outcome: { outcome: 'selected', optionId: 'no', _meta: { reason: 'not on Sundays' } } }
    assert.ok((await heard(dir)).includes(JSON.stringify(refused)))
  })

  it('comes to a person who approves', async (t) => {
    const { host, run } = await stage(t, `await t.tool('c1', 'make all')`)
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.equal(request.kind, 'approval')
    assert.equal(request.description, 'Run make all')
    assert.equal(request.payload?.['agentWords'], 'make all')
    assert.deepEqual(request.subject, {
      agentId: 'acp',
      toolCallId: 'c1',
      toolName: 'execute_command',
      args: { command: 'make all' },
    })
    answer(APPROVE)
    assert.deepEqual(resultsOf(await turn.all), ['{"exit_code":0,"output":"ran make all"}'])
    assert.deepEqual(brief(host.activity), ['command make all → 0'])
  })

  it('comes to a person who declines, and the agent learns why', async (t) => {
    const { dir, host, run } = await stage(t, `await t.tool('c1', 'make')`)
    const turn = run()
    const { answer } = await host.nextAsk()
    answer({ decision: 'decline', reason: 'Use ninja.' })
    assert.deepEqual(resultsOf(await turn.all), ['✗ did not run make'])
    assert.ok((await heard(dir)).some((line) => line.includes('Use ninja.')))
  })

  it('waits together with another one, and one of them is declined', async (t) => {
    const { host, run } = await stage(t, `await Promise.all([t.tool('c1', 'make'), t.tool('c2', 'rm -r x')])`)
    const turn = run()
    const asks = [await host.nextAsk(), await host.nextAsk()]
    for (const { request, answer } of asks.toReversed()) {
      answer(request.subject.toolCallId === 'c2' ? { decision: 'decline', reason: 'No.' } : APPROVE)
    }
    assert.deepEqual(resultsOf(await turn.all), ['✗ did not run rm -r x', '{"exit_code":0,"output":"ran make"}'])
  })

  it('may be answered long after the turn would have been too long, or too silent', async (t) => {
    const limits = { deadlineMs: 60_000, stallMs: 60_000, onStall: 'abort' } as const
    const { host, run } = await stage(t, `await t.tool('c1', 'make')`, limits)
    // The timers of the turn advance only when this test says so.
    mock.timers.enable({ apis: ['setTimeout'] })
    t.after(() => mock.timers.reset())
    const turn = run()
    const { answer } = await host.nextAsk()
    mock.timers.tick(1_000_000)
    answer(APPROVE)
    const events = await turn.all
    mock.timers.reset()
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(resultsOf(events), ['{"exit_code":0,"output":"ran make"}'])
  })

  it('is over when the agent abandons the call', async (t) => {
    const body = `
      t.call('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } })
      const asked = t.ask('c1')
      t.text('I changed my mind.')
      t.progress('c1', { status: 'failed' })
      t.text(' ' + (await asked).outcome)`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.equal(textOf(events), 'I changed my mind.| cancelled')
    assert.equal(host.asked.length, 1)
  })

  it('is over when the agent withdraws it', async (t) => {
    const body = `
      const asked = t.ask('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } })
      await t.request('_ping', {})
      t.notify('$/cancel_request', { requestId: 1 })
      t.text((await asked).outcome)`
    const { run } = await stage(t, body)
    assert.equal(textOf(await run().all), 'cancelled')
  })

  it('is refused where it could only be allowed for ever', async (t) => {
    const body = `
      const outcome = await t.ask('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } }, [
        { optionId: 'for-ever', name: 'Always', kind: 'allow_always' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { run } = await stage(t, body, { host })
    assert.equal(textOf(await run().all), 'no')
    assert.ok(brief(host.activity).some((line) => line.startsWith('warning [no-allow-once]')))
  })

  it('with several ways to say yes is allowed once by a rule that allows the call', async (t) => {
    const body = `
      const outcome = await t.ask('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } }, [
        { optionId: 'a', name: 'Once', kind: 'allow_once' },
        { optionId: 'b', name: 'Once, quietly', kind: 'allow_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule', rule: 'allow make' }))
    const { run } = await stage(t, body, { host })
    assert.equal(textOf(await run().all), 'a')
    assert.deepEqual(host.asked, [])
  })

  it('with several ways to say yes is a choice for a person, if no rule is about the call', async (t) => {
    const body = `
      const outcome = await t.ask('c1', { title: 'Which one?', kind: 'other' }, [
        { optionId: 'a', name: 'Apples', kind: 'allow_once' },
        { optionId: 'b', name: 'Pears', kind: 'allow_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { run } = await stage(t, body, { host })
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.equal(request.kind, 'question')
    assert.deepEqual(request.payload?.['options'], ['Apples', 'Pears'])
    answer({ decision: 'answer', value: 'Pears' })
    assert.equal(textOf(await turn.all), 'b')
  })

  it('a question whose command is only in its title shows the agent’s wording, and only a person can allow it', async (t) => {
    const title = 'rm -rf build [current working directory /home/me] (Removes the build)'
    const body = `
      const outcome = await t.ask('c1', { title: ${JSON.stringify(title)}, kind: 'execute' }, [
        { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule', rule: 'allow rm' }))
    const { run } = await stage(t, body, { host })
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.equal(request.kind, 'approval')
    assert.deepEqual(request.subject?.args, { command: 'rm -rf build' })
    assert.match(request.description, /rm -rf build.*agent’s own words/)
    assert.equal(request.payload?.['agentWords'], title)
    answer({ decision: 'approve' })
    assert.equal(textOf(await turn.all), 'yes')
  })

  it('a question whose command is only in its title is denied by a rule that matches it', async (t) => {
    const body = `
      const outcome = await t.ask('c1', { title: 'rm -rf build', kind: 'execute' }, [
        { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(({ args }) =>
      args['command'] === 'rm -rf build'
        ? { policy: 'deny', reason: 'a rule', rule: 'deny rm' }
        : { policy: 'allow', reason: 'else' },
    )
    const { run } = await stage(t, body, { host })
    assert.equal(textOf(await run().all), 'no')
    assert.deepEqual(host.asked, [])
  })

  it('shows a person what a file is to become, and the rules each file of it', async (t) => {
    const body = `
      const diff = (path) => ({ type: 'diff', path, oldText: 'old', newText: 'new' })
      await t.ask('c1', { title: 'Edit', kind: 'edit', content: [diff('/w/a'), diff('/w/b')] })
      t.done('c1')`
    const { host, run } = await stage(t, body)
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.deepEqual(request.payload?.['diffs'], [
      { path: '/w/a', oldText: 'old', newText: 'new' },
      { path: '/w/b', oldText: 'old', newText: 'new' },
    ])
    answer(APPROVE)
    await turn.all
    assert.deepEqual(new Set(host.judged.map(({ args }) => args['path'])), new Set(['/w/a', '/w/b']))
    assert.deepEqual(brief(host.activity), ['write /w/a', 'write /w/b'])
  })
})
