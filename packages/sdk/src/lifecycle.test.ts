import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { suite, test } from 'node:test'
import { scriptedModel } from '@inspan/testing'
import {
  createAgentManager,
  NativeHarnessFactory,
  SUPPORTED_PROTOCOL_VERSIONS,
  type AgentHooks,
  type HarnessFactory,
  type LogRecord,
  type TelemetryEvent,
} from './index.ts'
import { changedHarness, chatting, eventsOf, folders, noting, textOf, until } from './sdk.fixture.ts'

const factory = (): NativeHarnessFactory => new NativeHarnessFactory({ model: scriptedModel([]) })

suite('a manager', () => {
  test('needs an existing folder and creates nothing otherwise', async () => {
    await using it = await folders()
    const missing = join(it.root, 'missing')
    await assert.rejects(createAgentManager(missing, factory()), (error: Error) => error.message.includes(missing))
    assert.equal(existsSync(missing), false)
    const file = join(it.root, 'file')
    writeFileSync(file, '')
    await assert.rejects(createAgentManager(file, factory()), { type: 'INVALID_OPTIONS' })
  })

  test('refuses a factory of another version without building it, and a harness that differs from its factory', async () => {
    await using it = await folders()
    let built = 0
    let shut = 0
    const own = factory()
    const of = (announced: number, reported: number): HarnessFactory => ({
      protocolVersion: announced,
      create: (root) => {
        built++
        const changed = changedHarness(own, (harness) => ({
          protocolVersion: reported,
          shutdown: () => {
            shut++
            return harness.shutdown()
          },
        }))
        return changed.create(root)
      },
    })
    assert.deepEqual(SUPPORTED_PROTOCOL_VERSIONS, [1])
    await assert.rejects(createAgentManager(it.root, of(2, 2)), { type: 'INCOMPATIBLE_HARNESS' })
    assert.equal(built, 0)
    await assert.rejects(createAgentManager(it.root, of(1, 2)), { type: 'INCOMPATIBLE_HARNESS' })
    assert.equal(shut, 1)
    // Nothing is left that would keep the next one out.
    await (await createAgentManager(it.root, own)).shutdown()
  })

  test('keeps a second one out of its folder until it is shut down', async () => {
    await using it = await folders()
    const first = await createAgentManager(it.root, factory())
    await assert.rejects(createAgentManager(it.root, factory()), { type: 'STORAGE_IN_USE' })
    await first.shutdown()
    await first.shutdown()
    await using second = await createAgentManager(it.root, factory())
    assert.deepEqual(second.getAgentIds(), [])
  })

  test('takes over the folder of a process that died', async () => {
    await using it = await folders()
    const dead = { pid: 2 ** 22 - 1, host: (await import('node:os')).hostname(), token: 'x' }
    writeFileSync(join(it.root, 'manager.lock'), JSON.stringify(dead))
    await (await createAgentManager(it.root, factory())).shutdown()
  })

  test('does not take a bare resolver as its options', async () => {
    await using it = await folders()
    const resolver = { resolve: () => Promise.reject(new Error('No.')) }
    await assert.rejects(createAgentManager(it.root, factory(), resolver as object), { type: 'INVALID_OPTIONS' })
  })
})

