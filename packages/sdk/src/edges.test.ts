import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { scriptedModel } from '@inspan/testing'
import { ChatTurn } from './chat-turn.ts'
import {
  ApiKeyConnectivityResolver,
  EnvConnectivityResolver,
  createAgentManager,
  defineModel,
  NativeHarnessFactory,
  type TelemetryEvent,
} from './index.ts'
import { observedModel } from './factories/observed-model.ts'
import { changedHarness, chatting, eventsOf, folders, textOf, until } from './sdk.fixture.ts'

test('the extensions of a manager are the very object of its harness', async () => {
  await using it = await folders()
  const own = new NativeHarnessFactory({ model: scriptedModel([]) })
  const fail = (): never => assert.fail('The SDK looks into the extensions.')
  const extensions = new Proxy({}, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail })
  await using manager = await createAgentManager(
    it.root,
    changedHarness(own, () => ({ extensions })),
  )
  await manager.createAgent(it.project)
  assert.ok(Object.is(manager.extensions, extensions))
  await manager.shutdown()
  await using without = await createAgentManager(
    it.root,
    changedHarness(own, () => ({ extensions: undefined })),
  )
  assert.equal(without.extensions, undefined)
})

test('context that is given during a turn is added after it, and refused by a turn that waits for an answer', async () => {
  const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
  const question = { text: 'A question.', toolCalls: [{ id: 'q', name: 'ask', input: {} }] }
  await using it = await chatting([{ text: 'One.' }, question, { text: 'Two.' }, { text: 'Three.' }], {
    config: { tools },
  })
  const refused = { type: 'TURN_IN_PROGRESS' }
  const first = await it.session.chat('Go')
  await it.session.addContext('After it.')
  await it.session.addContext('And this.')
  assert.equal(textOf(await eventsOf(first)), 'One.')
  const asking = await it.session.chat('Ask')
  // The turn works when it is given, and waits before it is over.
  await assert.rejects(it.session.addContext('Never.'), refused)
  await until(asking, 'tool-call')
  await assert.rejects(it.session.addContext('Never.'), refused)
  await it.session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 1 })
  await eventsOf(asking)
  await it.session.addContext('At last.')
  await eventsOf(await it.session.chat('Once more'))
  assert.match(JSON.stringify(it.model.requests[1]), /One\.[^]*After it\.[^]*And this\.[^]*Ask/)
  const told = JSON.stringify(it.model.requests[3])
  assert.match(told, /Two\.[^]*At last\./)
  assert.doesNotMatch(told, /Never/)
})

test('a turn that waits for its reader keeps a second one out', async () => {
  const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
  const question = { toolCalls: [{ id: 'q', name: 'ask', input: {} }] }
  await using it = await chatting([question, { text: 'Other.' }, { text: 'End.' }], { config: { tools } })
  const turn = await it.session.chat('Go', { operationId: 'op' })
  await until(turn, 'step-finish')
  while ((await it.session.getOperation('op'))?.state !== 'waiting') await nextTask()
  await assert.rejects(it.session.chat('Again'), { type: 'TURN_IN_PROGRESS' })
  const other = await it.agent.createChatSession()
  assert.equal(textOf(await eventsOf(await other.chat('Hi'))), 'Other.')
  await it.session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 1 })
  await eventsOf(turn)
})

test('events have the documented fields and no others', async () => {
  await using it = await chatting([{ reasoning: 'Hm.', text: 'Hi.', usage: { inputTokens: 1, outputTokens: 1 } }])
  const events = await eventsOf(await it.session.chat('Hi'))
  assert.deepEqual(
    events.map((event) => Object.keys(event).toSorted().join()),
    [
      'type',
      'stepIndex,type',
      'text,type',
      'text,type',
      'finishReason,stepIndex,type,usage',
      'finishReason,type,usage',
    ],
  )
  assert.deepEqual(events.slice(2, 4), [
    { type: 'reasoning-delta', text: 'Hm.' },
    { type: 'text-delta', text: 'Hi.' },
  ])
})

test('the size of a file is that of its bytes, not of its base64', async () => {
  const supportedFormats = { formats: [{ mimeType: 'image/png', maxBytes: 300 }], maxFiles: 1 }
  const modelId = defineModel({ id: 'own/model', contextWindow: 1_000, supportedFormats })
  await using it = await chatting([{ text: 'Seen.' }], { config: { modelId } })
  const image = (bytes: number) =>
    [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(bytes, 1).toString('base64') }] as const
  await eventsOf(await it.session.chat([...image(300)]))
  await assert.rejects(it.session.chat([...image(301)]), { type: 'MULTIMODAL_NOT_SUPPORTED' })
})

