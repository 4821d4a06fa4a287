import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scriptedModel } from '@evener/testing'
import { HarnessBench } from './harness.fixture.ts'

suite('the stream and the run of a session', () => {
  test('say whether a thread is watched, whether it is at work, and stop it', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }])
    const { run, stream } = bench.harness.session
    assert.deepEqual([stream.isOpen(), stream.isActive(), stream.activeRunId()], [false, false, null])
    await bench.harness.createThread()
    assert.deepEqual([stream.isOpen(), stream.isActive(), stream.activeRunId()], [true, false, null])
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    assert.deepEqual([stream.isActive(), run.isRunning()], [true, true])
    assert.equal(stream.activeRunId(), run.getRunId())
    assert.equal(typeof stream.activeRunId(), 'string')
    const stopped = stream.abort()
    assert.equal(run.isAbortRequested(), true)
    await stopped
    await sent
    assert.deepEqual([stream.isOpen(), stream.isActive(), stream.activeRunId()], [true, false, null])
    assert.deepEqual([run.isAbortRequested(), run.getRunId()], [false, null])
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
  })

  test('a run that waits for an answer is one, but nothing is at work', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'ask_user', input: { question: 'x?' } }] }])
    await bench.harness.sendMessage({ content: 'Go' })
    const { run, stream } = bench.harness.session
    assert.deepEqual([stream.isActive(), stream.activeRunId(), run.isRunning()], [false, null, false])
    assert.equal(typeof run.getRunId(), 'string')
    await run.requestAbort()
    assert.equal(run.getRunId(), null)
  })
})

suite('detaching from the thread', () => {
  test('ends what is being done, lets lock and lease go, and the thread stays', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([{ text: 'Half', hang: true }], {
      threadLock: { acquire: (id) => void journal.push(`+${id}`), release: (id) => void journal.push(`-${id}`) },
    })
    const { id } = await bench.harness.createThread()
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    await bench.harness.detachFromCurrentThread()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    assert.deepEqual(journal, [`+${id}`, `-${id}`])
    const { session } = bench.harness
    assert.deepEqual([session.thread.getId(), session.stream.isOpen()], [null, false])
    assert.equal((await bench.harness.getRuntime()?.store.getStream(id))?.owner, null)
    assert.equal((await session.thread.getById({ threadId: id }))?.id, id)
    await bench.harness.detachFromCurrentThread()
  })
})

test('the list of models is read anew when somebody says that it is stale', async () => {
  let name = 'one'
  await using bench = new HarnessBench([], { customModelCatalogProvider: () => [{ id: `mine/${name}` }] })
  const mine = async (): Promise<string[]> =>
    (await bench.harness.listAvailableModels()).map(({ id }) => id).filter((id) => id.startsWith('mine/'))
  assert.deepEqual(await mine(), ['mine/one'])
  name = 'two'
  assert.deepEqual(await mine(), ['mine/one'])
  bench.harness.invalidateAvailableModelsCache()
  assert.deepEqual(await mine(), ['mine/two'])
})

suite('observational memory', () => {
  const record = {
    id: 'om1',
    threadId: 't',
    resourceId: 'r',
    activeObservations: 'The user likes tea.',
    generationCount: 2,
    observationTokenCount: 700,
    pendingMessageTokens: 1_500,
  }

  test('is asked for what it knows of the current thread, and its progress is told and shown', async () => {
    const asked: unknown[] = []
    const memory = {
      getObservationalMemoryRecord: async (query: { threadId: string; resourceId: string }) => {
        asked.push(query)
        return record
      },
    }
    const omConfig = { defaultObservationThreshold: 3_000, defaultReflectionThreshold: 1_400 }
    await using bench = new HarnessBench([], { memory, omConfig, resourceId: 'ada' })
    assert.equal(await bench.harness.getObservationalMemoryRecord(), null)
    await bench.harness.loadOMProgress()
    assert.deepEqual([asked, bench.all('om_status')], [[], []])
    const { id: threadId } = await bench.harness.createThread()
    assert.equal(await bench.harness.getObservationalMemoryRecord(), record)
    await bench.harness.loadOMProgress()
    const query = { threadId, resourceId: 'ada' }
    assert.deepEqual(asked, [query, query])
    const [status] = bench.all('om_status')
    assert.deepEqual(status?.windows.active, {
      messages: { tokens: 1_500, threshold: 3_000 },
      observations: { tokens: 700, threshold: 1_400 },
    })
    assert.deepEqual([status?.recordId, status?.threadId, status?.generationCount], ['om1', threadId, 2])
    const { omProgress } = bench.harness.session.displayState.get()
    assert.deepEqual(
      [omProgress.pendingTokens, omProgress.thresholdPercent, omProgress.reflectionThresholdPercent],
      [1_500, 50, 50],
    )
    assert.equal(omProgress.generationCount, 2)
  })

  test('of which nothing is known yet, or that observes nothing, is no record and no event', async () => {
    for (const memory of [{ getObservationalMemoryRecord: async () => null }, {}]) {
      await using bench = new HarnessBench([], { memory })
      await bench.harness.createThread()
      assert.equal(await bench.harness.getObservationalMemoryRecord(), null)
      await bench.harness.loadOMProgress()
      assert.deepEqual(bench.all('om_status'), [])
    }
  })

  test('uses the models that were chosen for its roles', async () => {
    const models = { 'x/observe': scriptedModel([]), 'x/reflect': scriptedModel([]), 'x/other': scriptedModel([]) }
    await using bench = new HarnessBench([], {
      omConfig: { defaultObserverModelId: 'x/observe', defaultReflectorModelId: 'x/reflect' },
      resolveModel: (modelId) => models[modelId as keyof typeof models],
    })
    const { observer, reflector } = bench.harness.session.om
    assert.equal(await observer.resolvedModel(), models['x/observe'])
    assert.equal(await reflector.resolvedModel(), models['x/reflect'])
    await bench.harness.createThread()
    await reflector.switchModel({ modelId: 'x/other' })
    assert.equal(await reflector.resolvedModel(), models['x/other'])
    assert.deepEqual(bench.all('om_model_changed'), [
      { type: 'om_model_changed', role: 'reflector', modelId: 'x/other' },
    ])
  })
})
