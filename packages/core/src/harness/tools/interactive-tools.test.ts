import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError, type Answer, type JsonObject, type JsonValue } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { ThreadBench } from '../signals/thread-bench.fixture.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import { assertAnswers, BUILTIN_TOOL_IDS, builtinTools } from './builtin-tools.ts'
import { allowedPaths } from '../../engine/index.ts'

const done = { text: 'Done.' }
const call = (name: string, input: JsonObject, id = 'c1') => ({ id, name, input })
const answer = (value: JsonValue): Answer => ({ decision: 'answer', value })
const options = [{ label: 'Red', description: 'Like fire' }, { label: 'Blue' }]

interface Modes {
  readonly log: string[]
  readonly tools: (port: ThreadPort) => readonly RunnableTool[]
}

function modes(target = 'build'): Modes {
  const log: string[] = []
  return {
    log,
    tools: (port) =>
      builtinTools({
        port,
        cwd: () => '/project/dir',
        modes: {
          planTarget: () => target,
          switchMode: async (modeId, order, settings = {}) => {
            log.push(`${modeId}: ${order}`)
            await port.record([{ type: 'config.changed', mode: modeId, settings }])
          },
        },
      }),
  }
}

async function asked(name: string, input: JsonObject, { tools } = modes()): Promise<ThreadBench> {
  const bench = await ThreadBench.open({ script: [{ toolCalls: [call(name, input)] }, done, done], tools })
  await bench.say('Go.')
  return bench
}

suite('ask_user', () => {
  test('shows the question, waits, and gives the model the answer', async () => {
    await using bench = await asked('ask_user', { question: 'Which name?' })
    const [wait] = bench.waits()
    assert.equal(wait?.kind, 'question')
    assert.deepEqual(wait.payload, { question: 'Which name?' })
    assert.equal(bench.runtime.state.head.run?.status, 'parked')
    await bench.answer(answer('Inspan'))
    assert.deepEqual(await bench.results(), [{ content: 'User answered: Inspan', isError: false }])
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  })

  test('lets one option be chosen unless the call allows several', async () => {
    await using bench = await asked('ask_user', { question: 'Which?', options })
    const [wait] = bench.waits()
    assert.deepEqual(wait?.payload, { question: 'Which?', options, selectionMode: 'single_select' })
    assert.match(wait.answerSchema ?? '', /"enum":\["Red","Blue"\]/)
    await bench.answer(answer('Blue'))
    assert.deepEqual(await bench.results(), [{ content: 'User answered: Blue', isError: false }])
  })

  test('lets several options be chosen', async () => {
    await using bench = await asked('ask_user', { question: 'Which?', options, selectionMode: 'multi_select' })
    await bench.answer(answer(['Red', 'Blue']))
    assert.deepEqual(await bench.results(), [{ content: 'User answered: Red, Blue', isError: false }])
  })

  const wrong: Readonly<Record<string, readonly [JsonObject, JsonValue, RegExp]>> = {
    'two choices where one is wanted': [{ options }, ['Red', 'Blue'], /Exactly one/],
    'two texts where one is wanted': [{}, ['a', 'b'], /must be one text/],
    'the same choice twice': [{ options, selectionMode: 'multi_select' }, ['Red', 'Red'], /twice/],
    'no word where there is a choice': [{ options }, '', /not be empty/],
    'a number': [{}, 5, /a text or a list/],
    'an object': [{}, { a: 1 }, /a text or a list/],
    'a list of other things': [{ options, selectionMode: 'multi_select' }, ['Red', 5], /a text or a list/],
    nothing: [{}, null, /a text or a list/],
  }
  for (const [title, [input, value, problem]] of Object.entries(wrong)) {
    test(`does not take ${title} for an answer`, async () => {
      await using bench = await asked('ask_user', { question: 'Which?', ...input })
      const [wait] = bench.waits()
      assert.ok(wait)
      assert.throws(
        () => assertAnswers(wait, value),
        (error) => InspanError.is(error) && error.code === 'invalid-input' && problem.test(error.message),
      )
      await assert.rejects(bench.answer(answer(value)), (error) => InspanError.is(error, 'invalid-input'))
      assert.deepEqual(bench.waits(), [wait], 'the question stays')
    })
  }

  const taken: Readonly<Record<string, readonly [JsonObject, JsonValue, string]>> = {
    'words of the user’s own where one could be chosen': [{ options }, 'Yes, but green', 'Yes, but green'],
    'words of the user’s own among several': [
      { options, selectionMode: 'multi_select' },
      ['Red', 'a little green'],
      'Red, a little green',
    ],
    'one word where several could be chosen': [{ options, selectionMode: 'multi_select' }, 'Red', 'Red'],
    'a list of one where one is wanted': [{ options }, ['Red'], 'Red'],
    'a list of one where no choice is given': [{}, ['Inspan'], 'Inspan'],
  }
  for (const [title, [input, value, heard]] of Object.entries(taken)) {
    test(`takes ${title}`, async () => {
      await using bench = await asked('ask_user', { question: 'Which?', ...input })
      const [wait] = bench.waits()
      assert.ok(wait)
      assertAnswers(wait, value)
      await bench.answer(answer(value))
      assert.deepEqual(await bench.results(), [{ content: `User answered: ${heard}`, isError: false }])
    })
  }

  test('tells the model when nobody wanted to answer', async () => {
    await using bench = await asked('ask_user', { question: 'Which?' })
    await bench.answer({ decision: 'decline', reason: 'not now' })
    assert.deepEqual(await bench.results(), [{ content: 'The user did not answer: not now', isError: true }])
  })

  const malformed: Readonly<Record<string, readonly [JsonObject, RegExp]>> = {
    'no question': [{}, /"question" must be a text/],
    'a selection of nothing': [
      { question: 'Which?', selectionMode: 'multi_select' },
      /"selectionMode" needs "options"/,
    ],
    'two options with one name': [{ question: 'Which?', options: [{ label: 'a' }, { label: 'a' }] }, /same label/],
  }
  for (const [title, [input, problem]] of Object.entries(malformed)) {
    test(`asks nobody when the model gives ${title}`, async () => {
      await using bench = await asked('ask_user', input)
      assert.equal(bench.waits().length, 0)
      assert.match(((await bench.results()) as { content: string }[])[0]?.content ?? '', problem)
    })
  }

  test('may be called twice in one step; each is answered by itself, in any order', async () => {
    const script = [
      { toolCalls: ['c1', 'c2'].map((id) => call('ask_user', { question: `Question ${id}?` }, id)) },
      done,
    ]
    await using bench = await ThreadBench.open({ script, tools: modes().tools })
    await bench.say('Go.')
    assert.equal(bench.waits().length, 2)
    await bench.answer(answer('two'), 'c2')
    assert.equal(bench.waits().length, 1)
    await bench.answer(answer('one'), 'c1')
    assert.deepEqual(
      new Set(((await bench.results()) as { content: string }[]).map(({ content }) => content)),
      new Set(['User answered: one', 'User answered: two']),
    )
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  })
})

