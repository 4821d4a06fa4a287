import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { inspect } from 'node:util'
import { createTool, type LoopHooks } from '@inspan/agent'
import { AgentBench } from '../agent-bench.fixture.ts'

const CALL = [{ text: 'One.', toolCalls: [{ id: 'c1', name: 'echo', input: { say: 'hi' } }] }, { text: 'Two.' }]

function bench(hooks: LoopHooks, ran: unknown[] = []): Promise<AgentBench> {
  const echo = createTool({
    id: 'echo',
    description: 'Echoes.',
    execute: (input) => {
      ran.push(input)
      return { echoed: input['say'] ?? null }
    },
  })
  return AgentBench.open(CALL, { agent: { tools: [echo], hooks } })
}

/** A hook that returns anything, as in a program without types. */
function returning(name: keyof LoopHooks, returned: unknown): LoopHooks {
  return { [name]: (): unknown => returned }
}

suite('hooks', () => {
  test('are called in their places, with what they are about', async () => {
    const seen: string[] = []
    await using thread = await bench({
      beforeTurn: ({ context }) => void seen.push(`turn in ${context.threadId}`),
      beforeStep: ({ stepIndex, prompt }) => void seen.push(`step ${stepIndex} after ${prompt.length} messages`),
      beforeTool: ({ toolName, input }) => void seen.push(`${toolName} ${JSON.stringify(input)}`),
      afterTool: ({ toolName, result, isError }) =>
        void seen.push(`${toolName} gave ${JSON.stringify(result)} ${isError}`),
      afterStep: ({ step }) => void seen.push(`said ${step.text}`),
      afterTurn: ({ finishReason, steps }) => void seen.push(`${finishReason} after ${steps.length} steps`),
    })
    assert.equal(await thread.play(), 'complete')
    assert.deepEqual(seen, [
      'turn in thread',
      'step 0 after 1 messages',
      'echo {"say":"hi"}',
      'echo gave {"echoed":"hi"} false',
      'said One.',
      'step 1 after 3 messages',
      'said Two.',
      'stop after 2 steps',
    ])
  })

  test('may change the input of a tool: that is what is approved and run, and recorded', async () => {
    const ran: unknown[] = []
    const echo = createTool({
      id: 'echo',
      description: 'Echoes.',
      execute: (input) => {
        ran.push(input)
        return 'ok'
      },
    })
    await using thread = await AgentBench.open(CALL, {
      agent: { tools: [echo], hooks: { beforeTool: () => ({ input: { say: 'bye' } }) } },
      runtime: { decide: () => ({ policy: 'ask', reason: 'first' }) },
    })
    const run = await thread.submit('Go.')
    const wait = await thread.wait()
    assert.deepEqual(wait.subject.args, { say: 'bye' })
    await thread.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(ran, [{ say: 'bye' }])
    const [result] = await thread.eventsOf('tool-result')
    assert.deepEqual(result?.meta?.['input'], { say: 'bye' })
  })

  test('may decline a call: it is not run, and the model gets the reason', async () => {
    const ran: unknown[] = []
    await using thread = await bench({ beforeTool: () => ({ decline: 'not today' }) }, ran)
    assert.equal(await thread.play(), 'complete')
    assert.deepEqual(ran, [])
    const [result] = await thread.eventsOf('tool-result')
    assert.equal(result?.isError, true)
    assert.match(JSON.stringify(thread.model.requests[1]), /declined: not today/)
  })

  test('may put something else in the place of a result, on record and before the model', async () => {
    await using thread = await bench({ afterTool: () => ({ result: 'redacted' }) })
    await thread.play()
    assert.equal((await thread.eventsOf('tool-result'))[0]?.result, 'redacted')
    assert.ok(!JSON.stringify(await thread.records()).includes('echoed'))
    assert.ok(!JSON.stringify(thread.model.requests).includes('echoed'))
  })

  for (const name of ['beforeTool', 'afterTool'] as const) {
    test(`hooks that throw fail the call: ${name}, without showing its result`, async () => {
      const fail = (): never => {
        throw new Error('out of order')
      }
      await using thread = await bench({ [name]: fail })
      assert.equal(await thread.play(), 'complete')
      const [result] = await thread.eventsOf('tool-result')
      assert.equal(result?.isError, true)
      assert.equal(result.result, `The hook ${name} failed: out of order`)
      assert.ok(!JSON.stringify(thread.model.requests).includes('echoed'))
    })
  }

  for (const returned of [null, false, 'no', 1, [], {}, { input: null }, { input: [1] }, { decline: true }]) {
    test(`beforeTool that returns ${JSON.stringify(returned)} is misuse: the call is not run`, async () => {
      const ran: unknown[] = []
      await using thread = await bench(returning('beforeTool', returned), ran)
      assert.equal(await thread.play(), 'complete')
      assert.deepEqual(ran, [])
      const [result] = await thread.eventsOf('tool-result')
      assert.equal(result?.isError, true)
      assert.match(
        JSON.stringify(result.result),
        /The hook beforeTool returned .* It has to return nothing, \{ input \}/,
      )
      assert.equal(result.error?.code, 'misuse')
    })
  }

  for (const returned of [null, false, 'redacted', {}, { result: 1n }, { result: 'x', isError: 'no' }]) {
    test(`afterTool that returns ${inspect(returned)} is misuse: the result is not shown`, async () => {
      await using thread = await bench(returning('afterTool', returned))
      assert.equal(await thread.play(), 'complete')
      const [result] = await thread.eventsOf('tool-result')
      assert.equal(result?.error?.code, 'misuse')
      assert.match(JSON.stringify(result.result), /The hook afterTool returned /)
      assert.ok(!JSON.stringify(thread.model.requests).includes('echoed'))
    })
  }

  for (const name of ['beforeTurn', 'beforeStep', 'afterStep', 'afterTurn'] as const) {
    test(`${name} that returns something is misuse, and ends the turn`, async () => {
      await using thread = await bench(returning(name, false))
      assert.equal(await thread.play(), 'error')
      const [error] = await thread.eventsOf('error')
      assert.equal(error?.code, 'misuse')
      assert.match(error.error.message, new RegExp(`The hook ${name} returned .* It has to return nothing`))
    })
  }

  for (const name of ['beforeTurn', 'beforeStep', 'afterStep', 'afterTurn'] as const) {
    test(`hooks that throw end the turn with a clear error: ${name}`, async () => {
      const fail = async (): Promise<never> => Promise.reject(new Error('out of order'))
      await using thread = await bench({ [name]: fail })
      assert.equal(await thread.play(), 'error')
      const [error, ...more] = await thread.eventsOf('error')
      assert.match(error?.error.message ?? '', new RegExp(`The hook ${name} failed: out of order`))
      assert.deepEqual(more, [])
      assert.equal((await thread.eventsOf('finish')).length, 1)
    })
  }

  for (const name of ['beforeTurn', 'beforeStep', 'beforeTool', 'afterTool', 'afterStep', 'afterTurn'] as const) {
    test(`hooks that never end are left behind when the run is cancelled: ${name}`, async () => {
      const called = Promise.withResolvers<void>()
      const hang = (): Promise<never> => {
        called.resolve()
        return new Promise(() => undefined)
      }
      await using thread = await bench({ [name]: hang })
      const run = await thread.submit('Go.')
      await called.promise
      await thread.runtime.cancel()
      assert.equal(await run.done, 'aborted')
      assert.equal((await thread.eventsOf('finish')).length, 1)
    })
  }

  const CUT_OFF =
    'The tool has run. Its result is not shown: the run was cancelled before the hook afterTool had seen it.'
  for (const [name, isRun, recorded] of [
    ['beforeTool', false, { isError: true, outcome: 'aborted', result: 'The call was aborted.' }],
    ['afterTool', true, { isError: false, outcome: undefined, result: CUT_OFF }],
  ] as const) {
    const what = isRun ? 'the tool is on record as run, what it gave is not shown' : 'the call is on record as aborted'
    test(`hooks that are cut off by a cancel fail nothing: ${what} (${name})`, async () => {
      const called = Promise.withResolvers<void>()
      const hang = (): Promise<never> => {
        called.resolve()
        return new Promise(() => undefined)
      }
      const ran: unknown[] = []
      await using thread = await bench({ [name]: hang }, ran)
      const run = await thread.submit('Go.')
      await called.promise
      const { calls } = await thread.runtime.cancel()
      assert.deepEqual(calls, isRun ? [] : ['c1'], 'those that are closed as aborted')
      assert.equal(await run.done, 'aborted')
      assert.equal(ran.length, isRun ? 1 : 0)
      const results = (await thread.records()).flatMap(({ body }) => (body.type === 'tool-result' ? [body] : []))
      assert.deepEqual(
        results.map(({ error, isError, outcome, result, toolCallId }) => ({
          error,
          isError,
          outcome,
          result,
          toolCallId,
        })),
        [{ error: undefined, toolCallId: 'c1', ...recorded }],
      )
      assert.deepEqual(await thread.eventsOf('error'), [])
    })
  }

  test('hooks that see results are not asked about a call that a cancel cut off: it is on record as aborted', async () => {
    const begun = Promise.withResolvers<void>()
    const seen: unknown[] = []
    const hang = createTool({
      id: 'echo',
      description: 'Never ends.',
      execute: () => {
        begun.resolve()
        return new Promise<never>(() => undefined)
      },
    })
    const hooks: LoopHooks = { afterTool: ({ result }) => void seen.push(result) }
    await using thread = await AgentBench.open(CALL, { agent: { tools: [hang], hooks } })
    const run = await thread.submit('Go.')
    await begun.promise
    assert.deepEqual((await thread.runtime.cancel()).calls, ['c1'])
    assert.equal(await run.done, 'aborted')
    const results = (await thread.records()).flatMap(({ body }) => (body.type === 'tool-result' ? [body] : []))
    assert.deepEqual(
      results.map(({ outcome, result }) => [outcome, result]),
      [['aborted', 'The call was aborted.']],
    )
    assert.deepEqual(seen, [])
  })

  test('hooks that are cut off leave a call that failed as failed: a cancel does not name it as aborted', async () => {
    const called = Promise.withResolvers<void>()
    const fail = createTool({ id: 'echo', description: 'Fails.', execute: () => Promise.reject(new Error('broken')) })
    const afterTool = (): Promise<never> => {
      called.resolve()
      return new Promise(() => undefined)
    }
    await using thread = await AgentBench.open(CALL, { agent: { tools: [fail], hooks: { afterTool } } })
    const run = await thread.submit('Go.')
    await called.promise
    assert.deepEqual((await thread.runtime.cancel()).calls, [])
    assert.equal(await run.done, 'aborted')
  })
})
