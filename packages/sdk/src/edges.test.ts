import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { scriptedModel } from '@inspan/testing'
import {
  EnvConnectivityResolver,
  createAgentManager,
  defineModel,
  NativeHarnessFactory,
  type AgentHarness,
} from './index.ts'
import { observedModel } from './factories/observed-model.ts'
import { chatting, eventsOf, folders, until } from './sdk.fixture.ts'

test('the extensions of a manager are the very object of its harness', async () => {
  await using it = await folders()
  const made: AgentHarness[] = []
  const own = new NativeHarnessFactory({ model: scriptedModel([]) })
  const create = async (root: string): Promise<AgentHarness> => {
    const harness = await own.create(root)
    made.push(harness)
    return harness
  }
  await using manager = await createAgentManager(it.root, { protocolVersion: 1, create })
  assert.equal(manager.extensions, made[0]?.extensions)
})

test('a turn that waits for its reader keeps a second one out', async () => {
  const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
  const question = { toolCalls: [{ id: 'q', name: 'ask', input: {} }] }
  await using it = await chatting([question, { text: 'End.' }], { config: { tools } })
  const turn = await it.session.chat('Go', { operationId: 'op' })
  await until(turn, 'step-finish')
  while ((await it.session.getOperation('op'))?.state !== 'waiting') await nextTask()
  await assert.rejects(it.session.chat('Again'), { type: 'TURN_IN_PROGRESS' })
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

test('a session hears its own telemetry only', async () => {
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
