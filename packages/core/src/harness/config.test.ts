import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Agent, createTool, stepCountIs } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from './harness.fixture.ts'
import type { ModelGateway } from './models/model-types.ts'
import type { HarnessRequestContext } from './agents/request-context.ts'

function offered(bench: HarnessBench, call = 0): string[] {
  const { tools = [] } = bench.model.requests[call] as unknown as { tools?: { name: string }[] }
  return tools.map(({ name }) => name)
}

const tool = (id: string) => createTool({ id, description: id, execute: () => id })

suite('each parameter of a harness counts', () => {
  test('id and resourceId', async () => {
    await using bench = new HarnessBench([], { id: 'mine' })
    assert.equal(bench.harness.id, 'mine')
    assert.equal(bench.harness.session.identity.getResourceId(), 'mine')
    await using other = new HarnessBench([], { id: 'mine', resourceId: 'project' })
    assert.equal((await other.harness.createThread()).resourceId, 'project')
    assert.equal((await other.harness.createSession()).identity.getResourceId(), 'project')
  })

  test('storage: what was said is there in the next process', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-harness-'))
    const url = `file:${join(folder, 'data.db')}`
    try {
      const first = new SqliteStore({ url })
      const before = new HarnessBench([{ text: 'Hello.' }], { storage: first })
      await before.harness.sendMessage({ content: 'Hi' })
      await before.harness.destroy()
      await first.close()
      const second = new SqliteStore({ url })
      await using bench = new HarnessBench([], { storage: second })
      await bench.harness.selectOrCreateThread()
      assert.equal((await bench.harness.session.thread.listActiveMessages()).length, 2)
      await bench.harness.destroy()
      await second.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('initialState: its model is the first choice', async () => {
    await using bench = new HarnessBench([], { initialState: { currentModelId: 'x/chosen' } })
    assert.equal(bench.harness.session.model.get(), 'x/chosen')
    assert.deepEqual(bench.harness.session.state.get(), { currentModelId: 'x/chosen' })
  })

  test('memory: given, or made from the context of the request', async () => {
    const memory = { kind: 'memory' }
    await using bench = new HarnessBench([], { memory })
    assert.equal(await bench.harness.getResolvedMemory(), memory)
    await bench.harness.init()
    assert.equal(bench.harness.getRuntime()?.memory, memory)
    await using made = new HarnessBench([], { memory: ({ requestContext }) => ({ of: requestContext.get('user') }) })
    assert.deepEqual(await made.harness.getResolvedMemory({ user: 'ada' }), { of: 'ada' })
    await using none = new HarnessBench([])
    assert.equal(await none.harness.getResolvedMemory(), null)
  })

  test('modes: what is only shown of them is given out as it came in', async () => {
    const modes = [
      { id: 'plan', name: 'Plan', description: 'Thinks first.', metadata: { colour: 'blue' }, transitionsTo: 'build' },
      { id: 'build', name: 'Build', defaultModelId: 'x/y', instructions: 'Build.' },
    ]
    await using bench = new HarnessBench([], { modes })
    assert.deepEqual(bench.harness.listModes(), modes)
    assert.deepEqual(bench.harness.session.mode.resolve(), modes[0])
  })

  test('tools: a list, or a function of the request', async () => {
    await using bench = new HarnessBench([{ text: '1' }], {
      tools: ({ requestContext }) => (requestContext.get('user') === 'ada' ? { hers: tool('hers') } : {}),
    })
    await bench.harness.sendMessage({ content: 'Hi', requestContext: { user: 'ada' } })
    assert.ok(offered(bench).includes('hers'))
  })

  test('disableBuiltinTools: those are not offered', async () => {
    await using bench = new HarnessBench([{ text: '1' }], { disableBuiltinTools: ['submit_plan', 'task_check'] })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(
      offered(bench),
      ['ask_user', 'task_write', 'task_update', 'task_complete', 'request_access'].filter((name) =>
        offered(bench).includes(name),
      ),
    )
    assert.ok(offered(bench).includes('ask_user'))
  })

  test('workspace: initialised, reported, destroyed', async () => {
    const journal: string[] = []
    const workspace = {
      id: 'ws',
      name: 'Here',
      init: async () => void journal.push('init'),
      destroy: async () => void journal.push('destroy'),
    }
    const bench = new HarnessBench([], { workspace })
    assert.ok(bench.harness.hasWorkspace())
    assert.ok(!bench.harness.isWorkspaceReady())
    assert.equal(bench.harness.getWorkspace(), workspace)
    await bench.harness.init()
    assert.ok(bench.harness.isWorkspaceReady())
    assert.equal(bench.harness.getWorkspace(), workspace)
    assert.equal(await bench.harness.resolveWorkspace(), workspace)
    await bench.harness.destroy()
    assert.deepEqual(journal, ['init', 'destroy'])
    assert.deepEqual(bench.types(), [
      'workspace_status_changed',
      'workspace_status_changed',
      'workspace_ready',
      'workspace_status_changed',
      'workspace_status_changed',
    ])
  })

  test('workspace: one that fails to initialise is reported, and the rest works', async () => {
    const workspace = { init: () => Promise.reject(new Error('no disk')) }
    await using bench = new HarnessBench([{ text: 'Yes.' }], { workspace })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.equal(bench.all('workspace_error')[0]?.error.message, 'no disk')
    assert.equal(bench.all('agent_end')[0]?.reason, 'complete')
  })

  test('workspace: one with methods of its class is one; settings that none can be built from are refused', async () => {
    class Folder {
      readonly id = 'folder'
    }
    await using bench = new HarnessBench([], { workspace: new Folder() })
    assert.equal((await bench.harness.resolveWorkspace())?.id, 'folder')
    assert.throws(
      () => new HarnessBench([], { workspace: { id: 'ws', filesystem: { basePath: '.' } } as never }),
      (error) => InspanError.is(error, 'invalid-input') && /no setting "filesystem"/.test(error.message),
    )
  })

  test('workspace: made by a function, which is given the request and what the harness works with', async () => {
    const given: unknown[] = []
    await using bench = new HarnessBench([], {
      workspace: ({ mastra, requestContext }) => {
        given.push(mastra)
        return { id: String(requestContext.get('user')) }
      },
    })
    assert.ok(bench.harness.isWorkspaceReady())
    assert.equal(bench.harness.getWorkspace(), undefined)
    const made = await bench.harness.resolveWorkspace({ requestContext: { user: 'ada' } })
    assert.equal(made?.id, 'ada')
    assert.equal(bench.harness.getWorkspace(), made)
    assert.ok(given[0] !== undefined && given[0] === bench.harness.getMastra())
  })

  test('workspace: made by a function once for a run, and found by its tools', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: (_input, { requestContext }) => {
        const { workspace } = requestContext.get('harness') as HarnessRequestContext
        seen.push(workspace)
        return 'seen'
      },
    })
    let count = 0
    const call = { toolCalls: [{ name: 'look' }] }
    await using bench = new HarnessBench([call, call, { text: '.' }, call, { text: '.' }], {
      tools: { look },
      permissions: { tools: { look: 'allow' } },
      workspace: async ({ requestContext }) => {
        if (requestContext.get('user') === undefined) throw new Error('whose?')
        return { id: `${String(requestContext.get('user'))} ${++count}` }
      },
    })
    await bench.harness.sendMessage({ content: 'Look', requestContext: { user: 'ada' } })
    assert.deepEqual(seen, [{ id: 'ada 1' }, { id: 'ada 1' }])
    assert.deepEqual(bench.harness.getWorkspace(), { id: 'ada 1' })
    await bench.harness.sendMessage({ content: 'Look' })
    assert.equal(seen[2], undefined)
    assert.deepEqual(
      bench.all('workspace_error').map(({ error }) => error.message),
      ['whose?'],
    )
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete', 'the rest works without it')
  })

  test('browser: given, or made for the request; tools of every mode find it', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: async (_input, { requestContext }) => {
        const { getBrowser } = requestContext.get('harness') as HarnessRequestContext
        const [once, again] = [await getBrowser(), await getBrowser()]
        seen.push(once)
        assert.equal(once, again)
      },
    })
    const own = scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: '.' }])
    const call = { toolCalls: [{ name: 'look' }] }
    const given = { kind: 'browser' }
    await using bench = new HarnessBench([call, { text: '.' }, call, { text: '.' }], {
      browser: given,
      tools: { look },
      modes: [{ id: 'build' }, { id: 'own', agent: new Agent({ id: 'own', model: own }) }],
      permissions: { tools: { look: 'allow' } },
    })
    assert.equal(bench.harness.getBrowser(), given)
    await bench.harness.sendMessage({ content: 'Look' })
    bench.harness.setBrowser(({ requestContext }) => ({ of: requestContext.get('user') }))
    await bench.harness.sendMessage({ content: 'Look', requestContext: { user: 'ada' } })
    await bench.harness.session.mode.switch({ modeId: 'own' })
    await bench.harness.sendMessage({ content: 'Look', requestContext: { user: 'bob' } })
    assert.deepEqual(seen, [given, { of: 'ada' }, { of: 'bob' }])
  })

  test('browser: also one that is made by a function is there from the start', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: async (_input, { requestContext }) => {
        seen.push(await (requestContext.get('harness') as HarnessRequestContext).getBrowser())
      },
    })
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'look' }] }, { text: '.' }], {
      browser: ({ requestContext }) => ({ of: requestContext.get('user') }),
      tools: { look },
      permissions: { tools: { look: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Look', requestContext: { user: 'ada' } })
    assert.deepEqual(seen, [{ of: 'ada' }])
  })

  test('subagents and pubsub have their place', async () => {
    const published: [string, HarnessEvent][] = []
    const pubsub = { publish: (topic: string, event: HarnessEvent) => void published.push([topic, event]) }
    const subagents = [
      {
        id: 'explore',
        name: 'Explore',
        description: 'Looks.',
        instructions: 'Look.',
        tools: { hers: tool('hers') },
        allowedHarnessTools: ['read'],
        allowedWorkspaceTools: ['grep'],
        defaultModelId: 'x/small',
        maxSteps: 5,
        stopWhen: stepCountIs(3),
        forked: false,
      },
    ]
    await using bench = new HarnessBench([{ text: 'Yes.' }], { pubsub, subagents })
    assert.deepEqual(bench.harness.listSubagents(), subagents)
    assert.equal(bench.harness.getRuntime(), undefined)
    await bench.harness.init()
    assert.equal(bench.harness.getMastra(), bench.harness.getRuntime())
    assert.equal(bench.harness.getRuntime()?.pubsub, pubsub)
    assert.equal(bench.harness.getRuntime()?.getAgent('agent'), bench.harness.getRuntime()?.listAgents()[0])
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(
      published.map(([topic, { type }]) => [topic, type]),
      bench.types().map((type) => ['harness:bench', type]),
    )
    assert.throws(
      () => new HarnessBench([], { subagents: [...subagents, ...subagents] }),
      /two subagents with the id "explore"/,
    )
  })

  test('resolveModel: makes the model that was chosen', async () => {
    const chosen = scriptedModel([{ text: 'I was chosen.' }])
    const asked: string[] = []
    await using bench = new HarnessBench([], {
      resolveModel: (modelId) => {
        asked.push(modelId)
        return chosen
      },
    })
    await bench.harness.session.model.switch({ modelId: 'x/chosen' })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual([...new Set(asked)], ['x/chosen'])
    assert.equal(chosen.calls, 1)
  })

  test('gateways: make the models they offer', async () => {
    const chosen = scriptedModel([{ text: 'Through the gate.' }])
    await using bench = new HarnessBench([], {
      gateways: [{ id: 'gate', resolveLanguageModel: () => chosen }],
    })
    await bench.harness.session.model.switch({ modelId: 'gate/some/model' })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.equal(chosen.calls, 1)
  })

  test('gateways are asked to describe themselves', async () => {
    const chosen = scriptedModel([{ text: 'Through the gate.' }])
    const keys: string[] = []
    const gate: ModelGateway = {
      id: 'gate',
      name: 'The Gate',
      handlesModel: (modelId) => modelId === 'bare/model',
      fetchProviders: async () => ({ corp: { name: 'Corp', models: ['one'], apiKeyEnvVar: 'NOT_SET_ANYWHERE' } }),
      getApiKey: async () => 'a key',
      resolveLanguageModel: ({ apiKey }) => {
        keys.push(apiKey)
        return chosen
      },
    }
    await using bench = new HarnessBench([], { gateways: [gate] })
    const offered = (await bench.harness.listAvailableModels()).filter(({ id }) => id.startsWith('gate/'))
    assert.deepEqual(
      offered.map(({ gateway, hasApiKey, id }) => [id, hasApiKey, gateway]),
      [['gate/corp/one', true, 'The Gate']],
    )
    await bench.harness.session.model.switch({ modelId: 'bare/model' })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual([chosen.calls, keys], [1, ['a key']])
    await using off = new HarnessBench([], { gateways: [{ ...gate, shouldEnable: () => false }] })
    assert.ok(!(await off.harness.listAvailableModels()).some(({ id }) => id.startsWith('gate/')))
  })

  test('an agent is not needed where modes name models', async () => {
    const model = scriptedModel([{ text: 'Yes.' }])
    await using bench = new HarnessBench([], {
      agent: undefined,
      modes: [{ id: 'build', defaultModelId: 'x/y' }],
      resolveModel: () => model,
    } as never)
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.equal(model.calls, 1)
  })

  test('models: who may be used, how often they were, and further ones', async () => {
    const used: string[] = []
    await using bench = new HarnessBench([], {
      modelAuthChecker: (provider) => (provider === 'mine' ? true : undefined),
      modelUseCountProvider: () => ({ 'mine/one': 5 }),
      modelUseCountTracker: (modelId) => void used.push(modelId),
      customModelCatalogProvider: () => [{ id: 'mine/one' }],
    })
    const models = await bench.harness.listAvailableModels()
    assert.deepEqual(
      models.map(({ id, useCount }) => [id, useCount]).find(([id]) => id === 'mine/one'),
      ['mine/one', 5],
    )
    assert.equal(models[0]?.hasApiKey, true)
    await bench.harness.session.model.switch({ modelId: 'mine/one' })
    assert.deepEqual(used, ['mine/one'])
    assert.equal((await bench.harness.getCurrentModelAuthStatus()).hasAuth, true)
  })

  test('omConfig: what memory starts from, until somebody chooses otherwise', async () => {
    await using bench = new HarnessBench([], {
      omConfig: { defaultObserverModelId: 'x/observe', defaultReflectionThreshold: 5 },
    })
    const { observer, reflector } = bench.harness.session.om
    assert.deepEqual([observer.modelId(), reflector.modelId()], ['x/observe', undefined])
    assert.deepEqual([observer.threshold(), reflector.threshold()], [30_000, 5])
    await bench.harness.createThread()
    await observer.switchModel({ modelId: 'x/other' })
    assert.equal(observer.modelId(), 'x/other')
    assert.deepEqual(bench.all('om_model_changed'), [
      { type: 'om_model_changed', role: 'observer', modelId: 'x/other' },
    ])
    const { model } = bench.harness.session.subagents
    assert.equal(model.get({ agentType: 'explore' }), null)
    await model.set({ modelId: 'x/sub' })
    await model.set({ modelId: 'x/explore', agentType: 'explore' })
    assert.deepEqual([model.get(), model.get({ agentType: 'explore' })], ['x/sub', 'x/explore'])
    assert.deepEqual(bench.all('subagent_model_changed').at(-1), {
      type: 'subagent_model_changed',
      modelId: 'x/explore',
      scope: 'thread',
      agentType: 'explore',
    })
  })

  test('heartbeatHandlers: beat from init on, and end with the harness', async () => {
    const beaten = Promise.withResolvers<void>()
    const journal: string[] = []
    const bench = new HarnessBench([], {
      heartbeatHandlers: [
        { id: 'sync', intervalMs: 60_000, handler: () => beaten.resolve(), shutdown: () => void journal.push('end') },
      ],
    })
    await bench.harness.init()
    await beaten.promise
    await bench.harness.destroy()
    assert.deepEqual(journal, ['end'])
    assert.throws(
      () => new HarnessBench([], { heartbeatHandlers: [{ id: 'a', intervalMs: 0, handler: () => undefined }] }),
      /intervalMs/,
    )
  })

  test('heartbeatHandlers: have ids, and start as configured', async () => {
    let ticks = 0
    const failed = Promise.withResolvers<void>()
    const journal: string[] = []
    await using bench = new HarnessBench([], {
      heartbeatHandlers: [
        { id: 'later', intervalMs: 60_000, immediate: false, handler: () => void ticks++ },
        { id: 'sync', intervalMs: 60_000, handler: () => undefined, shutdown: () => void journal.push('sync') },
        { id: 'broken', intervalMs: 60_000, handler: () => Promise.reject(new Error('no')) },
      ],
    })
    bench.harness.subscribe(({ type }) => {
      if (type === 'error') failed.resolve()
    })
    await bench.harness.init()
    await failed.promise
    assert.equal(bench.all('error')[0]?.errorType, 'heartbeat:broken')
    await bench.harness.removeHeartbeat({ id: 'sync' })
    assert.deepEqual([journal, ticks], [['sync'], 0])
  })

  test('toolCategoryResolver: what kind of tool it is', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'paint' }] }, { text: 'Done.' }], {
      tools: { paint: tool('paint') },
      toolCategoryResolver: (name) => (name === 'paint' ? 'edit' : null),
      permissions: { categories: { edit: 'allow' } },
    })
    assert.equal(bench.harness.getToolCategory({ toolName: 'paint' }), 'edit')
    assert.equal(bench.harness.getToolCategory({ toolName: 'unheard_of' }), null)
    await bench.harness.sendMessage({ content: 'Go' })
    assert.equal(bench.all('tool_approval_required').length, 0)
  })

  test('permissions: rules for every thread', async () => {
    await using bench = new HarnessBench([], { permissions: { tools: { paint: 'deny' } } })
    await bench.harness.createThread()
    assert.equal(bench.harness.session.permissions.getRules().tools['paint'], 'deny')
  })

  test('permissions: patterns of what a tool is called with', async () => {
    const call = (id: string, command: string) => ({ id, name: 'execute_command', input: { command } })
    const script = [{ toolCalls: [call('c1', 'ls'), call('c2', 'rm x')] }, { text: '.' }]
    await using bench = new HarnessBench(script, {
      tools: { execute_command: tool('execute_command') },
      permissions: {
        categories: { execute: 'allow' },
        patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }],
      },
    })
    await bench.harness.sendMessage({ content: 'Go' })
    const isError = new Map(bench.all('tool_end').map((event) => [event.toolCallId, event.isError]))
    assert.deepEqual([isError.get('c1'), isError.get('c2')], [false, true])
  })

  test('notifications: a function decides, else the source, else the priority', async () => {
    await using bench = new HarnessBench([], {
      notifications: {
        decide: ({ kind }) => (kind === 'secret' ? 'discard' : undefined),
        sources: { mail: 'persist' },
        priorities: { urgent: 'summarize' },
      },
    })
    const send = async (source: string, kind: string): Promise<string> =>
      (await bench.harness.sendNotificationSignal({ source, kind, summary: 'x', priority: 'urgent' })).action
    const actions = [await send('mail', 'secret'), await send('mail', 'open'), await send('ci', 'open')]
    assert.deepEqual(actions, ['discard', 'persist', 'summarize'])
    assert.equal(bench.model.calls, 0)
  })
})