suite('submit_plan', () => {
  const PLAN = { plan: '1. Look.' }

  test('shows the plan under a title', async () => {
    await using bench = await asked('submit_plan', PLAN)
    const [wait] = bench.waits()
    assert.deepEqual([wait?.kind, wait?.payload], ['plan', { title: 'Implementation Plan', plan: '1. Look.' }])
  })

  test('switches the mode when it is approved, and the same run continues', async () => {
    const { log, tools } = modes()
    await using bench = await asked('submit_plan', { title: 'The plan', ...PLAN }, { log, tools })
    const runId = bench.runtime.state.head.run?.runId
    await bench.answer(answer({ action: 'approved' }))
    assert.deepEqual(log, ['build: This plan was approved. Carry it out.\n\n# The plan\n\n1. Look.'])
    assert.equal(bench.runtime.state.head.mode, 'build')
    assert.equal(bench.runtime.state.head.lastRun?.runId, runId)
    assert.equal(bench.model.requests.length, 2)
    assert.match(((await bench.results()) as { content: string }[])[0]?.content ?? '', /was approved.*"build"/)
  })

  test('stays in its mode when it is rejected, and the model learns why', async () => {
    const { log, tools } = modes()
    await using bench = await asked('submit_plan', PLAN, { log, tools })
    await bench.answer(answer({ action: 'rejected', feedback: 'Needs more detail' }))
    assert.deepEqual(log, [])
    assert.equal(bench.runtime.state.head.mode, null)
    assert.match(
      ((await bench.results()) as { content: string }[])[0]?.content ?? '',
      /rejected\. Revise it and submit it again\.\nFeedback: Needs more detail$/,
    )
  })

  for (const [title, given] of Object.entries({
    'something else': answer({ action: 'maybe' }),
    'a bare yes': answer('yes'),
  })) {
    test(`is not approved by ${title}`, async () => {
      const { log, tools } = modes()
      await using bench = await asked('submit_plan', PLAN, { log, tools })
      await assert.rejects(bench.answer(given), (error) => InspanError.is(error, 'invalid-input'))
      assert.deepEqual(log, [])
    })
  }

  test('is not approved by a refusal', async () => {
    const { log, tools } = modes()
    await using bench = await asked('submit_plan', PLAN, { log, tools })
    await bench.answer({ decision: 'decline' })
    assert.deepEqual(log, [])
  })

  test('refuses an invalid answer at once', async () => {
    await using bench = await asked('submit_plan', PLAN)
    const [wait] = bench.waits()
    assert.ok(wait)
    assert.throws(() => assertAnswers(wait, 'yes'), /approved.*rejected/)
    assertAnswers(wait, { action: 'approved' })
  })

  test('goes where it was going when it is carried out again after a crash', async () => {
    const { log, tools } = modes()
    await using bench = await asked('submit_plan', PLAN, { log, tools })
    const tool = tools(bench.port).find(({ name }) => name === 'submit_plan')
    const context = {
      signal: AbortSignal.timeout(60_000),
      idempotencyKey: 'run:c1',
      toolCallId: 'c1',
      runId: 'run',
      turnId: 'turn',
      threadId: 'thread',
      agentId: 'native',
      resume: answer({ action: 'approved' }),
      progress: () => undefined,
    }
    await tool?.execute(PLAN, context)
    // From the mode that the plan has led to, another mode would come next.
    const again = modes('plan')
      .tools(bench.port)
      .find(({ name }) => name === 'submit_plan')
    const outcome = await again?.execute(PLAN, context)
    assert.match(JSON.stringify(outcome), /\\"build\\"/)
    assert.equal(bench.runtime.state.head.mode, 'build')
  })
})

