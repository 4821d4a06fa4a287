import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { ForeignAgent, says, type Act } from '../../engine/foreign-agent.fixture.ts'
import { createThread } from '../../engine/index.ts'
import { HarnessBench } from '../harness.fixture.ts'

const foreign = (act: Act): { modes: { id: string; agent: ForeignAgent }[] } => ({
  modes: [{ id: 'a', agent: new ForeignAgent('cli', [act]) }],
})

suite('what the rarer events carry', () => {
  for (const [finishReason, errorMessage] of [
    ['length', 'The answer was cut off at the output limit of the model.'],
    ['content-filter', 'The provider withheld the answer.'],
  ] as const) {
    test(`an answer that ended with ${finishReason}: why, in the message and in an error before its end`, async () => {
      await using bench = new HarnessBench([{ text: 'Half', finishReason }])
      await bench.harness.sendMessage({ content: 'Hi' })
      const { message } = bench.all('message_end').at(-1) ?? assert.fail('no message has ended')
      assert.deepEqual(message, {
        id: message.id,
        role: 'assistant',
        content: [{ type: 'text', text: 'Half' }],
        createdAt: message.createdAt,
        stopReason: 'error',
        errorMessage,
      })
      const [error] = bench.all('error')
      assert.deepEqual([error?.error.message, error?.errorType], [errorMessage, finishReason])
      assert.deepEqual(bench.types().slice(-3), ['error', 'message_end', 'agent_end'])
      assert.deepEqual(bench.all('agent_end'), [{ type: 'agent_end', reason: 'error' }])
    })
  }

  test('an answer that failed: the error is in the message, and emitted once', async () => {
    const failed = { text: 'Half', streamError: { message: 'Overloaded', type: 'overloaded_error' } }
    await using bench = new HarnessBench([failed], {}, { retry: { maxRetries: 0 } })
    await bench.harness.sendMessage({ content: 'Hi' })
    const { message } = bench.all('message_end').at(-1) ?? assert.fail('no message has ended')
    assert.deepEqual([message.role, message.stopReason, message.errorMessage], ['assistant', 'error', 'Overloaded'])
    assert.deepEqual(
      bench.all('error').map(({ error }) => error.message),
      ['Overloaded'],
    )
  })

  test('a question of a tool: what an answer looks like, as a JSON Schema', async () => {
    const pick = createTool({
      id: 'pick',
      description: 'Picks.',
      category: 'read',
      resumeSchema: z.object({ colour: z.enum(['red', 'blue']) }),
      execute: async (_input, { resumeData, suspend }) => resumeData ?? suspend({ why: 'which?' }),
    })
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'pick', input: { of: 2 } }] }], {
      tools: { pick },
      permissions: { categories: { read: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Pick' })
    const [event] = bench.all('tool_suspended')
    const { resumeSchema, ...rest } = event ?? assert.fail('nothing was asked')
    assert.deepEqual(rest, {
      type: 'tool_suspended',
      toolCallId: 'c1',
      toolName: 'pick',
      args: { of: 2 },
      suspendPayload: { why: 'which?' },
    })
    assert.deepEqual(JSON.parse(resumeSchema ?? '').properties, { colour: { type: 'string', enum: ['red', 'blue'] } })
    const { pendingSuspensions } = bench.harness.session.displayState.get()
    assert.deepEqual(pendingSuspensions.get('c1'), {
      toolCallId: 'c1',
      toolName: 'pick',
      args: { of: 2 },
      suspendPayload: { why: 'which?' },
      resumeSchema,
    })
  })

  test('a tool of the provider: what it wants back with the result', async () => {
    const provider = { scripted: { id: 'r1' } }
    const search = { toolCallId: 'c1', toolName: 'search' }
    await using bench = new HarnessBench([
      {
        parts: [
          { raw: { type: 'tool-call', ...search, input: '{"q":"x"}', providerExecuted: true } },
          { raw: { type: 'tool-result', ...search, result: { hits: 1 }, providerMetadata: provider } },
          { text: 'Found.' },
        ],
      },
    ])
    await bench.harness.sendMessage({ content: 'Search' })
    assert.deepEqual(bench.all('tool_end'), [
      {
        type: 'tool_end',
        toolCallId: 'c1',
        toolName: 'search',
        result: { hits: 1 },
        isError: false,
        providerMetadata: provider,
      },
    ])
    const [piece] = bench.all('tool_result')
    assert.deepEqual(piece?.providerMetadata, provider)
    const message = bench.all('message_end').at(-1)?.message
    assert.deepEqual(message?.content[1], {
      type: 'tool_result',
      id: 'c1',
      name: 'search',
      result: { hits: 1 },
      isError: false,
      providerMetadata: provider,
    })
  })

  test('a file with only a known address: where it is', async () => {
    const url = 'https://example.org/a.png'
    const linked = (mediaType: string) => ({ raw: { type: 'file', mediaType, data: { type: 'url', url } } })
    await using bench = new HarnessBench([{ parts: [linked('image/png'), linked('application/pdf')] }])
    await bench.harness.sendMessage({ content: 'Draw' })
    assert.deepEqual([bench.all('image')[0]?.url, bench.all('file')[0]?.url], [url, url])
  })

  test('a source of models that fails: which one', async () => {
    const gate = { id: 'gate', fetchProviders: () => Promise.reject(new Error('no line')) }
    await using bench = new HarnessBench([], { gateways: [gate] })
    await bench.harness.listAvailableModels()
    assert.deepEqual(
      bench.all('error').map(({ error, errorType }) => [error.message, errorType]),
      [['gate cannot say which models it offers: no line', 'model-catalogue']],
    )
  })

  test('a notification: its attributes', async () => {
    await using bench = new HarnessBench([])
    const input = {
      source: 'ci',
      kind: 'build',
      summary: 'It failed.',
      priority: 'low',
      attributes: { job: 7 },
    } as const
    await bench.harness.sendNotificationSignal(input)
    assert.deepEqual(bench.all('notification')[0]?.attributes, { job: 7 })
  })

  test('an error of a foreign program: its code', async () => {
    const act: Act = async function* () {
      yield { type: 'error', error: { name: 'Error', message: 'Too many.' }, code: '429' }
    }
    await using bench = new HarnessBench([], foreign(act))
    await bench.harness.sendMessage({ content: 'Go' })
    const [event] = bench.all('error')
    const { error, ...rest } = event ?? assert.fail('no error was told')
    assert.equal(error.message, 'Too many.')
    assert.deepEqual(rest, { type: 'error', errorType: '429', retryable: true })
  })

  test('a foreign program that does what is denied: what it did', async () => {
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId: 'c1', toolName: 'rm', args: { path: '/' } }
      yield { type: 'tool-result', toolCallId: 'c1', toolName: 'rm', result: 'gone' }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], { ...foreign(act), permissions: { tools: { rm: 'deny' } } })
    await bench.harness.sendMessage({ content: 'Go' })
    const told = bench.all('error').find(({ errorType }) => errorType === 'policy-violation')
    assert.match(told?.error.message ?? '', /"?rm"?/)
    assert.ok(told?.error instanceof Error)
  })

  test('another agent takes over: how much of the conversation it got', async () => {
    const act: Act = async function* (turn, host) {
      host.noteHandover({ messages: 2, tokens: 5, truncated: false })
      yield* says('I go on.')(turn, host)
    }
    await using bench = new HarnessBench([], foreign(act))
    await bench.harness.sendMessage({ content: 'Go on' })
    assert.deepEqual(bench.all('info'), [{ type: 'info', message: '2 messages of others were handed over.' }])
  })

  test('a message that a program takes while it works reports how it was taken, as text as well', async () => {
    const heard = Promise.withResolvers<void>()
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'text-delta', text: 'Working.' }
      await heard.promise
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], foreign(act))
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    const told = bench.next('info')
    const steered = bench.harness.steer({ content: 'Mind.' })
    const info = await told
    heard.resolve()
    await Promise.all([sent, steered])
    const message = 'A message sent during the run was delivered to the agent.'
    assert.deepEqual(info, { type: 'info', message, steered: 'injected' })
  })

  test('a mode is left that nobody has chosen: it is the default one', async () => {
    const storage = new MemoryStore()
    await using bench = new HarnessBench([], { storage, modes: [{ id: 'plan' }, { id: 'build' }] })
    await bench.harness.init()
    await createThread(storage, { id: 'imported', resourceId: 'bench' })
    await bench.harness.switchThread({ threadId: 'imported' })
    await bench.harness.session.mode.switch({ modeId: 'build' })
    assert.deepEqual(bench.all('mode_changed'), [{ type: 'mode_changed', modeId: 'build', previousModeId: 'plan' }])
  })

  test('a subagent of a foreign program that said nothing ends with nothing', async () => {
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId: 't1', toolName: 'Task', args: {} }
      yield { type: 'tool-result', toolCallId: 't1', toolName: 'Task', result: 'begun' }
      yield { type: 'tool-call', toolCallId: 'r1', toolName: 'Read', args: {}, parentToolCallId: 't1' }
      yield { type: 'tool-result', toolCallId: 'r1', toolName: 'Read', result: 'ok', parentToolCallId: 't1' }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], foreign(act))
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.sendMessage({ content: 'Go' })
    const [end] = bench.all('subagent_end')
    assert.deepEqual(
      { ...end, durationMs: 0 },
      {
        type: 'subagent_end',
        toolCallId: 't1',
        agentType: 'Task',
        result: '',
        isError: false,
        durationMs: 0,
      },
    )
  })

  test('a call that cannot mean anything: which kind of mistake it was', async () => {
    await using bench = new HarnessBench([])
    await assert.rejects(bench.harness.sendMessage({ content: '' }))
    await assert.rejects(bench.harness.switchThread({ threadId: 'unknown' }))
    assert.deepEqual(
      bench.all('error').map(({ errorType }) => errorType),
      ['invalid-input', 'not-found'],
    )
  })
})