suite('an agent', () => {
  test('is kept in a file that only its owner can read, with exactly what it was made of', async () => {
    await using it = await chatting([], { config: { name: 'Ann', instructions: 'Be brief.', modelId: 'openai/gpt-5' } })
    const path = join(it.root, 'agents', 'a.json')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
      version: 1,
      harnessId: 'native',
      agentId: 'a',
      projectRoot: it.project,
      config: { name: 'Ann', instructions: 'Be brief.', modelId: 'openai/gpt-5' },
    })
    assert.deepEqual([it.agent.getId(), it.agent.getProjectRoot()], ['a', it.project])
    assert.equal(it.manager.getAgent('a'), it.agent)
    // What the harness keeps is beside it.
    assert.ok(existsSync(join(it.root, 'inspan.db')))
    assert.deepEqual(readdirSync(join(it.root, 'agents')), ['a.json'])
  })

  test('gets an id of its own if it is given none, and never one that is no file name', async () => {
    await using it = await chatting([])
    const other = await it.manager.createAgent(it.project)
    assert.match(other.getId(), /^[\da-f-]{36}$/)
    for (const agentId of ['', '..', '../x', 'a/b', 'a\\b', '.hidden', 'con', 'x'.repeat(200)]) {
      await assert.rejects(it.manager.createAgent(it.project, { agentId }), { type: 'INVALID_OPTIONS' })
    }
    await assert.rejects(it.manager.createAgent(it.project, { agentId: 'a' }), { type: 'AGENT_ALREADY_EXISTS' })
    assert.equal(it.manager.getAgent('a'), it.agent)
  })

  test('needs an existing project, which may be named relatively, and leaves nothing behind otherwise', async () => {
    await using it = await chatting([])
    writeFileSync(join(it.project, 'file'), '')
    for (const name of ['no', 'file']) {
      const creation = it.manager.createAgent(join(it.project, name), { agentId: 'b' })
      await assert.rejects(creation, { type: 'INVALID_OPTIONS' })
    }
    assert.equal(existsSync(join(it.root, 'agents', 'b.json')), false)
    const relatively = await it.manager.createAgent(relative(process.cwd(), it.project), { agentId: 'c' })
    assert.equal(relatively.getProjectRoot(), it.project)
  })

  test('is not created if that is aborted or its model cannot be resolved', async () => {
    await using it = await chatting([])
    const aborted = { abortSignal: AbortSignal.abort() }
    await assert.rejects(it.manager.createAgent(it.project, { agentId: 'b' }, aborted), { type: 'ABORTED' })
    const unknown = { agentId: 'b', modelId: 'nonsense' }
    await assert.rejects(it.manager.createAgent(it.project, unknown), { type: 'MODEL_NOT_SUPPORTED' })
    await assert.rejects(it.manager.createAgent(it.project, { agentId: 'b', profile: 'no' }), {
      type: 'CONNECTIVITY_FAILED',
    })
    assert.deepEqual(it.manager.getAgentIds(), ['a'])
    assert.equal(existsSync(join(it.root, 'agents', 'b.json')), false)
  })

  test('is gone after it was destroyed, with its file and its sessions', async () => {
    await using it = await chatting([])
    await it.agent.destroy()
    assert.deepEqual(it.manager.getAgentIds(), [])
    assert.equal(existsSync(join(it.root, 'agents', 'a.json')), false)
    assert.throws(() => it.manager.getAgent('a'), { type: 'AGENT_NOT_FOUND' })
    await assert.rejects(it.manager.destroyAgent('a'), { type: 'AGENT_NOT_FOUND' })
    await assert.rejects(it.session.chat('Hi'), { type: 'DISPOSED' })
    assert.throws(() => it.agent.getChatSessionIds(), { type: 'DISPOSED' })
    const next = await it.manager.createAgent(it.project, { agentId: 'a' })
    assert.deepEqual(next.getChatSessionIds(), [])
    // So is one that could not be restored.
    const elsewhere = join(it.root, '..', 'elsewhere')
    await mkdir(elsewhere)
    await it.manager.createAgent(elsewhere, { agentId: 'lost' })
    rmSync(elsewhere, { recursive: true })
    const manager = await it.restart()
    assert.equal(manager.getRestoreFailures().length, 1)
    await manager.destroyAgent('lost')
    assert.deepEqual(manager.getRestoreFailures(), [])
    assert.equal(existsSync(join(it.root, 'agents', 'lost.json')), false)
  })

  test('gives away a copy of its config', async () => {
    await using it = await chatting([], { config: { name: 'Ann' } })
    it.agent.getAgentConfig().name = 'Bob'
    assert.equal(it.agent.getAgentConfig().name, 'Ann')
  })
})

