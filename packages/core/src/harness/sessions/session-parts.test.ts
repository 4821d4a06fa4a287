import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'

suite('the stream and the run of a session', () => {
  test('report whether a thread is watched, whether it is at work, and stop it', async () => {
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

test('the list of models is read anew when somebody invalidates it', async () => {
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

  test('is asked for the state of the current thread, and its progress is reported and shown', async () => {
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

  test('observational memory that is unknown or observes nothing makes no record and no event', async () => {
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

  test('is shown by the thresholds that are set, before its first report', async () => {
    const storage = new MemoryStore()
    const omConfig = { defaultObservationThreshold: 1_000, defaultReflectionThreshold: 2_000 }
    const shown = ({ harness }: HarnessBench): number[] => {
      const { reflectionThreshold, threshold } = harness.session.displayState.get().omProgress
      return [threshold, reflectionThreshold]
    }
    const first = new HarnessBench([{ text: 'Yes?' }], { omConfig, storage })
    assert.deepEqual(shown(first), [1_000, 2_000])
    await first.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(shown(first), [1_000, 2_000])
    await first.harness.session.state.set({ observationThreshold: 500 })
    assert.deepEqual(shown(first), [500, 2_000])
    await first.harness.destroy()
    await using second = new HarnessBench([], { omConfig, storage })
    assert.deepEqual(shown(second), [1_000, 2_000])
    await second.harness.selectOrCreateThread()
    assert.deepEqual(shown(second), [500, 2_000])
    await second.harness.destroy()
    await storage.close()
  })
})

suite('mode and model', () => {
  test('a mode that is set does not end the run, and holds from its next step on', async () => {
    const gate = Promise.withResolvers<void>()
    const work = createTool({ id: 'work', description: 'Works.', category: 'read', execute: () => gate.promise })
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'work' }] }, { text: 'Done.' }], {
      tools: { work },
      modes: [{ id: 'a' }, { id: 'b', instructions: 'SECOND-MODE' }],
      permissions: { categories: { read: 'allow' } },
    })
    const begun = bench.next('tool_start')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    await bench.harness.session.mode.set({ modeId: 'b' })
    gate.resolve()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    const [first, second] = bench.model.requestBodies
    assert.ok(!first?.includes('SECOND-MODE'))
    assert.ok(second?.includes('SECOND-MODE'))
  })

  test('a model may be kept for a mode one is not in, or be chosen for all threads to come', async () => {
    const used: string[] = []
    await using bench = new HarnessBench([], {
      modes: [{ id: 'a' }, { id: 'b', defaultModelId: 'x/b' }],
      modelUseCountTracker: (modelId) => void used.push(modelId),
    })
    const { mode, model } = bench.harness.session
    await bench.harness.createThread()
    assert.deepEqual([model.hasSelection(), model.displayName()], [false, 'unknown'])
    assert.equal(model.resolveForMode({ modeId: 'b' }), 'x/b')
    await model.saveForMode({ modeId: 'b', modelId: 'x/better' })
    assert.equal(model.resolveForMode({ modeId: 'b' }), 'x/better')
    await mode.switch({ modeId: 'b' })
    assert.deepEqual([model.get(), model.displayName(), model.hasSelection()], ['x/better', 'better', true])
    await model.set({ modelId: 'x/quiet' })
    assert.deepEqual([model.get(), used], ['x/quiet', []])
    await model.saveForMode({ modeId: 'a' })
    assert.equal(model.resolveForMode({ modeId: 'a' }), 'x/quiet')
    await model.switch({ modelId: 'x/all', scope: 'global' })
    const told = { type: 'model_changed', modelId: 'x/all', scope: 'global', modeId: 'b' }
    assert.deepEqual([bench.all('model_changed').at(-1), used], [told, ['x/all']])
    await bench.harness.detachFromCurrentThread()
    assert.equal(model.get(), 'x/all')
    await bench.harness.createThread()
    assert.equal(model.get(), 'x/all')
  })
})

test('suspensions are found by the call that waits', async () => {
  await using bench = new HarnessBench([{ toolCalls: [{ id: 'q1', name: 'ask_user', input: { question: 'Why?' } }] }])
  await bench.harness.sendMessage({ content: 'Go' })
  const { suspensions } = bench.harness.session
  assert.deepEqual([suspensions.has({ toolCallId: 'q1' }), suspensions.has({ toolCallId: 'q2' })], [true, false])
  assert.deepEqual(suspensions.get({ toolCallId: 'q1' })?.suspendPayload, { question: 'Why?' })
  assert.equal(suspensions.get({ toolCallId: 'q2' }), undefined)
  assert.equal(suspensions.resolveToolCallId(), 'q1')
  await bench.harness.session.abortRun()
  assert.equal(suspensions.hasPending(), false)
})

test('a follow-up is put into the queue and taken out of it', async () => {
  await using bench = new HarnessBench([{ text: 'Half', hang: true }])
  const begun = bench.next('message_update')
  const sent = bench.harness.sendMessage({ content: 'Go' })
  await begun
  const { followUps } = bench.harness.session
  for (const content of ['One', 'Two', 'Three']) await followUps.enqueue({ content })
  const [, two] = followUps.list()
  assert.deepEqual(await followUps.dequeue({ id: two?.id ?? '' }), two)
  assert.equal((await followUps.dequeue())?.content, 'One')
  assert.deepEqual(
    followUps.list().map(({ content }) => content),
    ['Three'],
  )
  assert.deepEqual(
    bench.all('follow_up_queued').map(({ count }) => count),
    [1, 2, 3, 2, 1],
  )
  assert.equal(await followUps.dequeue({ id: 'nobody' }), undefined)
  await bench.harness.abort()
  await sent
})

test('the threads are in one place under `memory`, the same as elsewhere', async () => {
  await using bench = new HarnessBench([])
  const { memory, session } = bench.harness
  const first = await memory.createThread({ title: 'First' })
  const second = await memory.createThread()
  await memory.switchThread({ threadId: first.id })
  assert.equal(session.thread.getId(), first.id)
  await memory.renameThread({ title: 'Renamed' })
  assert.equal((await session.thread.getById({ threadId: first.id }))?.title, 'Renamed')
  assert.deepEqual((await memory.listThreads()).map(({ id }) => id).sort(), [first.id, second.id].sort())
})

test('a heartbeat can be added later, and ends with the others', async () => {
  const bench = new HarnessBench([])
  await bench.harness.init()
  const journal: string[] = []
  const beat = Promise.withResolvers<void>()
  await bench.harness.registerHeartbeat({
    id: 'late',
    intervalMs: 60_000,
    handler: () => beat.resolve(),
    shutdown: () => void journal.push('down'),
  })
  await beat.promise
  await bench.harness.destroy()
  assert.deepEqual(journal, ['down'])
})