suite('a signal with the text of a user', () => {
  for (const when of ['to an idle thread', 'during a run', 'only to be kept'] as const) {
    test(`has its attributes in the message, wherever it waited (${when})`, async () => {
      const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
      await using bench = new HarnessBench(
        [{ toolCalls: [{ id: 'c1', name: 'paint' }] }, { text: '.', repeat: true }],
        {
          tools: { paint },
        },
      )
      const { session } = bench.harness
      const input = { content: 'Mind.', attributes: { from: 'Ada' }, metadata: { chat: 7 } }
      if (when === 'only to be kept') {
        await bench.harness.sendSignal({ ...input, ifIdle: { behavior: 'persist' } }).accepted
      } else {
        const asked = bench.next('tool_approval_required')
        const sent = when === 'during a run' ? bench.harness.sendMessage({ content: 'Go' }) : undefined
        if (sent === undefined) await bench.harness.sendSignal(input).accepted
        await asked
        const ended = bench.next('agent_end')
        if (sent !== undefined) await bench.harness.sendSignal(input).accepted
        await session.respondToToolApproval({ decision: 'approve' })
        await Promise.all([sent, ended])
      }
      const isIt = ({ content }: { readonly content: readonly object[] }): boolean =>
        JSON.stringify(content).includes('Mind.')
      const told = [...bench.all('message_start'), ...bench.all('message_end')].filter(({ message }) => isIt(message))
      assert.deepEqual(
        told.map(({ message }) => message.attributes),
        [{ from: 'Ada' }, { from: 'Ada' }],
      )
      const stored = (await session.thread.listActiveMessages()).find(isIt)
      assert.deepEqual(stored?.attributes, { from: 'Ada' })
      assert.doesNotMatch(JSON.stringify(bench.model.requests), /Ada|chat/, 'they are not for the model')
    })
  }

  test('a file alone: options for the provider too', async () => {
    await using bench = new HarnessBench([{ text: 'I see.' }])
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    const contents = [{ type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' }] as const
    const ended = bench.next('agent_end')
    await bench.harness.sendSignal({ type: 'user', contents, providerOptions }).accepted
    await ended
    assert.match(JSON.stringify(bench.model.requests[0]), /"cacheControl":\{"type":"ephemeral"\}/)
  })
})

suite('signals', () => {
  test('a reminder has all that is known of it', async () => {
    await using bench = new HarnessBench([])
    await bench.harness.createThread()
    const metadata = {
      path: 'AGENTS.md',
      precedesMessageId: 'm1',
      gapText: 'an hour',
      gapMs: 3_600_000,
      timestamp: '2026-01-01T00:00:00Z',
      goalMaxTurns: 3,
      judgeModelId: 'x/judge',
      goalEvaluation: { passed: false },
    }
    await bench.harness.saveSystemReminderMessage({ message: 'Mind.', reminderType: 'note', metadata })
    const [event] = bench.all('system_reminder')
    const { messageId, ...rest } = event ?? assert.fail('no reminder was told')
    assert.equal(messageId, bench.all('message_end')[0]?.message.id)
    assert.deepEqual(rest, {
      type: 'system_reminder',
      message: 'Mind.',
      reminderType: 'note',
      ...metadata,
      partIndex: 0,
    })
  })

  test('a signal that continues a goal names its judge, the verdict, and the limit of runs', async () => {
    const judge = scriptedModel([
      { text: '{"verdict":"continue","reason":"Half."}' },
      { text: '{"verdict":"done","reason":"All."}' },
    ])
    await using bench = new HarnessBench([{ text: 'Begun.' }, { text: 'Done.' }], { resolveModel: () => judge })
    await bench.harness.getCurrentAgent().setObjective('Finish.', { judgeModelId: 'x/judge', maxRuns: 3 })
    await bench.harness.sendMessage({ content: 'Go', untilIdle: true })
    const [reminder] = bench.all('system_reminder')
    const [, first, , second] = bench.all('goal_evaluation')
    const { duration, results } = first?.payload ?? assert.fail('nothing was judged')
    assert.ok(reminder)
    assert.deepEqual(reminder.goalEvaluation, first?.payload)
    assert.deepEqual([reminder.reminderType, reminder.judgeModelId, reminder.goalMaxTurns], ['goal', 'x/judge', 3])
    assert.equal(reminder.message, 'The objective is not reached yet. Half.\nGo on: Finish.')
    assert.deepEqual(first?.payload, {
      objective: 'Finish.',
      iteration: 1,
      maxRuns: 3,
      passed: false,
      status: 'active',
      results: [
        { score: 0, passed: false, reason: 'Half.', scorerId: 'goal-judge', scorerName: 'Goal (LLM)', duration },
      ],
      reason: 'Half.',
      duration,
      timedOut: false,
      maxRunsReached: false,
      suppressFeedback: false,
    })
    assert.equal(results.length, 1)
    const passed = second?.payload ?? assert.fail('it was judged once')
    assert.partialDeepStrictEqual(passed, { iteration: 2, passed: true, status: 'done', suppressFeedback: true })
    assert.deepEqual(
      passed.results.map((result) => ({ ...(result as object), duration: 0 })),
      [{ score: 1, passed: true, reason: 'All.', scorerId: 'goal-judge', scorerName: 'Goal (LLM)', duration: 0 }],
    )
  })

  test('a judge that fails: the reason, and that the goal is paused', async () => {
    const judge = scriptedModel([{ error: { status: 400, message: 'No.' } }])
    await using bench = new HarnessBench([{ text: 'Begun.' }], { resolveModel: () => judge })
    const agent = bench.harness.getCurrentAgent()
    const set = await agent.setObjective('Finish.', { judgeModelId: 'x/judge', maxRuns: 3, prompt: 'Be strict.' })
    await bench.harness.sendMessage({ content: 'Go', untilIdle: true })
    const [, { payload } = assert.fail('nothing was judged')] = bench.all('goal_evaluation')
    assert.match(payload.reason ?? '', /No\./)
    assert.deepEqual(payload, {
      objective: 'Finish.',
      iteration: 1,
      maxRuns: 3,
      passed: false,
      status: 'paused',
      results: [],
      reason: payload.reason,
      pausedReason: `The judge failed: ${payload.reason}`,
      judgeFailed: true,
      duration: payload.duration,
      timedOut: false,
      maxRunsReached: false,
      suppressFeedback: true,
    })
    const goal = await agent.getObjective()
    assert.ok((goal?.updatedAt ?? 0) >= set.updatedAt && typeof payload.duration === 'number')
    assert.deepEqual(goal, {
      ...set,
      status: 'paused',
      runsUsed: 1,
      pausedReason: payload.pausedReason,
      updatedAt: goal?.updatedAt,
    })
  })

  test('a goal that is set, changed and cleared is reported each time, as one state', async () => {
    const judge = scriptedModel([])
    await using bench = new HarnessBench([], { resolveModel: () => judge })
    const agent = bench.harness.getCurrentAgent()
    await agent.setObjective('Finish.', { judgeModelId: 'x/judge' })
    await agent.setObjective('Finish.', { judgeModelId: 'x/judge' })
    await agent.clearObjective()
    const words = 'Work towards this objective until it is reached: Finish.'
    assert.deepEqual(
      bench.all('state_signal').map(({ message, mode, stateId, version }) => [stateId, mode, version, message]),
      [
        ['goal', 'snapshot', 1, words],
        ['goal', 'snapshot', 2, words],
        ['goal', 'snapshot', 3, 'There is no objective any more.'],
      ],
    )
  })

  test('a judge that decides that the user must act: half a score, and how long it took', async () => {
    const judge = scriptedModel([
      async () => {
        const begun = Date.now()
        while (Date.now() === begun) await new Promise(setImmediate)
        return { text: '{"verdict":"waiting","reason":"Ask Ada."}' }
      },
    ])
    await using bench = new HarnessBench([{ text: 'Whom?' }], { resolveModel: () => judge })
    await bench.harness.getCurrentAgent().setObjective('Finish.', { judgeModelId: 'x/judge', maxRuns: 3 })
    await bench.harness.sendMessage({ content: 'Go', untilIdle: true })
    const [, { payload } = assert.fail('nothing was judged')] = bench.all('goal_evaluation')
    const { duration } = payload
    assert.ok(duration > 0)
    assert.deepEqual([payload.waitingForUser, payload.passed, payload.status], [true, false, 'active'])
    assert.deepEqual(payload.results, [
      { score: 0.5, passed: false, reason: 'Ask Ada.', scorerId: 'goal-judge', scorerName: 'Goal (LLM)', duration },
    ])
  })

  for (const [type, event, element] of [
    ['state', 'state_signal', 'state'],
    ['reactive', 'reactive_signal', 'signal'],
    ['notification', 'notification', 'notification'],
    ['system-reminder', 'system_reminder', 'system-reminder'],
  ] as const) {
    test(`one of type "${type}" that is given no name goes by its type`, async () => {
      await using bench = new HarnessBench([{ text: 'I see.' }])
      const ended = bench.next('agent_end')
      await bench.harness.sendSignal({ type, contents: 'It rains.' }).accepted
      await ended
      assert.equal(bench.all(event)[0]?.message, 'It rains.')
      assert.ok(JSON.stringify(bench.model.requests[0]).includes(`<${element}>It rains.</${element}>`))
    })
  }
})