suite('a restore', () => {
  test('lists what could not be restored, logs it, and restores the rest', async () => {
    await using it = await chatting([])
    const elsewhere = join(it.root, '..', 'elsewhere')
    await mkdir(elsewhere)
    await it.manager.createAgent(elsewhere, { agentId: 'lost', name: 'Lost' })
    rmSync(elsewhere, { recursive: true })
    writeFileSync(join(it.root, 'agents', 'broken.json'), '{')
    writeFileSync(join(it.root, 'agents', 'notes.txt'), 'mine')
    await mkdir(join(it.root, 'agents', 'folder.json'))
    const foreign = { version: 1, harnessId: 'other', agentId: 'foreign', projectRoot: it.project, config: {} }
    writeFileSync(join(it.root, 'agents', 'foreign.json'), JSON.stringify(foreign))
    const manager = await it.restart()
    assert.deepEqual(manager.getAgentIds(), ['a'])
    const [failure, ...others] = manager.getRestoreFailures()
    assert.deepEqual(others, [])
    assert.equal(failure?.agentId, 'lost')
    assert.deepEqual([failure?.config, failure?.projectRoot], [{ name: 'Lost' }, elsewhere])
    assert.ok(failure?.error instanceof Error && failure.error.message.includes(elsewhere))
    manager.getRestoreFailures().pop()
    assert.equal(manager.getRestoreFailures().length, 1)
    // The records were made before anybody could listen.
    const records: LogRecord[] = []
    manager.onLog((record) => records.push(record))
    assert.deepEqual(records.map(({ level }) => level).sort(), ['error', 'warn', 'warn'])
    assert.match(records.map(({ message }) => message).join('\n'), /broken\.json[^]*foreign\.json[^]*"lost"/)
    // Nobody gets an id whose file is another's.
    for (const agentId of ['foreign', 'broken', 'folder']) {
      await assert.rejects(manager.createAgent(it.project, { agentId }), { type: 'AGENT_ALREADY_EXISTS' })
    }
    assert.equal(readFileSync(join(it.root, 'agents', 'broken.json'), 'utf8'), '{')
    assert.equal(readFileSync(join(it.root, 'agents', 'foreign.json'), 'utf8'), JSON.stringify(foreign))
    assert.throws(() => manager.getAgent('lost'), { type: 'AGENT_NOT_FOUND' })
    assert.deepEqual(readdirSync(join(it.root, 'agents')).sort(), [
      'a.json',
      'broken.json',
      'folder.json',
      'foreign.json',
      'lost.json',
      'notes.txt',
    ])
    await manager.destroyAgent('lost')
    assert.deepEqual(manager.getRestoreFailures(), [])
    assert.equal(existsSync(join(it.root, 'agents', 'lost.json')), false)
  })

  test('can be replaced: creating the agent again clears its failure', async () => {
    await using it = await chatting([])
    const elsewhere = join(it.root, '..', 'elsewhere')
    await mkdir(elsewhere)
    await it.manager.createAgent(elsewhere, { agentId: 'lost' })
    rmSync(elsewhere, { recursive: true })
    const manager = await it.restart()
    await manager.createAgent(it.project, { agentId: 'lost' })
    assert.deepEqual(manager.getRestoreFailures(), [])
    assert.deepEqual(manager.getAgentIds().sort(), ['a', 'lost'])
    const again = await it.restart()
    assert.equal(again.getAgent('lost').getProjectRoot(), it.project)
  })
})