test('nothing is put between the model and its caller while nobody listens to the wire', () => {
  const model = scriptedModel([])
  const place = { agentId: 'a', sessionId: 's' }
  assert.equal(observedModel(model, { ...place, wire: { isHeard: false, emit: () => assert.fail() } }), model)
  assert.notEqual(observedModel(model, { ...place, wire: { isHeard: true, emit: () => undefined } }), model)
})

test('a session receives its own telemetry only', async () => {
  await using it = await chatting([{ text: 'One.' }])
  const other = await it.agent.createChatSession()
  const heard: string[] = []
  other.onTelemetry(({ type }) => heard.push(type))
  await eventsOf(await it.session.chat('Hi'))
  assert.deepEqual(heard, [])
})

test('another profile, also under its old name, is resolved again', async () => {
  const seen: unknown[] = []
  const own = new EnvConnectivityResolver({ env: {} })
  const connectivityResolver = {
    resolve: (request: Parameters<EnvConnectivityResolver['resolve']>[0]) => {
      const { orgAlias: _orgAlias, profile: _profile, ...config } = request.config
      seen.push(request.config)
      return own.resolve({ ...request, config })
    },
  }
  await using it = await chatting([], { manager: { connectivityResolver } })
  await it.agent.updateAgentConfig({ profile: 'x' })
  await it.agent.updateAgentConfig({ orgAlias: 'y' })
  await it.agent.updateAgentConfig({ name: 'Ann' })
  assert.equal(seen.length, 3)
})

test('an agent shows how its model is reached, and no secret', async () => {
  const orgConnection = { instanceUrl: 'https://example.invalid' }
  const own = new ApiKeyConnectivityResolver({ apiKey: 'sk-hidden', baseUrl: 'https://models.invalid/v1' })
  const connectivityResolver = {
    resolve: async ({ config, ...request }: Parameters<EnvConnectivityResolver['resolve']>[0]) => {
      const { profile: _profile, ...rest } = config
      return { ...(await own.resolve({ ...request, config: rest })), orgConnection }
    },
  }
  const config = { modelId: 'openai/gpt-5', profile: 'work' }
  await using it = await chatting([], { manager: { connectivityResolver }, config })
  const shown = { provider: 'openai', modelId: 'openai/gpt-5', baseUrl: 'https://models.invalid/v1', profile: 'work' }
  assert.deepEqual(it.agent.getConnectivity(), shown)
  assert.equal(it.agent.getOrgConnection(), orgConnection)
})

test('a turn is over with its finish: what is pushed later reaches nobody', async () => {
  const turn = new ChatTurn()
  const heard: string[] = []
  turn.onEvent(({ type }) => heard.push(type))
  turn.push({ type: 'text-delta', text: 'Hi.' })
  turn.finish('stop')
  turn.push({ type: 'text-delta', text: 'Late.' })
  turn.finish('error')
  const read = (await eventsOf(turn)).map(({ type }) => type)
  assert.deepEqual([read, heard], [['start', 'text-delta', 'finish'], read])
  assert.deepEqual(await Array.fromAsync(turn.textStream), ['Hi.'])
})

test('telemetry of a tool has its hints', async () => {
  const annotations = { title: 'Look', readOnlyHint: true }
  const tools = [{ name: 'look', inputSchema: { type: 'object' }, annotations }]
  const script = [{ toolCalls: [{ id: 'c', name: 'look', input: {} }] }, { text: 'End.' }]
  await using it = await chatting(script, { config: { tools } })
  const seen: TelemetryEvent[] = []
  it.session.onTelemetry((event) => seen.push(event))
  const result = await it.session.chat('Go')
  await until(result, 'tool-call')
  await it.session.submitToolResult({ toolCallId: 'c', toolName: 'look', result: 'seen' })
  await eventsOf(result)
  const ofTools = seen.filter(({ type }) => type.startsWith('tool-'))
  assert.deepEqual(
    ofTools.map((event) => [event.type, 'annotations' in event && event.annotations]),
    [
      ['tool-call-started', annotations],
      ['tool-call-completed', annotations],
    ],
  )
})
