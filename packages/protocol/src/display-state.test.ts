import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultDisplayState } from './display-state.ts'
import { toHarnessThread } from './harness-thread.ts'
import { NO_USAGE } from './usage.ts'
import { toWire } from './wire-form.ts'

test('a fresh display shows nothing and knows the memory thresholds', () => {
  assert.deepEqual(toWire(defaultDisplayState()), {
    isRunning: false,
    currentMessage: null,
    queuedFollowUps: 0,
    tokenUsage: {
      promptTokens: 0,
      completionTokens: 0,
      totalTokens: 0,
      reasoningTokens: 0,
      cachedInputTokens: 0,
      cacheCreationInputTokens: 0,
    },
    activeTools: {},
    toolInputBuffers: {},
    pendingApproval: null,
    pendingApprovals: [],
    pendingSuspensions: {},
    activeSubagents: {},
    omProgress: {
      status: 'idle',
      pendingTokens: 0,
      threshold: 30_000,
      thresholdPercent: 0,
      observationTokens: 0,
      reflectionThreshold: 40_000,
      reflectionThresholdPercent: 0,
      buffered: {
        observations: {
          status: 'idle',
          chunks: 0,
          messageTokens: 0,
          projectedMessageRemoval: 0,
          observationTokens: 0,
        },
        reflection: { status: 'idle', inputObservationTokens: 0, observationTokens: 0 },
      },
      generationCount: 0,
      stepNumber: 0,
      preReflectionTokens: 0,
    },
    bufferingMessages: false,
    bufferingObservations: false,
    modifiedFiles: {},
    tasks: [],
    previousTasks: [],
  })
})

test('no two displays share their maps', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(defaultDisplayState())), toWire(defaultDisplayState()))
  assert.notEqual(defaultDisplayState().activeTools, defaultDisplayState().activeTools)
})

test('a thread is listed with dates; one without a title has an empty one', () => {
  const info = {
    id: 't1',
    resourceId: 'r',
    title: null,
    createdAt: 0,
    updatedAt: 1_000,
    hidden: false,
    metadata: { a: 1 },
  }
  assert.deepEqual(toHarnessThread(info), {
    id: 't1',
    resourceId: 'r',
    title: '',
    createdAt: new Date(0),
    updatedAt: new Date(1_000),
    metadata: { a: 1 },
  })
  const named = toHarnessThread({ ...info, title: 'Tests' }, { ...NO_USAGE, inputTokens: 2, totalTokens: 2 })
  assert.equal(named.title, 'Tests')
  assert.equal(named.tokenUsage?.promptTokens, 2)
})