suite('an update of the config', () => {
  test('merges the fields, keeps sessions, is persisted, and applies to the next turn', async () => {
    await using it = await chatting([{ text: 'One.' }, { text: 'Two.' }], { config: { name: 'Ann', description: 'd' } })
    await eventsOf(await it.session.chat('Hi'))
    await it.agent.updateAgentConfig({ instructions: 'Be brief.', description: undefined } as object)
    assert.deepEqual(it.agent.getAgentConfig(), { name: 'Ann', instructions: 'Be brief.' })
    assert.equal(textOf(await eventsOf(await it.session.chat('Again'))), 'Two.')
    assert.match(JSON.stringify(it.model.requests[1]), /Be brief\./)
    const manager = await it.restart()
    assert.deepEqual(manager.getAgent('a').getAgentConfig(), { name: 'Ann', instructions: 'Be brief.' })
  })

  test('resolves the connection again only if it could have changed, and the hooks always', async () => {
    let resolved = 0
    let hooked = 0
    let expected: object = {}
    const { EnvConnectivityResolver } = await import('./index.ts')
    const real = new EnvConnectivityResolver({ env: {} })
    const connectivityResolver = {
      resolve: (request: Parameters<typeof real.resolve>[0]) => {
        assert.deepEqual([request.agentId, request.projectRoot.endsWith('project')], ['a', true])
        assert.deepEqual(request.config, expected)
        resolved++
        return real.resolve(request)
      },
    }
    const hooksForAgent = (): AgentHooks => {
      hooked++
      return {}
    }
    await using it = await chatting([], { manager: { connectivityResolver, hooksForAgent } })
    assert.deepEqual([resolved, hooked], [1, 1])
    await it.agent.updateAgentConfig({ name: 'Bob' })
    assert.deepEqual([resolved, hooked], [1, 2])
    expected = { name: 'Bob', modelId: 'openai/gpt-5' }
    await it.agent.updateAgentConfig({ modelId: 'openai/gpt-5' })
    assert.deepEqual([resolved, hooked], [2, 3])
    assert.equal(it.agent.getConnectivity().modelId, 'openai/gpt-5')
    await it.agent.updateAgentConfig({}, { forceResolve: true })
    assert.deepEqual([resolved, hooked], [3, 4])
    await it.agent.updateAgentConfig()
    assert.deepEqual([resolved, hooked], [3, 5])
    assert.deepEqual(it.agent.getAgentConfig(), expected)
    await it.restart()
    assert.deepEqual([resolved, hooked], [4, 6])
  })

  test('leaves a turn alone that is under way, and applies to the next', async () => {
    const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
    const script = [{ toolCalls: [{ id: 'q', name: 'ask', input: {} }] }, { text: 'One.' }, { text: 'Two.' }]
    await using it = await chatting(script, { config: { tools, instructions: 'Old.' } })
    const turn = await it.session.chat('Go')
    await until(turn, 'tool-call')
    await it.agent.updateAgentConfig({ instructions: 'New.' })
    await it.session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 1 })
    assert.equal(textOf(await eventsOf(turn)), 'One.')
    await eventsOf(await it.session.chat('Again'))
    const told = it.model.requests.map((request) => /Old\.|New\./.exec(JSON.stringify(request))?.[0])
    assert.deepEqual(told, ['Old.', 'Old.', 'New.'])
  })

  test('an update of the config that fails leaves everything as it was', async () => {
    await using it = await chatting([{ text: 'Fine.' }], { config: { name: 'Ann' } })
    const before = readFileSync(join(it.root, 'agents', 'a.json'), 'utf8')
    await assert.rejects(it.agent.updateAgentConfig({ name: 'Bob', modelId: 'nonsense' }), {
      type: 'MODEL_NOT_SUPPORTED',
    })
    await assert.rejects(it.agent.updateAgentConfig({ skills: ['no-such-folder'] }), { type: 'INVALID_OPTIONS' })
    const aborted = { abortSignal: AbortSignal.abort() }
    await assert.rejects(it.agent.updateAgentConfig({ name: 'Bob' }, aborted), { type: 'ABORTED' })
    assert.deepEqual(it.agent.getAgentConfig(), { name: 'Ann' })
    assert.equal(readFileSync(join(it.root, 'agents', 'a.json'), 'utf8'), before)
    assert.equal(textOf(await eventsOf(await it.session.chat('Hi'))), 'Fine.')
  })
})

