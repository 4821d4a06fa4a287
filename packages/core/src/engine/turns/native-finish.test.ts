import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTool } from '@inspan/agent'
import type { AgentEvent } from '@inspan/protocol'
import type { ModelTurn } from '@inspan/testing'
import * as fc from 'fast-check'
import { AgentBench } from '../agent-bench.fixture.ts'

const MAX_RETRIES = 2

const tools = {
  quick: createTool({ id: 'quick', description: 'Ends at once.', execute: () => 'ok' }),
  broken: createTool({
    id: 'broken',
    description: 'Throws.',
    execute: () => {
      throw new Error('broken')
    },
  }),
  deaf: createTool({
    id: 'deaf',
    description: 'Ends only with the run.',
    execute: (_input, { abortSignal }) =>
      new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve('too late'))),
  }),
}

const calls = fc.array(fc.constantFrom('quick', 'broken', 'missing'), { maxLength: 3 })
const answer: fc.Arbitrary<ModelTurn> = fc.oneof(
  { weight: 3, arbitrary: calls.map((names) => ({ text: ['a', 'b'], toolCalls: names.map((name) => ({ name })) })) },
  fc.constantFrom<ModelTurn>(
    { text: 'done', finishReason: 'length' },
    { text: 'no', finishReason: 'content-filter' },
    { text: '', finishReason: 'error' },
    { error: { status: 500 } },
    { error: { status: 400 } },
    { text: ['x', 'y', 'z'], cut: 'end' },
    { text: ['x', 'y', 'z'], cut: 'reset', cutAfter: 2 },
    { cut: 'reset' },
    { text: 'x', streamError: { status: 400 } },
    { toolCalls: [{ name: 'quick', input: '[1' }] },
    { toolCalls: [{ name: 'quick', input: { a: 1 }, inputDeltas: 4 }], cutAfter: 2, cut: 'end' },
    { toolCalls: [{ name: 'deaf' }, { name: 'quick' }] },
    { text: ['x', 'y'], hang: true },
  ),
)

/** Checks what holds for every stream of events, whatever happened. */
function assertWellFormed(events: readonly AgentEvent[]): void {
  const types = events.map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'finish').length, 1, 'one finish')
  assert.equal(types.at(-1), 'finish', 'nothing after it')
  assert.equal(types[0], 'start')
  const ordered = events.flatMap((event) =>
    event.type === 'tool-call' && event.meta?.interrupted !== true ? [event.toolCallId] : [],
  )
  const answered = events.flatMap((event) => (event.type === 'tool-result' ? [event.toolCallId] : []))
  assert.equal(new Set(answered).size, answered.length, 'one result per call')
  assert.deepEqual(new Set(answered), new Set(ordered), 'every call has its result')
  const steps = events.flatMap((event) => (event.type === 'step-start' ? [event.stepIndex] : []))
  assert.deepEqual(
    steps,
    steps.map((_step, index) => index),
    'steps are counted from 0',
  )
  const isFailed = events.some((event) => event.type === 'finish' && event.finishReason === 'error')
  assert.equal(types.includes('error'), isFailed, 'who ends with an error says which, and nobody else does')
}

/** Checks the limit of steps, which counts answers. Failed attempts are limited by the retries. */
function assertLimit(events: readonly AgentEvent[], calls: number, maxSteps: number): void {
  const ends = events.flatMap((event) => (event.type === 'step-finish' ? [event.finishReason] : []))
  const answers = ends.filter((reason) => reason !== 'error').length
  assert.ok(answers <= maxSteps, `${answers} answers of ${maxSteps}`)
  assert.ok(calls <= (maxSteps + 1) * (MAX_RETRIES + 1), `${calls} calls of the model`)
  const [finish] = events.slice(-1)
  if (finish?.type !== 'finish' || finish.finishReason === 'error') return
  assert.notEqual(ends.at(-1), 'error', 'an attempt that failed is followed by another, or by the error')
}

test('a turn has exactly one finish, whatever the model and its tools do and whenever it is cancelled', async () => {
  const plan = fc.record({
    script: fc.array(answer, { minLength: 1, maxLength: 6 }),
    cancelAfter: fc.option(fc.nat({ max: 25 }), { nil: undefined }),
    maxSteps: fc.integer({ min: 1, max: 6 }),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ cancelAfter, maxSteps, script }) => {
      await using bench = await AgentBench.open([...script, { text: 'End.', repeat: true }], {
        agent: { tools, maxSteps, retry: { maxRetries: MAX_RETRIES, initialDelayMs: 0 } },
      })
      let cancelled: Promise<unknown> | undefined
      let entries = 0
      const cancel = (): void => void (cancelled ??= bench.runtime.cancel())
      bench.runtime.onEntry((entry) => {
        entries++
        if (cancelAfter !== undefined && entries > cancelAfter) cancel()
        // A script that hangs is cancelled once it has started.
        if (entry.kind === 'delta' && script.some(({ hang }) => hang === true)) cancel()
        if (entry.kind === 'record' && entry.record.body.type === 'call.started') {
          if (JSON.stringify(entry.state.messages.toArray().map(({ parts }) => parts.toArray())).includes('deaf'))
            cancel()
        }
      })
      const outcome = await bench.play()
      await cancelled
      const events = await bench.events()
      assertWellFormed(events)
      if (outcome !== 'aborted') assertLimit(events, bench.model.calls, maxSteps)
      const ends = (await bench.records()).filter(({ body }) => body.type === 'run.ended')
      assert.equal(ends.length, 1)
      assert.ok(['complete', 'aborted', 'error'].includes(outcome))
      const { lastRun } = bench.runtime.state.head
      assert.equal(lastRun?.error !== undefined, outcome === 'error', 'a run that failed says why, and no other')
      for (const message of await bench.messages()) {
        assert.notEqual(message.state, 'open')
        assert.ok(message.parts.every((part) => part.state !== 'open'))
      }
    }),
    { numRuns: 120 },
  )
})

test('a run that failed explains why: what the model failed of last, not what was tried again', async () => {
  const script = [{ error: { status: 500, message: 'busy' } }, { error: { status: 400, message: 'no such model' } }]
  await using bench = await AgentBench.open(script)
  assert.equal(await bench.play(), 'error')
  assert.equal(bench.runtime.state.head.lastRun?.error?.message, 'no such model')
  const [ended] = (await bench.records()).flatMap(({ body }) => (body.type === 'run.ended' ? [body] : []))
  assert.equal(ended?.error?.message, 'no such model')
})
