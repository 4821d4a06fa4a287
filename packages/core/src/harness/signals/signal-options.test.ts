import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { HarnessBench } from '../harness.fixture.ts'

suite('what may be said with a signal', () => {
  test('attributes the model reads, and metadata that only programs see', async () => {
    await using bench = new HarnessBench([{ text: 'I see.' }])
    const ended = bench.next('agent_end')
    const { id } = bench.harness.sendSignal({
      type: 'reactive',
      tagName: 'weather',
      contents: 'It rains.',
      attributes: { where: 'here' },
      metadata: { station: 7 },
    })
    await ended
    assert.match(JSON.stringify(bench.model.requests[0]), /<weather where=\\"here\\">It rains\.<\/weather>/)
    assert.ok(!JSON.stringify(bench.model.requests).includes('station'))
    const [event] = bench.all('reactive_signal')
    assert.deepEqual([event?.id, event?.tagName, event?.message], [id, 'weather', 'It rains.'])
    assert.deepEqual([event?.attributes, event?.metadata], [{ where: 'here' }, { station: 7 }])
  })

  test('options for the provider of the model', async () => {
    await using bench = new HarnessBench([{ text: 'I see.' }])
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    const ended = bench.next('agent_end')
    await bench.harness.sendSignal({ type: 'user', contents: 'Remember this.', providerOptions }).accepted
    await ended
    assert.match(JSON.stringify(bench.model.requests[0]), /"cacheControl":\{"type":"ephemeral"\}/)
  })

  test('where a notification goes that would be delivered at once', async () => {
    await using bench = new HarnessBench([])
    const notice = { source: 'ci', kind: 'status', summary: 'It failed.', priority: 'urgent' } as const
    const kept = await bench.harness.sendNotificationSignal(notice, { ifIdle: { behavior: 'persist' } })
    assert.deepEqual(await kept.accepted, { accepted: true, action: 'persist' })
    const dropped = await bench.harness.sendNotificationSignal(notice, { ifIdle: { behavior: 'discard' } })
    assert.deepEqual(await dropped.accepted, { accepted: true, action: 'discard' })
    assert.equal(bench.model.calls, 0)
    assert.equal((await bench.harness.session.thread.listActiveMessages()).length, 1)
  })

  test('a reminder takes its role and further data', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    await bench.harness.createThread()
    const reminder = { message: 'Mind the gap.', reminderType: 'gap', role: 'system', metadata: { gapMs: 5 } } as const
    const message = await bench.harness.saveSystemReminderMessage(reminder)
    assert.equal(message?.role, 'system')
    const [content] = message?.content ?? []
    assert.ok(content?.type === 'system_reminder')
    assert.deepEqual([content.message, content.reminderType, content.gapMs], ['Mind the gap.', 'gap', 5])
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.match(JSON.stringify(bench.model.requests[0]), /Mind the gap\./)
  })
})