suite('sessions', () => {
  test('are found by their id, and unknown ones are refused', async () => {
    await using it = await chatting([])
    const unknown = { type: 'CHAT_SESSION_NOT_FOUND' }
    const second = await it.agent.createChatSession()
    assert.deepEqual(it.agent.getChatSessionIds(), [it.session.getId(), second.getId()])
    assert.equal(it.agent.getChatSession(it.session.getId()), it.session)
    assert.throws(() => it.agent.getChatSession('x'), unknown)
    await assert.rejects(it.agent.destroyChatSession('x'), unknown)
    await assert.rejects(it.agent.cloneChatSession('x'), unknown)
    await assert.rejects(it.agent.compactChatSession('x'), unknown)
  })

  test('are cloned with their messages and go separate ways', async () => {
    await using it = await chatting([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }])
    await eventsOf(await it.session.chat('Hi'))
    const clone = await it.agent.cloneChatSession(it.session.getId())
    assert.notEqual(clone.getId(), it.session.getId())
    const shared = await it.session.getMessageHistory()
    assert.deepEqual(await clone.getMessageHistory(), shared)
    await eventsOf(await clone.chat('More'))
    assert.deepEqual(await it.session.getMessageHistory(), shared)
    await it.session.addContext('Only here.')
    assert.doesNotMatch(JSON.stringify(await clone.getMessageHistory()), /Only here/)
    await it.session.clearHistory()
    assert.deepEqual(await it.session.getMessageHistory(), [])
    assert.equal((await clone.getMessageHistory()).length, 4)
    await it.agent.destroyChatSession(it.session.getId())
    assert.equal(textOf(await eventsOf(await clone.chat('Still'))), 'Three.')
  })

  test('take context without asking the model, in the order of its time', async () => {
    await using it = await chatting([{ text: 'Seen.' }])
    await it.session.addContext('Remember the blue one.')
    await it.session.addContext([
      { id: 'old', role: 'user', content: 'Long ago.', createdAt: new Date(1_000) },
      { id: 'new', role: 'user', content: 'Just now.' },
      { id: 'newer', role: 'user', content: 'And then.' },
      { id: 'first', role: 'user', content: 'Of one', createdAt: new Date(2_000) },
      { id: 'second', role: 'user', content: 'time.', createdAt: new Date(2_000) },
    ])
    assert.equal(it.model.requests.length, 0)
    const history = await it.session.getMessageHistory()
    assert.deepEqual(
      history.map(({ content }) => content),
      ['Long ago.', 'Of one', 'time.', 'Remember the blue one.', 'Just now.', 'And then.'],
    )
    assert.deepEqual(
      history.slice(0, 3).map(({ createdAt, id }) => [id, createdAt?.getTime()]),
      [
        ['old', 1_000],
        ['first', 2_000],
        ['second', 2_000],
      ],
    )
    assert.ok(history.every(({ createdAt, role }) => createdAt instanceof Date && role === 'user'))
    const result = { type: 'tool-result', toolCallId: '1', toolName: 't', result: 1 } as const
    const image = { type: 'image', mimeType: 'image/tiff', data: 'AAAA' } as const
    for (const [part, type] of [
      [result, 'INVALID_MESSAGE_CONTENT'],
      [image, 'MULTIMODAL_NOT_SUPPORTED'],
    ] as const) {
      await assert.rejects(it.session.addContext([{ id: 'x', role: 'user', content: [part] }]), { type })
    }
    await eventsOf(await it.session.chat('Which?'))
    const all = await it.session.getMessageHistory()
    assert.deepEqual(all.slice(0, -2), history)
    assert.deepEqual(
      all.slice(-2).map(({ content, role }) => [role, content]),
      [
        ['user', 'Which?'],
        ['assistant', 'Seen.'],
      ],
    )
    assert.match(JSON.stringify(it.model.requests[0]), /blue one/)
  })

  test('report how full the context was at the last step', async () => {
    const script = [
      { toolCalls: [{ name: 'note', input: {} }], usage: { inputTokens: 20_000, outputTokens: 1 } },
      { text: 'End.', usage: { inputTokens: 50_000, outputTokens: 1, cachedInputTokens: 10_000 } },
    ]
    await using it = await chatting(script, { factory: { tools: noting('note', []) } })
    assert.deepEqual(it.session.getContextUsage(), { usage: {}, contextWindow: 200_000, usedFraction: undefined })
    const during: unknown[] = []
    it.session.subscribe(({ type }) => {
      if (type === 'step-start') during.push(it.session.getContextUsage().usedFraction)
    })
    await eventsOf(await it.session.chat('Hi'))
    assert.deepEqual(during, [undefined, 0.1])
    const { contextWindow, usage, usedFraction } = it.session.getContextUsage()
    assert.deepEqual([contextWindow, usedFraction], [200_000, 0.25])
    assert.deepEqual([usage.inputTokens, usage.cachedInputTokens, usage.outputTokens], [40_000, 10_000, 1])
    await it.agent.updateAgentConfig({ modelId: 'openai/gpt-5' })
    assert.equal(it.session.getContextUsage().contextWindow, 400_000)
    await it.session.clearHistory()
    assert.deepEqual(await it.session.getMessageHistory(), [])
    assert.deepEqual(it.session.getContextUsage(), { usage: {}, contextWindow: 400_000, usedFraction: undefined })
  })

  test('can be disposed of twice without losing their history', async () => {
    await using it = await chatting([{ text: 'One.' }])
    await eventsOf(await it.session.chat('Hi'))
    it.session.dispose()
    it.session.dispose()
    await assert.rejects(it.session.chat('Hi'), { type: 'DISPOSED' })
    const clone = await it.agent.cloneChatSession(it.session.getId())
    assert.equal((await clone.getMessageHistory()).length, 2)
    const manager = await it.restart()
    assert.equal((await manager.getAgent('a').getChatSession(it.session.getId()).getMessageHistory()).length, 2)
  })
})