suite('request_access', () => {
  const INPUT = { path: '../other', reason: 'The fixtures are there.' }

  test('asks for a path and remembers the yes with the thread', async () => {
    await using bench = await asked('request_access', INPUT)
    const [wait] = bench.waits()
    assert.deepEqual(
      [wait?.kind, wait?.payload],
      ['access', { kind: 'sandbox_access_request', path: '/project/other', reason: 'The fixtures are there.' }],
    )
    await bench.answer(answer('yes'))
    assert.deepEqual(await bench.results(), [{ content: 'Access to /project/other was granted.', isError: false }])
    assert.deepEqual(allowedPaths(bench.runtime.state.head), ['/project/other'])
  })

  test('does not ask again for what is below', async () => {
    const script = [
      { toolCalls: [call('request_access', INPUT)] },
      { toolCalls: [call('request_access', { ...INPUT, path: '/project/other/a/b' }, 'c2')] },
      { toolCalls: [call('request_access', { ...INPUT, path: '/project/other-one' }, 'c3')] },
    ]
    await using bench = await ThreadBench.open({ script, tools: modes().tools })
    await bench.say('Go.')
    await bench.answer({ decision: 'approve' })
    assert.deepEqual(
      bench.waits().map(({ subject }) => subject.toolCallId),
      ['c3'],
    )
  })

  for (const given of ['no', 'yesterday', '', ['nope'], { action: 'approved' }, 1]) {
    test(`takes ${JSON.stringify(given)} for a no`, async () => {
      await using bench = await asked('request_access', INPUT)
      await bench.answer(answer(given))
      assert.deepEqual(allowedPaths(bench.runtime.state.head), [])
      assert.deepEqual(await bench.results(), [{ content: 'Access to /project/other was denied.', isError: false }])
    })
  }
})

suite('the built-in tools', () => {
  test('are all there', () => {
    const port = {} as ThreadPort
    const options = { port, modes: { planTarget: () => '', switchMode: async () => undefined } }
    const names = (tools: readonly RunnableTool[]): readonly string[] => tools.map(({ name }) => name)
    assert.deepEqual(
      new Set(names(builtinTools(options))),
      new Set(BUILTIN_TOOL_IDS.filter((id) => !['subagent', 'recall'].includes(id))),
    )
  })
})
