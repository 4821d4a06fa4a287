import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { defaultOMProgressState, type HarnessEvent, type OMProgressState } from '@inspan/protocol/harness'
import { HarnessBench } from '../harness.fixture.ts'

/** The status that memory reports. */
const STATUS: HarnessEvent = {
  type: 'om_status',
  windows: {
    active: { messages: { tokens: 1_500, threshold: 3_000 }, observations: { tokens: 700, threshold: 1_400 } },
    buffered: {
      observations: {
        status: 'running',
        chunks: 2,
        messageTokens: 600,
        projectedMessageRemoval: 500,
        observationTokens: 90,
      },
      reflection: { status: 'complete', inputObservationTokens: 400, observationTokens: 80 },
    },
  },
  recordId: 'om1',
  threadId: 't1',
  stepNumber: 3,
  generationCount: 2,
}

const SHOWN: OMProgressState = {
  ...defaultOMProgressState(),
  pendingTokens: 1_500,
  threshold: 3_000,
  thresholdPercent: 50,
  observationTokens: 700,
  reflectionThreshold: 1_400,
  reflectionThresholdPercent: 50,
  buffered: STATUS.windows.buffered,
  generationCount: 2,
  stepNumber: 3,
}

suite('the display shows of observational memory', () => {
  test('how much there is, how much is needed, and what is being prepared', async () => {
    await using bench = new HarnessBench([])
    const { session } = bench.harness
    assert.deepEqual(session.displayState.get().omProgress, defaultOMProgressState())
    session.emit(STATUS)
    const { bufferingMessages, bufferingObservations, omProgress } = session.displayState.get()
    assert.deepEqual(omProgress, SHOWN)
    assert.deepEqual([bufferingMessages, bufferingObservations], [true, false])
  })

  test('an observation: since when, and that nothing is left to observe after it', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 5_000 })
    await using bench = new HarnessBench([])
    const { session } = bench.harness
    const shown = (): OMProgressState => session.displayState.get().omProgress
    session.emit(STATUS)
    const started = { type: 'om_observation_start', cycleId: 'c1', operationType: 'observation' } as const
    session.emit({ ...started, tokensToObserve: 1_500 })
    assert.deepEqual(shown(), { ...SHOWN, status: 'observing', cycleId: 'c1', startTime: 5_000 })
    session.emit({ type: 'om_observation_failed', cycleId: 'c1', error: 'no model', durationMs: 9 })
    assert.deepEqual(shown(), SHOWN, 'what failed is still to be done')
    session.emit({ ...started, tokensToObserve: 1_500 })
    session.emit({
      type: 'om_observation_end',
      cycleId: 'c1',
      durationMs: 9,
      tokensObserved: 1_500,
      observationTokens: 840,
    })
    assert.deepEqual(shown(), {
      ...SHOWN,
      pendingTokens: 0,
      thresholdPercent: 0,
      observationTokens: 840,
      reflectionThresholdPercent: 60,
    })
  })

  test('a reflection: since when, of how much, and what is left after it', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 5_000 })
    await using bench = new HarnessBench([])
    const { session } = bench.harness
    const shown = (): OMProgressState => session.displayState.get().omProgress
    session.emit(STATUS)
    session.emit({ type: 'om_reflection_start', cycleId: 'c2', tokensToReflect: 1_400 })
    const before = { ...SHOWN, preReflectionTokens: 700, observationTokens: 1_400, reflectionThresholdPercent: 100 }
    assert.deepEqual(shown(), { ...before, status: 'reflecting', cycleId: 'c2', startTime: 5_000 })
    session.emit({ type: 'om_reflection_failed', cycleId: 'c2', error: 'no model', durationMs: 9 })
    assert.deepEqual(shown(), before)
    session.emit({ type: 'om_reflection_start', cycleId: 'c3', tokensToReflect: 1_400 })
    session.emit({ type: 'om_reflection_end', cycleId: 'c3', durationMs: 9, compressedTokens: 140 })
    assert.deepEqual(shown(), {
      ...before,
      preReflectionTokens: 1_400,
      observationTokens: 140,
      reflectionThresholdPercent: 10,
    })
  })

  for (const [operationType, flag] of [
    ['observation', 'bufferingMessages'],
    ['reflection', 'bufferingObservations'],
  ] as const) {
    test(`the display shows that observational memory prepares the next ${operationType} in the background, until that is done, has failed or is used`, async () => {
      await using bench = new HarnessBench([])
      const { session } = bench.harness
      const begins: HarnessEvent = { type: 'om_buffering_start', cycleId: 'c', operationType, tokensToBuffer: 10 }
      const ends: readonly HarnessEvent[] = [
        { type: 'om_buffering_end', cycleId: 'c', operationType, tokensBuffered: 10, bufferedTokens: 2 },
        { type: 'om_buffering_failed', cycleId: 'c', operationType, error: 'no model' },
        {
          type: 'om_activation',
          cycleId: 'c',
          operationType,
          chunksActivated: 1,
          tokensActivated: 10,
          observationTokens: 20_000,
          messagesActivated: 2,
          generationCount: 4,
        },
      ]
      const flags = (): readonly boolean[] => {
        const { bufferingMessages, bufferingObservations } = session.displayState.get()
        return [bufferingMessages, bufferingObservations]
      }
      for (const end of ends) {
        session.emit(begins)
        assert.deepEqual(flags(), [flag === 'bufferingMessages', flag === 'bufferingObservations'], end.type)
        session.emit(end)
        assert.deepEqual(flags(), [false, false], end.type)
      }
      const { generationCount, observationTokens, reflectionThresholdPercent } = session.displayState.get().omProgress
      assert.deepEqual([observationTokens, reflectionThresholdPercent, generationCount], [20_000, 50, 4])
    })
  }
})

test('the display shows of a subagent what it is called, and whether it has forked', async () => {
  const subagents = [{ id: 'explore', name: 'Explorer', description: 'Looks around.', instructions: 'Look.' }]
  await using bench = new HarnessBench([], { subagents })
  const { session } = bench.harness
  const start = { type: 'subagent_start', task: 'Look.', modelId: 'a/b' } as const
  session.emit({ ...start, toolCallId: 'c1', agentType: 'explore', forked: true })
  session.emit({ ...start, toolCallId: 'c2', agentType: 'general' })
  const shown = { task: 'Look.', modelId: 'a/b', toolCalls: [], textDelta: '', status: 'running' }
  assert.deepEqual(
    [...session.displayState.get().activeSubagents],
    [
      ['c1', { ...shown, agentType: 'explore', displayName: 'Explorer', forked: true }],
      ['c2', { ...shown, agentType: 'general' }],
    ],
  )
})
