import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { Memory } from '@inspan/memory'
import { scriptedModel } from '@inspan/testing'
import { LONG, NOTES, observing, openMemoryBench, WINDOW, type MemoryBench } from './memory-bench.fixture.ts'

const read = createTool({ id: 'read', description: 'Reads.', category: 'read', execute: () => LONG })

/** A run of so many steps, each of which reads about 400 tokens. */
function working(steps: number): Parameters<typeof openMemoryBench>[1] {
  const step = { text: 'Step.', toolCalls: [{ name: 'read' }] }
  return {
    agent: { tools: { read }, maxSteps: steps + 1 },
    config: { permissions: { tools: { read: 'allow' } } },
    script: [{ ...step, repeat: steps }, { text: 'Done.' }],
  }
}

/** The seqs up to which messages were left out, in the order of their records. */
async function covered({ storage, threadId }: MemoryBench): Promise<number[]> {
  const { items } = await storage.readRecords(threadId, { limit: 5000 })
  return items.flatMap(({ body }) => {
    if (body.type === 'om.committed') return [body.om.coversTo]
    return body.type === 'context.cut' || body.type === 'compaction' ? [body.coversTo] : []
  })
}

function assertWithinWindow({ model }: MemoryBench): void {
  assert.equal(model.refused, 0)
  for (const body of model.requestBodies) assert.ok(Buffer.byteLength(body) / 4 <= WINDOW)
}

suite('compaction in the middle of a long run', () => {
  test('summarises the first steps, and the task stays in its own words, however often it happens', async () => {
    const summariser = scriptedModel([{ text: 'The steps were about foxes.', repeat: true }])
    await using bench = await openMemoryBench({ compaction: { model: summariser } }, working(60))
    await bench.harness.sendMessage({ content: 'Count the walruses.' })
    assert.ok(summariser.calls >= 3)
    for (const body of bench.model.requestBodies) assert.match(body, /Count the walruses\./)
    for (const body of summariser.requestBodies) assert.match(body, /Count the walruses\./)
    assert.match(bench.model.requestBodies.at(-1) ?? '', /<summary>/)
    assert.doesNotMatch(bench.model.requestBodies.at(-1) ?? '', /left out, because/, 'nothing had to be cut')
    assertWithinWindow(bench)
  })

  test('keeps the task although a cut had left out everything around it', async () => {
    const summariser = scriptedModel([{ text: '' }, { text: 'The steps were about foxes.', repeat: true }])
    await using bench = await openMemoryBench({ compaction: { model: summariser } }, working(40))
    await bench.harness.sendMessage({ content: 'Count the walruses.' })
    const last = bench.model.requestBodies.at(-1) ?? ''
    assert.match(last, /<summary>/)
    assert.match(last, /Count the walruses\./)
    assert.match(last, /left out, because/, 'what no summary stands for is still mentioned')
    assert.match(summariser.requestBodies[1] ?? '', /Count the walruses\./)
  })
})

suite('observations that come after a cut', () => {
  test('bring nothing back that it left out, and the model still knows of it', async () => {
    const gate = Promise.withResolvers<void>()
    const first = (): Promise<{ text: string }> => gate.promise.then(() => ({ text: NOTES }))
    const observer = scriptedModel({ turns: [first, { text: NOTES, repeat: true }] })
    await using bench = await openMemoryBench(observing(observer))
    const isCut = (): boolean => /left out, because/.test(bench.model.requestBodies.at(-1) ?? '')
    for (let turn = 0; !isCut(); turn++) await bench.harness.sendMessage({ content: `${turn}: ${LONG}` })
    gate.resolve()
    await bench.memory.settled(bench.threadId)
    await bench.say(10)
    assert.ok(bench.all('om_activation').length > 0)
    assert.ok(isCut())
    const seqs = await covered(bench)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
    assertWithinWindow(bench)
  })

  test('leave what it shortened as short as it is', async () => {
    const gate = Promise.withResolvers<void>()
    const observer = scriptedModel({ turns: [() => gate.promise.then(() => ({ text: NOTES }))] })
    const huge = createTool({ id: 'read', description: 'Reads.', category: 'read', execute: () => LONG.repeat(12) })
    await using bench = await openMemoryBench(observing(observer, {}, { messageTokens: 6000 }), {
      agent: { tools: { read: huge } },
      config: { permissions: { tools: { read: 'allow' } } },
      script: [{ text: 'Noted.', repeat: 7 }, { toolCalls: [{ name: 'read' }] }, { text: 'Noted.', repeat: true }],
    })
    for (let turn = 0; turn < 7; turn++) await bench.harness.sendMessage({ content: `${turn}: ${LONG}` })
    await bench.harness.sendMessage({ content: 'Read it.' })
    assert.match(bench.model.requestBodies.at(-1) ?? '', /characters were left out here/)
    assert.equal(bench.all('om_activation').length, 0)
    gate.resolve()
    await bench.memory.settled(bench.threadId)
    await bench.harness.sendMessage({ content: 'And now?' })
    assert.equal(bench.all('om_activation').length, 1)
    const last = bench.model.requestBodies.at(-1) ?? ''
    assert.match(last, /likes foxes/)
    assert.match(last, /characters were left out here/)
    assertWithinWindow(bench)
  })
})

