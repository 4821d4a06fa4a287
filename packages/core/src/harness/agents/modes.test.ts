import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { ForeignAgent, says, type Act } from '../../engine/foreign-agent.fixture.ts'
import { scriptedModel } from '@inspan/testing'
import { servedHarness } from '../threads/served-harness.ts'
import { HarnessBench } from '../harness.fixture.ts'
import { Harness } from '../harness.ts'
import type { HarnessConfig } from '../harness-config.ts'

const tool = (id: string) => createTool({ id, description: id, execute: () => id })

function refuses(config: Partial<HarnessConfig>, what: RegExp): void {
  const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
  assert.throws(
    () => new Harness({ id: 'h', agent, modes: [{ id: 'a' }], ...config }),
    (error) => InspanError.is(error, 'invalid-input') && what.test(error.message),
  )
}

function toolNames(request: unknown): string[] {
  const { tools = [] } = request as { tools?: { name: string }[] }
  return tools.map(({ name }) => name)
}

suite('modes', () => {
  test('a mode that cannot work is refused at construction', () => {
    refuses({ modes: [] }, /at least one mode/)
    refuses({ modes: [{ id: 'a' }, { id: 'a' }] }, /two modes/)
    refuses({ modes: [{ id: 'a', tools: {}, additionalTools: {} }] }, /both `tools` and `additionalTools`/)
    refuses({ modes: [{ id: 'a', transitionsTo: 'b' }] }, /leads to "b"/)
    refuses({ modes: [{ id: 'a', transitionsTo: 'a' }] }, /cannot lead to itself/)
    refuses({ defaultModeId: 'b' }, /`defaultModeId` is "b"/)
    refuses({ id: '' }, /needs an `id`/)
    const twin = (): Agent => new Agent({ id: 'agent', model: scriptedModel([]) })
    refuses({ modes: [{ id: 'a', agent: twin() }] }, /Two different agents/)
    assert.throws(() => new Harness({ id: 'h', modes: [{ id: 'a' }] }), /has no agent/)
  })

  test('the default is the one named, else the one marked as the default, else the first', () => {
    const modeOf = (config: Partial<HarnessConfig>): string => {
      const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
      return new Harness({ id: 'h', agent, modes: [], ...config }).session.mode.get()
    }
    const [a, b, c] = [{ id: 'a' }, { id: 'b', metadata: { default: true } }, { id: 'c', default: true }]
    assert.equal(modeOf({ modes: [a, b, c], defaultModeId: 'a' }), 'a')
    assert.equal(modeOf({ modes: [a, b, c] }), 'b')
    assert.equal(modeOf({ modes: [a, c] }), 'c')
    assert.equal(modeOf({ modes: [a] }), 'a')
  })

  test('a queued message goes to the agent of the mode in which it is sent', async () => {
    const planner = scriptedModel([{ toolCalls: [{ id: 'p1', name: 'submit_plan', input: { plan: '1. Write.' } }] }])
    const builder = scriptedModel([{ text: 'Written.' }, { text: 'And signed.' }])
    await using bench = new HarnessBench([], {
      modes: [
        { id: 'plan', agent: new Agent({ id: 'planner', model: planner }), transitionsTo: 'build' },
        { id: 'build', agent: new Agent({ id: 'builder', model: builder }) },
      ],
    })
    const { harness } = bench
    await harness.sendMessage({ content: 'Write a letter.' })
    await harness.followUp({ content: 'Then sign it.' })
    const signed = bench.next('agent_end', () => bench.all('agent_end').length === 3)
    await harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal((await signed).reason, 'complete')
    assert.deepEqual([planner.requests.length, builder.requests.length], [1, 2])
    assert.match(builder.requestBodies[1] ?? '', /Then sign it/)
  })

  test('instructions are those of agent, harness and mode, in this order', async () => {
    await using bench = new HarnessBench(
      [{ text: 'Yes.' }],
      { instructions: 'All modes.', modes: [{ id: 'plan', instructions: 'Plan first.' }] },
      { instructions: 'You are kind.' },
    )
    await bench.harness.sendMessage({ content: 'Hi' })
    const { prompt } = bench.model.requests[0] as unknown as { prompt: { content: string }[] }
    assert.equal(prompt[0]?.content, 'You are kind.\n\nAll modes.\n\nPlan first.')
  })

  test('`tools` replaces the tools of the agent, `additionalTools` adds to them', async () => {
    await using bench = new HarnessBench(
      [{ text: '1' }, { text: '2' }, { text: '3' }],
      {
        modes: [
          { id: 'plain' },
          { id: 'other', tools: { mine: tool('mine') } },
          { id: 'more', additionalTools: { extra: tool('extra') } },
        ],
        tools: { shared: tool('shared') },
        disableBuiltinTools: [
          'submit_plan',
          'task_write',
          'task_update',
          'task_complete',
          'task_check',
          'request_access',
        ],
      },
      { tools: { own: tool('own') } },
    )
    for (const modeId of ['plain', 'other', 'more']) {
      await bench.harness.session.mode.switch({ modeId })
      await bench.harness.sendMessage({ content: 'Hi' })
    }
    assert.deepEqual(bench.model.requests.map(toolNames), [
      ['own', 'shared', 'ask_user'],
      ['mine', 'shared', 'ask_user'],
      ['extra', 'own', 'shared', 'ask_user'],
    ])
  })

  test('switching is reported and ends a run', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }], { modes: [{ id: 'a' }, { id: 'b' }] })
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await begun
    await bench.harness.session.mode.switch({ modeId: 'b' })
    await sent
    assert.equal(bench.all('agent_end')[0]?.reason, 'aborted')
    assert.deepEqual(bench.all('mode_changed'), [{ type: 'mode_changed', modeId: 'b', previousModeId: 'a' }])
    assert.equal(bench.harness.session.mode.resolve().id, 'b')
    await assert.rejects(
      async () => bench.harness.session.mode.switch({ modeId: 'c' }),
      (error) => InspanError.is(error, 'not-found'),
    )
    assert.deepEqual(
      bench.harness.listModes().map(({ id }) => id),
      ['a', 'b'],
    )
  })

  test('an approved plan of one that leads nowhere leads to the default', async () => {
    const plan = { toolCalls: [{ name: 'submit_plan', input: { plan: 'Build it.' } }] }
    await using bench = new HarnessBench([plan, { text: 'Built.' }], {
      modes: [{ id: 'plan' }, { id: 'review' }, { id: 'build' }],
      defaultModeId: 'build',
    })
    await bench.harness.session.mode.switch({ modeId: 'plan' })
    await bench.harness.sendMessage({ content: 'Plan' })
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('the last of several switches counts', async () => {
    await using bench = new HarnessBench([], { modes: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
    await bench.harness.createThread()
    await Promise.all(['b', 'c', 'b', 'c'].map((modeId) => bench.harness.session.mode.switch({ modeId })))
    assert.equal(bench.harness.session.mode.get(), 'c')
    assert.equal(bench.all('mode_changed').at(-1)?.modeId, 'c')
  })

  for (const where of ['in a thread', 'without one']) {
    test(`one that has no model of its own keeps the one it was entered with, ${where}`, async () => {
      await using bench = new HarnessBench([], { modes: [{ id: 'plan', defaultModelId: 'x/plan' }, { id: 'build' }] })
      const { mode, model } = bench.harness.session
      if (where === 'in a thread') await bench.harness.createThread()
      await mode.switch({ modeId: 'build' })
      await mode.switch({ modeId: 'plan' })
      await model.switch({ modelId: 'x/other' })
      await mode.switch({ modeId: 'build' })
      assert.equal(model.get(), 'x/plan')
    })
  }

  test('each remembers the model that was chosen in it', async () => {
    await using bench = new HarnessBench([], {
      modes: [
        { id: 'plan', defaultModelId: 'x/plan' },
        { id: 'build', defaultModelId: 'x/build' },
      ],
    })
    const { mode, model } = bench.harness.session
    assert.equal(model.get(), 'x/plan')
    assert.equal(model.displayName(), 'plan')
    await bench.harness.createThread()
    await model.switch({ modelId: 'x/other' })
    assert.deepEqual(bench.all('model_changed').at(-1), {
      type: 'model_changed',
      modelId: 'x/other',
      scope: 'thread',
      modeId: 'plan',
    })
    await mode.switch({ modeId: 'build' })
    assert.equal(model.get(), 'x/build')
    await mode.switch({ modeId: 'plan' })
    assert.equal(model.get(), 'x/other')
    assert.equal(model.resolveForMode({ modeId: 'build' }), 'x/build')
    await model.switch({ modelId: 'x/b2', modeId: 'build', scope: 'mode' })
    assert.equal(model.get(), 'x/other')
    assert.equal(model.resolveForMode({ modeId: 'build' }), 'x/b2')
  })

  test('a command of a client does what the session does: model of the mode, remembered models, unknown modes', async () => {
    const modes = [
      { id: 'plan', defaultModelId: 'x/plan' },
      { id: 'build', defaultModelId: 'x/build' },
    ]
    await using bench = new HarnessBench([], { modes })
    const { mode, model } = bench.harness.session
    const { id, resourceId } = await bench.harness.createThread()
    const options = { resourceId, begin: () => undefined, onEvicted: async () => undefined }
    const served = await servedHarness(bench.harness).enter(id, options)
    const { runtime } = served
    const done = { status: 'done' }
    assert.deepEqual(await runtime.execute({ type: 'model', model: 'x/other' }), done)
    assert.equal(model.resolveForMode({ modeId: 'plan' }), 'x/other')
    assert.deepEqual(await runtime.execute({ type: 'mode', mode: 'build' }), done)
    assert.deepEqual([mode.get(), model.get()], ['build', 'x/build'])
    assert.deepEqual(await runtime.execute({ type: 'configure', config: { mode: 'plan' } }), done)
    assert.deepEqual([mode.get(), model.get()], ['plan', 'x/other'])
    assert.deepEqual(await runtime.execute({ type: 'configure', config: { mode: 'build', model: 'x/b2' } }), done)
    assert.deepEqual([mode.get(), model.get(), model.resolveForMode({ modeId: 'build' })], ['build', 'x/b2', 'x/b2'])
    await mode.switch({ modeId: 'plan' })
    await mode.switch({ modeId: 'build' })
    assert.equal(model.get(), 'x/b2')
    const refused = await runtime.execute({ type: 'mode', mode: 'dream' })
    assert.deepEqual([refused.status, mode.get()], ['rejected', 'build'])
    await served.leave()
  })

  test('without a choice the agent takes its own model', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    const { model } = bench.harness.session
    assert.equal(model.get(), '')
    assert.equal(model.hasSelection(), false)
    assert.equal(model.displayName(), 'unknown')
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.equal(bench.model.calls, 1)
  })

  test('a mode may have an agent of its own, and a foreign one', async () => {
    const builder = scriptedModel([{ text: 'Built.' }])
    const answers: Act = (turn, host) => says(`foreign: ${turn.instructions}`)(turn, host)
    const foreign = new ForeignAgent('foreign', [answers], { governs: 'none' })
    await using bench = new HarnessBench([{ text: 'Planned.' }], {
      modes: [
        { id: 'plan' },
        { id: 'build', agent: new Agent({ id: 'builder', model: builder }) },
        { id: 'review', agent: foreign, instructions: 'Review.' },
      ],
      permissions: {},
    })
    const { session } = bench.harness
    await bench.harness.sendMessage({ content: 'Hi' })
    await session.mode.switch({ modeId: 'build' })
    assert.equal(bench.harness.getCurrentAgent().id, 'builder')
    await bench.harness.sendMessage({ content: 'Hi' })
    await session.mode.switch({ modeId: 'review' })
    await session.permissions.setYolo({ enabled: true })
    await bench.harness.sendMessage({ content: 'Hi' })
    const texts = (await session.thread.listActiveMessages())
      .filter(({ role }) => role === 'assistant')
      .map(({ content }) => content[0])
    assert.deepEqual(texts, [
      { type: 'text', text: 'Planned.' },
      { type: 'text', text: 'Built.' },
      { type: 'text', text: 'foreign: Review.' },
    ])
  })
})
