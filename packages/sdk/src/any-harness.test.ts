/** What a manager promises whatever harness it was made with. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { scriptedModel } from '@inspan/testing'
import {
  createAgentManager,
  defineModel,
  EnvConnectivityResolver,
  NativeHarnessFactory,
  type AgentHarness,
  type AgentHooks,
  type ChatEvent,
} from './index.ts'
import { changedHarness, eventsOf, folders, typesOf } from './sdk.fixture.ts'

const native = (): NativeHarnessFactory => new NativeHarnessFactory({ model: scriptedModel([]) })

suite('a manager over any harness', () => {
  test('checks the folder, then the version, and restores agents before it is returned', async () => {
    await using it = await folders()
    const first = await createAgentManager(it.root, native())
    await first.createAgent(it.project, { agentId: 'a' })
    await first.shutdown()
    const seen: string[] = []
    const own = changedHarness(native(), (harness) => ({
      createAgent: async (...given) => {
        seen.push('restore')
        await harness.createAgent(...given)
      },
    }))
    const factory = {
      get protocolVersion() {
        seen.push('version')
        return 1
      },
      create: (root: string): Promise<AgentHarness> => {
        seen.push('build')
        return own.create(root)
      },
    }
    await assert.rejects(createAgentManager(join(it.root, 'missing'), factory), { type: 'INVALID_OPTIONS' })
    assert.equal(seen.length, 0)
    await using manager = await createAgentManager(it.root, factory)
    seen.push('returned')
    assert.deepEqual([...new Set(seen)], ['version', 'build', 'restore', 'returned'])
    assert.deepEqual(manager.getAgentIds(), ['a'])
  })

  test('hands the signal down, and destroys an agent whose creation is aborted after the harness made it', async () => {
    await using it = await folders()
    const abort = new AbortController()
    const signals: unknown[] = []
    const destroyed: string[] = []
    const factory = changedHarness(native(), (harness) => ({
      createAgent: async (agentId, root, connectivity, config, options = {}) => {
        signals.push(options.abortSignal)
        if (agentId === 'refused') throw new Error('Refused.')
        await harness.createAgent(agentId, root, connectivity, config, {})
        abort.abort()
      },
      destroyAgent: (agentId) => {
        destroyed.push(agentId)
        return harness.destroyAgent(agentId)
      },
    }))
    await using manager = await createAgentManager(it.root, factory)
    const creation = manager.createAgent(it.project, { agentId: 'a' }, { abortSignal: abort.signal })
    await assert.rejects(creation, { type: 'ABORTED' })
    assert.deepEqual([signals, destroyed], [[abort.signal], ['a']])
    await assert.rejects(manager.createAgent(it.project, { agentId: 'refused' }), /Refused/)
    assert.deepEqual(manager.getAgentIds(), [])
    for (const name of ['a', 'refused']) assert.equal(existsSync(join(it.root, 'agents', `${name}.json`)), false)
  })

  test('does not get an agent whose harness is ready only after the shutdown', async () => {
    await using it = await folders()
    const ready = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const factory = changedHarness(native(), () => ({
      createAgent: () => {
        asked.resolve()
        return ready.promise
      },
      getThreadIds: async () => [],
    }))
    const manager = await createAgentManager(it.root, factory)
    const creating = manager.createAgent(it.project, { agentId: 'late' })
    await asked.promise
    await manager.shutdown()
    ready.resolve()
    await assert.rejects(creating, { type: 'DISPOSED' })
    assert.equal(existsSync(join(it.root, 'agents', 'late.json')), false)
  })

  test('does not write an agent again that is being destroyed', async () => {
    await using it = await folders()
    const [asked, updated, destroyed] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    assert.ok(asked !== undefined && updated !== undefined && destroyed !== undefined)
    const factory = changedHarness(native(), () => ({
      updateAgent: () => {
        asked.resolve()
        return updated.promise
      },
      destroyAgent: () => destroyed.promise.then(() => true),
    }))
    await using manager = await createAgentManager(it.root, factory)
    const agent = await manager.createAgent(it.project, { agentId: 'a' })
    const updating = agent.updateAgentConfig({ name: 'Ann' })
    await asked.promise
    const destroying = manager.destroyAgent('a')
    updated.resolve()
    await assert.rejects(updating, { type: 'DISPOSED' })
    destroyed.resolve()
    await destroying
    assert.deepEqual(readdirSync(join(it.root, 'agents')), [])
  })

  test('passes on the hooks and every field of the config that does not select the model', async () => {
    await using it = await folders()
    const given: unknown[] = []
    const factory = changedHarness(native(), (harness) => ({
      createAgent: (agentId, root, connectivity, config, options = {}) => {
        given.push(config, options.hooks)
        return harness.createAgent(agentId, root, connectivity, config, options)
      },
    }))
    const hooks: AgentHooks = {}
    await using manager = await createAgentManager(it.root, factory, { hooksForAgent: () => hooks })
    const own = { depth: [1, { two: true }] }
    await manager.createAgent(it.project, { agentId: 'a', modelId: 'openai/gpt-5', name: 'Ann', own } as object)
    assert.deepEqual(given, [{ name: 'Ann', own }, hooks])
    assert.equal(given[1], hooks)
  })

  test('does not restore an agent that is refused, unreadable or without a model, but all others', async () => {
    await using it = await folders()
    const first = await createAgentManager(it.root, native())
    for (const agentId of ['fine', 'refused', 'unread', 'unresolved']) await first.createAgent(it.project, { agentId })
    await first.shutdown()
    const factory = changedHarness(native(), (harness) => ({
      createAgent: async (agentId, ...given) => {
        if (agentId === 'refused') throw new Error('Refused.')
        await harness.createAgent(agentId, ...given)
      },
      getThreadIds: async (agentId) => {
        if (agentId === 'unread') throw new Error('Unread.')
        return harness.getThreadIds(agentId)
      },
    }))
    const real = new EnvConnectivityResolver({ env: {} })
    const connectivityResolver: Pick<typeof real, 'resolve'> = {
      resolve: async (request) => {
        if (request.agentId === 'unresolved') throw new Error('Unresolved.')
        return real.resolve(request)
      },
    }
    const hooked: string[] = []
    const hooksForAgent = ({ agentId }: { readonly agentId: string }): AgentHooks => {
      hooked.push(agentId)
      return {}
    }
    await using manager = await createAgentManager(it.root, factory, { connectivityResolver, hooksForAgent })
    assert.deepEqual(manager.getAgentIds(), ['fine'])
    assert.deepEqual(hooked, ['fine', 'refused', 'unread'])
    const failures = manager.getRestoreFailures().map(({ agentId, error }) => [agentId, (error as Error).message])
    assert.deepEqual(failures, [
      ['refused', 'Refused.'],
      ['unread', 'Unread.'],
      ['unresolved', 'It could not be decided how "unresolved" reaches its model.'],
    ])
  })

  test('checks what is sent before any harness gets it', async () => {
    await using it = await folders()
    const taken: unknown[] = []
    const factory = changedHarness(native(), (harness) => ({
      stream: (...given) => {
        taken.push(given[2])
        return harness.stream(...given)
      },
      addMessages: async (...given) => void taken.push(given[2]),
    }))
    const supportedFormats = { formats: [{ mimeType: 'image/png', maxBytes: 3 }], maxFiles: 1 }
    await using manager = await createAgentManager(it.root, factory)
    const config = { modelId: defineModel({ id: 'own/model', supportedFormats }) }
    const session = await (await manager.createAgent(it.project, config)).createChatSession()
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    const jpeg = { ...image, mimeType: 'image/jpeg' } as const
    const large = { ...image, data: 'AAAAAAAA' }
    for (const bad of [[jpeg], [large], [image, image]]) {
      await assert.rejects(session.chat(bad), { type: 'MULTIMODAL_NOT_SUPPORTED' })
      const message = { id: 'm', role: 'user', content: bad } as const
      await assert.rejects(session.addContext([message]), { type: 'MULTIMODAL_NOT_SUPPORTED' })
    }
    await assert.rejects(session.chat(''), { type: 'INVALID_MESSAGE_CONTENT' })
    assert.deepEqual(taken, [])
    await session.addContext([{ id: 'm', role: 'user', content: [image] }])
    assert.equal(taken.length, 1)
  })

  test('gives the harness context with its time, which is now unless it has one', async () => {
    await using it = await folders()
    const added: unknown[] = []
    const factory = changedHarness(native(), () => ({
      addMessages: async (_agentId, _threadId, messages) => {
        added.push(...messages.map(({ content, createdAt }) => [content, createdAt?.getTime()]))
      },
    }))
    await using manager = await createAgentManager(it.root, factory, { now: () => 4_711 })
    const session = await (await manager.createAgent(it.project)).createChatSession()
    await session.addContext('Now.')
    await session.addContext([{ id: 'x', role: 'user', content: 'Then.', createdAt: new Date(1_000) }])
    assert.deepEqual(added, [
      ['Now.', 4_711],
      ['Then.', 1_000],
    ])
  })

  test('is one of several that a factory serves, each with a folder of its own', async () => {
    await using one = await folders()
    await using other = await folders()
    const roots: string[] = []
    const own = native()
    const factory = {
      protocolVersion: 1,
      create: (root: string): Promise<AgentHarness> => {
        roots.push(root)
        return own.create(root)
      },
    }
    await using first = await createAgentManager(one.root, factory)
    await using second = await createAgentManager(other.root, factory)
    await first.createAgent(one.project, { agentId: 'a' })
    assert.deepEqual([roots, second.getAgentIds()], [[one.root, other.root], []])
    assert.deepEqual(
      [one, other].map(({ root }) => existsSync(join(root, 'inspan.db'))),
      [true, true],
    )
  })

  test('keeps the last reading of the context over a step that reports nothing', async () => {
    await using it = await folders()
    const usages = [{ inputTokens: 50_000 }, undefined]
    const factory = changedHarness(native(), () => ({
      stream: async () => {
        const usage = usages.shift()
        async function* produce(): AsyncGenerator<ChatEvent> {
          yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop', ...(usage === undefined ? {} : { usage }) }
          yield { type: 'finish', finishReason: 'stop' }
        }
        return { eventStream: produce(), textStream: (async function* () {})() }
      },
    }))
    await using manager = await createAgentManager(it.root, factory)
    const session = await (await manager.createAgent(it.project)).createChatSession()
    for (const _turn of [1, 2]) {
      await eventsOf(await session.chat('Hi'))
      assert.deepEqual(session.getContextUsage().usage, { inputTokens: 50_000 })
    }
  })

  test('ends a turn with one finish, also if the harness throws or reports no end', async () => {
    await using it = await folders()
    const text: ChatEvent = { type: 'text-delta', text: 'Hi.' }
    const failed: ChatEvent = { type: 'error', error: new Error('Told.') }
    const endings: (() => AsyncGenerator<ChatEvent>)[] = [
      async function* () {
        yield text
        throw new Error('Thrown.')
      },
      async function* () {
        yield text
      },
      async function* () {
        yield text
        yield failed
      },
      async function* () {
        yield text
        yield failed
        yield { type: 'finish', finishReason: 'error' }
      },
    ]
    const factory = changedHarness(native(), () => ({
      stream: async () => {
        const produce = endings.shift() ?? assert.fail('too many turns')
        return { eventStream: produce(), textStream: (async function* () {})() }
      },
    }))
    await using manager = await createAgentManager(it.root, factory)
    const session = await (await manager.createAgent(it.project)).createChatSession()
    for (const message of ['Thrown.', 'The harness ended the turn without saying how it ended.', 'Told.', 'Told.']) {
      const events = await eventsOf(await session.chat('Hi'))
      assert.deepEqual(typesOf(events), ['start', 'text-delta', 'error', 'finish'])
      const [, , error, finish] = events
      assert.ok(error?.type === 'error' && error.error.message === message, message)
      assert.ok(finish?.type === 'finish' && finish.finishReason === 'error')
      assert.equal(error.code, message.startsWith('The harness') ? 'no-finish' : undefined)
    }
  })
})