suite('observations that are prepared when the window is full, long before their threshold', () => {
  test('are used: nothing is cut that was observed', async () => {
    const observer = scriptedModel([{ text: NOTES, repeat: true }])
    await using bench = await openMemoryBench(observing(observer, {}, { messageTokens: 20_000 }))
    await bench.say(60)
    assert.ok(bench.all('om_activation').length >= 3)
    for (const body of bench.model.requestBodies) assert.doesNotMatch(body, /left out, because/)
    assert.match(bench.model.requestBodies.at(-1) ?? '', /likes foxes/)
    assertWithinWindow(bench)
  })
})

test('where a summary is not enough, a cut does the rest before anything is sent', async () => {
  const summariser = scriptedModel([{ text: 'Foxes.', repeat: true }])
  await using bench = await openMemoryBench({ compaction: { model: summariser } })
  await bench.say(10)
  await bench.harness.sendMessage({ content: LONG.repeat(25) })
  assert.equal(summariser.calls, 1)
  const last = bench.model.requestBodies.at(-1) ?? ''
  assert.match(last, /<summary>/)
  assert.match(last, /characters were left out here/)
  assertWithinWindow(bench)
})

suite('a thread that was compacted', () => {
  test('gives its summary to the observations that follow', async () => {
    const summariser = scriptedModel([{ text: 'The safe has the code Walrus-17.' }])
    const observer = scriptedModel([{ text: NOTES, repeat: true }])
    const options = { compaction: { model: summariser }, ...observing(observer) }
    await using bench = await openMemoryBench(options, { isWindowKnown: false })
    for (let turn = 0; turn < 2; turn++) await bench.harness.sendMessage({ content: `${turn}: ${LONG}` })
    assert.deepEqual(await bench.memory.compact(bench.threadId), { isDone: true })
    await bench.say(6)
    assert.ok(bench.all('om_activation').length > 0)
    const { activeObservations } = (await bench.harness.getObservationalMemoryRecord()) ?? {}
    assert.match(activeObservations ?? '', /Walrus-17[^]*likes foxes/)
    assert.match(bench.model.requestBodies.at(-1) ?? '', /Walrus-17/)
  })
})

suite('a model of the memory that fails again and again', () => {
  test('is asked less and less often: the observer', async () => {
    const observer = scriptedModel([{ text: '', repeat: true }])
    await using bench = await openMemoryBench(observing(observer))
    await bench.say(40)
    assert.ok(observer.calls >= 4 && observer.calls <= 8, `${observer.calls} calls in 40 steps`)
  })

  test('is asked less and less often: the reflector', async () => {
    const reflector = scriptedModel([{ text: '', repeat: true }])
    const reflection = { observationTokens: 5, model: reflector }
    await using bench = await openMemoryBench(observing(scriptedModel([{ text: NOTES, repeat: true }]), { reflection }))
    await bench.say(40)
    assert.ok(reflector.calls >= 4 && reflector.calls <= 8, `${reflector.calls} calls in 40 steps`)
    const full = bench.all('om_buffering_failed').filter(({ error }) => /no reflection has shortened/.test(error))
    assert.equal(full.length, 1, 'reported once')
  })
})

test('a memory has a history window or observations, not both', () => {
  assert.throws(() => new Memory({ lastMessages: 10, observationalMemory: true }), { code: 'invalid-input' })
})