suite('telemetry', () => {
  test('is scoped, ends every turn exactly once, and contains nothing of what was said', async () => {
    await using it = await chatting(
      [
        { toolCalls: [{ name: 'note', input: { n: 4711 } }], usage: { inputTokens: 5 } },
        { text: 'Secret.', usage: { inputTokens: 1 } },
      ],
      { factory: { tools: noting('note', [], 'hidden') } },
    )
    const all: TelemetryEvent[] = []
    const ofSession: string[] = []
    const ofOther: string[] = []
    const other = await it.manager.createAgent(it.project, { agentId: 'other' })
    it.manager.onTelemetry((event) => all.push(event))
    const stop = it.session.onTelemetry(({ type }) => {
      ofSession.push(type)
      if (type === 'tool-call-started') stop()
    })
    other.onTelemetry(({ type }) => ofOther.push(type))
    it.manager.onTelemetry(() => {
      throw new Error('A broken listener.')
    })
    await eventsOf(await it.session.chat('Private.'))
    assert.deepEqual(
      all.map(({ type }) => type),
      [
        'chat-stream-started',
        'tool-call-started',
        'step-completed',
        'tool-call-completed',
        'step-completed',
        'chat-stream-completed',
      ],
    )
    assert.equal(ofSession.at(-1), 'tool-call-started')
    assert.deepEqual(ofOther, [])
    assert.doesNotMatch(JSON.stringify(all), /Private|Secret|4711|hidden/)
    const completed = all.at(-1)
    assert.ok(completed?.type === 'chat-stream-completed' && completed.usage?.inputTokens === 6)
    assert.ok(all.every(({ agentId, sessionId }) => agentId === 'a' && sessionId === it.session.getId()))
  })
})

suite('the wire', () => {
  test('shows each request with its one response while somebody listens', async () => {
    await using it = await chatting([
      { text: 'Quiet.' },
      { text: 'Loud.' },
      { error: { status: 400 } },
      { text: 'Quiet.' },
    ])
    await eventsOf(await it.session.chat('Hi'))
    const seen: string[] = []
    const ids = new Set<string>()
    const stop = it.manager.onWireCommunication((event) => {
      seen.push(event.type)
      if ('requestId' in event) ids.add(event.requestId)
      throw new Error('A broken listener.')
    })
    await eventsOf(await it.session.chat('Hi'))
    await eventsOf(await it.session.chat('Hi'))
    assert.deepEqual(seen, ['llm-request', 'llm-response', 'llm-request', 'llm-response'])
    assert.equal(ids.size, 2)
    stop()
    assert.equal(textOf(await eventsOf(await it.session.chat('Hi'))), 'Quiet.')
    assert.equal(seen.length, 4)
  })
})

suite('a hook on tool results', () => {
  test('changes what the model, the events and the history show, and hides all if it fails', async () => {
    const call = { toolCalls: [{ name: 'note', input: {} }] }
    const inputs: { toolCallId: string; toolName: string; result: unknown; isError: boolean }[] = []
    const hooks: AgentHooks = {
      onToolResult: ({ args, ...given }) => {
        inputs.push(given)
        if ('n' in args) throw new Error('Broken.')
        return { result: 'clean' }
      },
    }
    await using it = await chatting([call, { toolCalls: [{ name: 'note', input: { n: 1 } }] }, { text: 'End.' }], {
      factory: { tools: noting('note', [], 'secret-value') },
      manager: { hooksForAgent: () => hooks },
    })
    const logs: LogRecord[] = []
    it.manager.onLog((record) => logs.push(record))
    const wire: unknown[] = []
    it.manager.onWireCommunication((event) => wire.push(event))
    const events = await eventsOf(await it.session.chat('Go'))
    const history = await it.session.getMessageHistory()
    for (const place of [events, it.model.requests, history, wire]) assert.match(JSON.stringify(place), /clean/)
    const shown = JSON.stringify([events, it.model.requests, history, wire])
    assert.doesNotMatch(shown, /secret-value/)
    assert.match(shown, /withheld/)
    const toolCallIds = events.flatMap((event) => (event.type === 'tool-call' ? [event.toolCallId] : []))
    const given = { toolName: 'note', result: 'secret-value', isError: false }
    assert.deepEqual(
      inputs,
      toolCallIds.map((toolCallId) => ({ ...given, toolCallId })),
    )
    assert.ok(logs.some(({ level, message }) => level === 'error' && message.includes('onToolResult')))
  })
})
