/** The snippets of the page that describes this interface, with only their imports changed. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock, suite, test } from 'node:test'
import { startProvider, scriptedModel } from '@inspan/testing'
import {
  AgentSDKError,
  AgentSDKErrorType,
  createAgentManager,
  NativeHarnessFactory,
  type ChatSession,
  type ToolApprovalRequestEvent,
} from './index.ts'
import { chatting, eventsOf, folders, until } from './sdk.fixture.ts'

suite('the page', () => {
  test('quick start', async () => {
    await using it = await folders()
    await using provider = await startProvider([{ text: ['Lightning ', 'Web Components are …'] }])
    const env = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${provider.url}/v1` }
    const before = { ...process.env }
    Object.assign(process.env, env)
    const written: string[] = []
    const write = mock.method(process.stdout, 'write', (text: string | Uint8Array) => {
      if (typeof text === 'string') written.push(text)
      return true
    })
    try {
      const manager = await createAgentManager(it.root, new NativeHarnessFactory())
      manager.onLog((record) => {
        console[record.level](record.message, record.context)
      })
      for (const failure of manager.getRestoreFailures()) {
        assert.fail(String(failure.error))
      }
      const agent = await manager.createAgent(it.project, {
        agentId: 'developer-assistant',
        modelId: 'llmgateway__OpenAIGPT5',
        instructions: 'You are a helpful Salesforce developer assistant.',
      })
      const session = await agent.createChatSession()
      const { eventStream } = await session.chat('Explain Lightning Web Components.')
      for await (const event of eventStream) {
        if (event.type === 'text-delta') {
          process.stdout.write(event.text)
        } else if (event.type === 'error') {
          console.error(event.error.message)
        }
      }
      await manager.shutdown()
    } finally {
      write.mock.restore()
      for (const name of Object.keys(env)) {
        if (before[name] === undefined) Reflect.deleteProperty(process.env, name)
        else process.env[name] = before[name]
      }
    }
    assert.equal(written.join(''), 'Lightning Web Components are …')
    const [request] = provider.requests
    assert.equal(request?.body['model'], 'gpt-5')
    assert.equal(request?.headers.authorization, 'Bearer key')
    assert.match(request?.text ?? '', /helpful Salesforce developer/)
  })

  test('a typed handler of one event', async () => {
    const asked: string[] = []
    async function promptUser({ annotations, serverName, toolCall }: ToolApprovalRequestEvent): Promise<boolean> {
      asked.push(toolCall.toolName, JSON.stringify(annotations ?? {}), serverName ?? 'ours')
      return false
    }
    function onApprovalRequest(event: ToolApprovalRequestEvent): Promise<boolean> {
      return promptUser(event)
    }
    const { createTool } = await import('@inspan/core')
    const tools = [
      createTool({ id: 'rm', description: 'Removes.', inputSchema: { type: 'object' }, execute: async () => 1 }),
    ]
    await using it = await chatting([{ toolCalls: [{ name: 'rm', input: {} }] }, { text: 'OK.' }], {
      factory: { tools },
    })
    const result = await it.session.chat('Go', { requireToolApproval: true })
    const event = await until(result, 'tool-approval-request')
    if (!(await onApprovalRequest(event))) await it.session.declineToolCall(event.toolCall.toolCallId)
    await eventsOf(result)
    assert.deepEqual(asked, ['rm', '{}', 'ours'])
  })

  test('images and files', async () => {
    await using it = await chatting([{ text: 'A chart.' }, { text: 'Findings.' }, { text: 'The button.' }])
    const { session } = it
    for (const name of ['screenshot.png', 'report.pdf', 'failure.png']) writeFileSync(join(it.project, name), name)
    const base64Png = readFileSync(join(it.project, 'failure.png')).toString('base64')
    const written: unknown[] = []
    const write = mock.method(process.stdout, 'write', (text: unknown) => written.push(text) > 0)
    const before = process.cwd()
    process.chdir(it.project)
    try {
      const { eventStream } = await session.chat([
        { type: 'text', text: 'What does this screenshot show?' },
        {
          type: 'image',
          mimeType: 'image/png',
          data: readFileSync('screenshot.png').toString('base64'),
          fileName: 'screenshot.png',
        },
      ])
      for await (const event of eventStream) {
        if (event.type === 'text-delta') process.stdout.write(event.text)
      }
      // Nobody reads the streams of this turn and of the last one.
      await session.chat([
        { type: 'text', text: 'Summarise the key findings in this report.' },
        {
          type: 'file',
          mimeType: 'application/pdf',
          data: readFileSync('report.pdf').toString('base64'),
          fileName: 'q1-report.pdf',
        },
      ])
      await session.addContext([
        {
          id: 'ctx-screenshot',
          role: 'user',
          content: [
            { type: 'text', text: 'Reference screenshot from the failing test run:' },
            { type: 'image', mimeType: 'image/png', data: readFileSync('failure.png').toString('base64') },
          ],
        },
      ])
      await session.chat('What component is throwing the null pointer?')
      try {
        await session.chat([{ type: 'image', mimeType: 'image/png', data: base64Png }])
      } catch (err) {
        if (err instanceof AgentSDKError) {
          if (err.type === AgentSDKErrorType.MULTIMODAL_NOT_SUPPORTED) {
            assert.fail('the model takes it')
          }
          if (err.type === AgentSDKErrorType.INVALID_MESSAGE_CONTENT) {
            assert.fail('it is valid')
          }
        }
      }
    } finally {
      process.chdir(before)
      write.mock.restore()
    }
    const last = session.resumeTurn()
    if (last !== undefined) await eventsOf(last)
    assert.ok(written.includes('A chart.'))
    const [first, second, third] = it.model.requests.map((request) => JSON.stringify(request))
    assert.match(third ?? '', /Findings\.[^]*Reference screenshot[^]*What component/)
    const sent = (name: string): string => Buffer.from(name).toString('base64')
    assert.ok(first?.includes(sent('screenshot.png')) && second?.includes(sent('report.pdf')))
    assert.ok(second?.includes('q1-report.pdf') && third?.includes(sent('failure.png')))
  })

  test('errors before the stream', async () => {
    await using it = await chatting([], { config: { modelId: 'mistral/codestral' } })
    const { session } = it
    const seen: string[] = []
    for (const base64Png of ['AAAA', 'not base64']) {
      try {
        await session.chat([{ type: 'image', mimeType: 'image/png', data: base64Png }])
      } catch (err) {
        if (err instanceof AgentSDKError) {
          if (err.type === AgentSDKErrorType.MULTIMODAL_NOT_SUPPORTED) {
            seen.push('multimodal')
          }
          if (err.type === AgentSDKErrorType.INVALID_MESSAGE_CONTENT) {
            seen.push('content')
          }
        }
      }
    }
    assert.deepEqual(seen, ['multimodal', 'content'])
  })

  test('how full the context is', async () => {
    await using it = await chatting([{ text: 'Hi.', usage: { inputTokens: 50_000, outputTokens: 1 } }])
    const indicator = (session: ChatSession): string => {
      const ctx = session.getContextUsage()
      const limit = ctx.contextWindow.toLocaleString()
      const used = ctx.usage.inputTokens?.toLocaleString() ?? '—'
      const pct = ctx.usedFraction !== undefined ? `${Math.round(ctx.usedFraction * 100)}%` : '—'
      return `${used} / ${limit} tokens (${pct})`
    }
    const [window, used] = [(200_000).toLocaleString(), (50_000).toLocaleString()]
    assert.equal(indicator(it.session), `— / ${window} tokens (—)`)
    await eventsOf(await it.session.chat('Hi'))
    assert.equal(indicator(it.session), `${used} / ${window} tokens (25%)`)
  })

  test('compacting a session that is nearly full', async () => {
    const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 1 })
    const long = 'The harbour of the town has four cranes, and the second one is broken. '.repeat(20)
    await using it = await chatting([
      { text: long, usage: usage(150_000) },
      { text: long, usage: usage(170_000) },
      { text: 'In short.' },
    ])
    const { agent, session } = it
    for (const sessions of [1, 2]) {
      await eventsOf(await session.chat('Hi'))
      const ctx = session.getContextUsage()
      if (ctx.usedFraction !== undefined && ctx.usedFraction > 0.8) {
        await agent.compactChatSession(session.getId())
      }
      assert.equal(agent.getChatSessionIds().length, sessions)
    }
  })

  test('a second manager over the same folder has the agents of the first', async () => {
    await using it = await folders()
    const factory = new NativeHarnessFactory({ model: scriptedModel([]) })
    const first = await createAgentManager(it.root, factory)
    await first.createAgent(it.project, { agentId: 'kept' })
    await first.shutdown()
    await using second = await createAgentManager(it.root, factory)
    assert.deepEqual(second.getAgentIds(), ['kept'])
  })
})
