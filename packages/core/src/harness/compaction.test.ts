import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scriptedModel } from '@inspan/testing'
import { LONG, openMemoryBench, WINDOW } from './memory-bench.fixture.ts'

suite('compaction of a thread', () => {
  test('is shown in the thread, and undone by a rewind to a point before it; the source stays whole', async () => {
    const summariser = scriptedModel([{ text: 'They spoke about foxes.', repeat: true }])
    await using bench = await openMemoryBench({ compaction: { model: summariser } })
    for (let turn = 0; turn < 6; turn++) await bench.harness.sendMessage({ content: `${turn}: ${LONG}` })
    const { session } = bench.harness
    const messages = await session.thread.listMessages({ threadId: bench.threadId, limit: 100 })
    assert.deepEqual(await bench.memory.compact(bench.threadId), { isDone: true })
    await bench.harness.sendMessage({ content: 'And now?' })
    assert.match(bench.model.requestBodies.at(-1) ?? '', /They spoke about foxes/)
    const listed = await session.thread.listMessages({ threadId: bench.threadId, limit: 100 })
    assert.deepEqual(
      listed.slice(0, messages.length).map(({ id }) => id),
      messages.map(({ id }) => id),
    )
    const entry = listed[messages.length]
    assert.equal(entry?.role, 'system')
    const [shown, ...more] = entry?.content ?? []
    assert.ok(shown?.type === 'compaction' && more.length === 0)
    assert.ok(shown.messages > 2 && shown.messages < messages.length)
    assert.ok(shown.tokensAfter < shown.tokensBefore)
    assert.deepEqual(
      bench.all('message_end').filter(({ message }) => message.id === entry?.id).length,
      1,
      'a listener hears of it',
    )
    // It is for people: the model gets the summary and no empty message.
    const prompt = (bench.model.requests.at(-1)?.prompt ?? []) as readonly { readonly content: unknown }[]
    assert.ok(prompt.every(({ content }) => content !== '' && !(Array.isArray(content) && content.length === 0)))
    await session.thread.rewind({ messageId: messages[4]?.id ?? '' })
    const left = await session.thread.listMessages({ threadId: bench.threadId, limit: 100 })
    assert.ok(!left.some(({ content }) => content.some(({ type }) => type === 'compaction')))
    await bench.harness.sendMessage({ content: 'Again.' })
    const last = bench.model.requestBodies.at(-1) ?? ''
    assert.doesNotMatch(last, /They spoke about foxes/)
    assert.match(last, /0: The quick/)
  })

  test('compaction of a thread that is being made when the run is aborted ends with it, and changes nothing', async () => {
    const summariser = scriptedModel([{ text: '', hang: true, repeat: true }])
    await using bench = await openMemoryBench({ compaction: { model: summariser } }, { isWindowKnown: false })
    let sent: Promise<void> = Promise.resolve()
    while (summariser.calls === 0) {
      sent = bench.harness.sendMessage({ content: LONG })
      await Promise.race([sent, asked(() => summariser.calls > 0)])
    }
    await bench.harness.session.abort()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    const records = await bench.storage.readRecords(bench.threadId, { limit: 1000 })
    assert.ok(!records.items.some(({ body }) => body.type === 'compaction' || body.type === 'context.cut'))
  })

  test('happens once at a context overflow of the provider, and the step continues', async () => {
    const summariser = scriptedModel([{ text: 'Foxes.', repeat: true }])
    await using bench = await openMemoryBench({ compaction: { model: summariser } }, { isWindowKnown: false })
    while (bench.model.refused === 0) await bench.harness.sendMessage({ content: LONG })
    assert.equal(summariser.calls, 1)
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.match(bench.model.requestBodies.at(-1) ?? '', /Foxes\./)
  })
})

suite('the context usage of a session', () => {
  test('is that of the last step alone, with the window of the model', async () => {
    const summariser = scriptedModel([{ text: 'Foxes.', repeat: true }])
    const usage = (inputTokens: number): object => ({ text: 'Noted.', usage: { inputTokens, outputTokens: 5 } })
    const script = [
      { ...usage(2000), toolCalls: [{ name: 'recall', input: { query: 'fox' } }] },
      usage(4000),
      usage(1000),
    ] as never
    await using bench = await openMemoryBench({ compaction: { model: summariser } }, { script })
    const { session } = bench.harness
    assert.deepEqual((await session.getContextUsage()).usage, {})
    await bench.harness.sendMessage({ content: LONG })
    const after = await session.getContextUsage()
    assert.deepEqual([after.usage.inputTokens, after.contextWindow, after.usedFraction], [4000, WINDOW, 0.5])
    await bench.harness.sendMessage({ content: 'And now?' })
    assert.equal((await session.getContextUsage()).usedFraction, 0.125)
  })

  test('has no fraction where the window is unknown', async () => {
    const script = [{ text: 'Noted.', usage: { inputTokens: 10, outputTokens: 1 } }]
    await using bench = await openMemoryBench({}, { isWindowKnown: false, script })
    await bench.harness.sendMessage({ content: 'Hi' })
    const { contextWindow, usage, usedFraction } = await bench.harness.session.getContextUsage()
    assert.deepEqual([contextWindow, usage.inputTokens, usedFraction], [undefined, 10, undefined])
  })
})

async function asked(isAsked: () => boolean): Promise<void> {
  while (!isAsked()) await new Promise((resolve) => setImmediate(resolve))
}
