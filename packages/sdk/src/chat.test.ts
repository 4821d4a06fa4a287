import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/core'
import { AgentSDKError, ClaudeCodeHarnessFactory, createAgentManager, DEFAULT_MAX_STEPS } from './index.ts'
import { chatting, eventsOf, folders, noting, textOf, typesOf, until } from './sdk.fixture.ts'

/** A program of a few lines that prints what Claude Code does: an answer, and what it cost. */
const BILLED_PROGRAM = `
if (process.argv.includes('--version')) { console.log('2.1.325 (Claude Code)'); process.exit(0) }
const say = (record) => console.log(JSON.stringify({ session_id: 's', ...record }))
const message = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }
say({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: [], mcp_servers: [], model: 'm' })
say({ type: 'assistant', message, parent_tool_use_id: null })
const usage = { input_tokens: 3, output_tokens: 1 }
say({ type: 'result', subtype: 'success', is_error: false, result: 'Hi.', num_turns: 1, usage, total_cost_usd: 0.25 })
`

suite('a turn', () => {
  test('begins with start, ends with one finish, and streams text in between', async () => {
    await using it = await chatting([{ text: ['Hello ', 'there'], usage: { inputTokens: 10, outputTokens: 2 } }])
    const events = await eventsOf(await it.session.chat('Hi'))
    assert.deepEqual(typesOf(events), ['start', 'step-start', 'text-delta', 'text-delta', 'step-finish', 'finish'])
    assert.equal(textOf(events), 'Hello there')
    assert.deepEqual(it.model.requests[0]?.prompt, [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
    const finish = events.at(-1)
    assert.ok(finish?.type === 'finish')
    assert.equal(finish.finishReason, 'stop')
    assert.equal(finish.usage?.inputTokens, 10)
  })

  test('gives the whole text on textStream, whichever stream is read', async () => {
    await using it = await chatting([
      { reasoning: 'Hm.', text: ['a', 'b'] },
      { reasoning: 'Hm.', text: 'c' },
    ])
    const both = await it.session.chat('Hi')
    const events = await eventsOf(both)
    const texts: string[] = []
    for await (const text of both.textStream) texts.push(text)
    assert.equal(texts.join(''), textOf(events))
    const alone: string[] = []
    for await (const text of (await it.session.chat('Hi')).textStream) alone.push(text)
    assert.deepEqual(alone, ['c'])
  })

  test('shows the progress of a tool before its one result', async () => {
    const build = createTool({
      id: 'build',
      description: 'Builds.',
      inputSchema: { type: 'object' },
      execute: async (_input, { progress }) => {
        for (const output of ['half', 'whole']) progress(output)
        return 'built'
      },
    })
    const script = [{ toolCalls: [{ id: 'c', name: 'build', input: {} }] }, { text: 'End.' }]
    await using it = await chatting(script, { factory: { tools: [build] } })
    const events = await eventsOf(await it.session.chat('Go'))
    const tool = events.filter(({ type }) => type === 'tool-progress' || type === 'tool-result')
    assert.deepEqual(typesOf(tool).slice(-1), ['tool-result'])
    assert.deepEqual(tool.slice(0, -1), [
      { type: 'tool-progress', toolCallId: 'c', toolName: 'build', output: 'half' },
      { type: 'tool-progress', toolCallId: 'c', toolName: 'build', output: 'whole' },
    ])
  })

  test('reports a failure as an event, followed by finish with reason error', async () => {
    await using it = await chatting([{ error: { status: 400, message: 'No.' } }])
    const events = await eventsOf(await it.session.chat('Hi'))
    assert.deepEqual(
      typesOf(events).filter((type) => type === 'error' || type === 'finish'),
      ['error', 'finish'],
    )
    const finish = events.at(-1)
    assert.ok(finish?.type === 'finish' && finish.finishReason === 'error')
    const error = events.find((event) => event.type === 'error')
    assert.ok(error?.type === 'error' && error.error instanceof Error)
    assert.match(error.error.message, /No\./)
  })

  test('reports when a provider at its limit takes requests again', async () => {
    await using it = await chatting([{ error: { status: 429, retryAfterMs: 60_000 } }], {
      factory: { retry: { maxRetries: 0 } },
    })
    const events = await eventsOf(await it.session.chat('Hi'))
    const error = events.find((event) => event.type === 'error')
    assert.ok(error?.type === 'error' && 'resetsAt' in error.error && 'retryAfterMs' in error.error)
    assert.equal(error.error.retryAfterMs, 60_000)
    assert.equal(typeof error.error.resetsAt, 'number')
  })

  test('has its cost in the usage of its operation, with the part that was calculated from a price list', async () => {
    await using it = await chatting([{ text: 'Hi.', usage: { inputTokens: 3, outputTokens: 1 } }], {
      factory: { priceOf: async () => 0.5 },
    })
    const events = await eventsOf(await it.session.chat('Hi', { operationId: 'op', budget: { tokens: 1_000 } }))
    const status = await it.session.waitForOperation('op')
    const { costUsd, estimatedUsd, source, ...tokens } = status.usage ?? {}
    assert.deepEqual([costUsd, estimatedUsd, source], [0.5, 0.5, 'reported'])
    // Events have the tokens alone.
    const usages = events.flatMap((event) => ('usage' in event ? [event.usage] : []))
    assert.deepEqual(usages, [tokens, tokens])
  })

  test('has no estimated part of a cost that its program was billed', async () => {
    await using it = await folders()
    const bin = join(it.root, 'claude.mjs')
    await writeFile(bin, `#!${process.execPath}\n${BILLED_PROGRAM}`)
    await chmod(bin, 0o755)
    const factory = new ClaudeCodeHarnessFactory({ bin, transport: 'print', priceOf: async () => 7 })
    await using manager = await createAgentManager(it.root, factory)
    const session = await (await manager.createAgent(it.project, { agentId: 'a' })).createChatSession()
    // It takes images and no other files, and refuses those before anything is sent.
    const pdf = { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0xLjQK' } as const
    await assert.rejects(session.chat([pdf], { operationId: 'op' }), { type: 'UNSUPPORTED', message: /pdf/ })
    assert.equal(manager.getAgent('a').getCapabilities().attachments, 'images')
    await eventsOf(await session.chat('Hi', { operationId: 'op' }))
    const { usage } = await session.waitForOperation('op')
    assert.deepEqual([usage?.costUsd, usage?.estimatedUsd, usage?.source], [0.25, undefined, 'reported'])
  })

  test('ends at an abort with one finish, and keeps what was said', async () => {
    await using it = await chatting([{ text: ['one ', 'two '], hang: true }])
    const abort = new AbortController()
    const result = await it.session.chat('Hi', { abortSignal: abort.signal })
    await until(result, 'text-delta')
    abort.abort()
    const rest = await eventsOf(result)
    assert.deepEqual(rest.at(-1), { type: 'finish', finishReason: 'other' })
    assert.equal(typesOf(rest).filter((type) => type === 'finish').length, 1)
    const [, answer] = await it.session.getMessageHistory()
    assert.match(JSON.stringify(answer?.content), /one/)
  })

  test('is refused before it begins if its signal was aborted', async () => {
    await using it = await chatting([])
    await assert.rejects(it.session.chat('Hi', { abortSignal: AbortSignal.abort() }), { type: 'ABORTED' })
    assert.equal(it.model.requests.length, 0)
    assert.deepEqual(await it.session.getMessageHistory(), [])
  })

  test('continues when its reader leaves, and can be read further later', async () => {
    const calls: unknown[] = []
    await using it = await chatting([{ toolCalls: [{ name: 'note', input: { n: 1 } }] }, { text: 'Done.' }], {
      factory: { tools: noting('note', calls) },
    })
    const result = await it.session.chat('Hi')
    await until(result, 'tool-call')
    const rest = await eventsOf(result)
    assert.equal(textOf(rest), 'Done.')
    assert.deepEqual(calls, [{ n: 1 }])
  })

  test('keeps a second turn of the session out, but not one of another session', async () => {
    await using it = await chatting(
      [{ toolCalls: [{ name: 'wait', input: {} }] }, { text: 'Other.' }, { text: 'End.' }],
      {
        config: { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] },
      },
    )
    const first = await it.session.chat('Hi')
    const call = await until(first, 'tool-call')
    await assert.rejects(it.session.chat('Again'), { type: 'TURN_IN_PROGRESS' })
    const other = await it.agent.createChatSession()
    assert.equal(textOf(await eventsOf(await other.chat('Hi'))), 'Other.')
    await it.session.submitToolResult({ toolCallId: call.toolCallId, toolName: 'wait', result: 1 })
    assert.equal(textOf(await eventsOf(first)), 'End.')
  })

  test('stops after maxSteps with the reason tool-calls', async () => {
    await using it = await chatting([{ toolCalls: [{ name: 'note', input: {} }] }], {
      factory: { tools: noting('note', []) },
    })
    const finish = (await eventsOf(await it.session.chat('Hi', { maxSteps: 1 }))).at(-1)
    assert.ok(finish?.type === 'finish')
    assert.equal(finish.finishReason, 'tool-calls')
    assert.equal(it.model.requests.length, 1)
    assert.equal(DEFAULT_MAX_STEPS, 1024)
    for (const maxSteps of [0, -1, Number.NaN, 1.5]) {
      await assert.rejects(it.session.chat('Hi', { maxSteps }), { type: 'INVALID_OPTIONS' })
    }
  })

  test('numbers its steps from 0 and adds up their usage', async () => {
    await using it = await chatting(
      [
        { toolCalls: [{ name: 'note', input: {} }], usage: { inputTokens: 5, outputTokens: 2, reasoningTokens: 1 } },
        {
          text: 'End.',
          usage: {
            inputTokens: 17,
            outputTokens: 9,
            reasoningTokens: 4,
            cachedInputTokens: 8,
            cacheWriteInputTokens: 3,
          },
        },
      ],
      { factory: { tools: noting('note', []) } },
    )
    const events = await eventsOf(await it.session.chat('Hi'))
    const steps = events.flatMap((event) => (event.type === 'step-start' ? [event.stepIndex] : []))
    const ends = events.flatMap((event) =>
      event.type === 'step-finish' ? [[event.stepIndex, event.finishReason, event.usage?.inputTokens]] : [],
    )
    assert.deepEqual(steps, [0, 1])
    assert.deepEqual(ends, [
      [0, 'tool-calls', 5],
      // What came from the cache or went there is counted apart.
      [1, 'stop', 6],
    ])
    const finish = events.at(-1)
    assert.ok(finish?.type === 'finish')
    assert.deepEqual(finish.usage, {
      inputTokens: 11,
      outputTokens: 11,
      totalTokens: 33,
      reasoningTokens: 5,
      cachedInputTokens: 8,
      cacheWriteInputTokens: 3,
    })
  })

  test('streams the arguments of a call before the call itself', async () => {
    await using it = await chatting([{ toolCalls: [{ name: 'note', input: { n: 7 } }] }, { text: 'End.' }], {
      factory: { tools: noting('note', []) },
    })
    const events = await eventsOf(await it.session.chat('Hi'))
    const call = events.findIndex((event) => event.type === 'tool-call')
    const deltas = events.flatMap((event) => (event.type === 'tool-call-delta' ? [event.argsTextDelta] : []))
    assert.ok(events.findLastIndex((event) => event.type === 'tool-call-delta') < call)
    const announced = events[call]
    assert.ok(announced?.type === 'tool-call')
    assert.deepEqual(JSON.parse(deltas.join('')), announced.args)
    const { toolCallId } = announced
    for (const event of events) {
      if (event.type !== 'tool-call-delta') continue
      const { argsTextDelta, toolName = 'note', ...rest } = event
      assert.deepEqual([rest, toolName, typeof argsTextDelta], [{ type: event.type, toolCallId }, 'note', 'string'])
    }
    assert.deepEqual(announced, { type: 'tool-call', toolCallId, toolName: 'note', args: { n: 7 } })
    const ofTool = events.filter((event) => 'toolCallId' in event)
    assert.deepEqual([...new Set(ofTool.map((event) => event.toolCallId))], [toolCallId])
    assert.equal(ofTool.at(-1)?.type, 'tool-result')
  })

  test('reaches subscribers without anybody reading its stream', async () => {
    await using it = await chatting([{ text: 'Hello' }, { text: 'Again' }, { text: 'Unheard' }])
    const logged: unknown[] = []
    it.session.onLog(({ level }) => void (level === 'error' && logged.push(level)))
    const seen: string[] = []
    const finished = Promise.withResolvers<void>()
    it.session.subscribe(() => {
      throw new Error('A broken listener.')
    })
    const listener = (event: { type: string }): void => {
      seen.push(event.type)
      if (event.type === 'finish') finished.resolve()
    }
    it.session.subscribe(listener)
    it.session.subscribe(listener)
    const turn = ['start', 'step-start', 'text-delta', 'step-finish', 'finish']
    await it.session.chat('Hi')
    await finished.promise
    assert.deepEqual(seen, turn)
    assert.equal(logged.length, turn.length)
    const second = await eventsOf(await it.session.chat('Again'))
    assert.deepEqual([seen, typesOf(second)], [[...turn, ...turn], turn])
    it.session.unsubscribe(listener)
    it.session.unsubscribe(listener)
    await eventsOf(await it.session.chat('And again'))
    assert.equal(seen.length, 2 * turn.length)
  })
})

suite('input', () => {
  test('is refused before there is a stream, and leaves the session as it was', async () => {
    await using it = await chatting([{ text: 'Fine.' }])
    const png = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    const call = { type: 'tool-call', toolCallId: '1', toolName: 't', args: {} } as const
    const { session } = it
    const result = { type: 'tool-result', toolCallId: '1', toolName: 't', result: 1 } as const
    const data = ['data:image/png;base64,AAAA', 'AAA', 'A-A_', '====', 'AA A']
    for (const bad of ['', [], [call], [result], ...data.map((each) => [{ ...png, data: each }])]) {
      await assert.rejects(session.chat(bad), { type: 'INVALID_MESSAGE_CONTENT' })
    }
    await assert.rejects(session.chat([{ ...png, mimeType: 'image/tiff' }]), { type: 'MULTIMODAL_NOT_SUPPORTED' })
    const archive = { type: 'file', mimeType: 'application/zip', data: 'AAAA', fileName: 'a.pdf' } as const
    await assert.rejects(session.chat([archive]), { type: 'MULTIMODAL_NOT_SUPPORTED' })
    const large = Buffer.alloc(5 * 1024 * 1024 + 1).toString('base64')
    await assert.rejects(session.chat([{ ...png, data: large }]), { type: 'MULTIMODAL_NOT_SUPPORTED' })
    await assert.rejects(session.chat(Array.from({ length: 101 }, () => png)), (error) => {
      assert.ok(error instanceof AgentSDKError)
      return error.type === 'MULTIMODAL_NOT_SUPPORTED'
    })
    assert.deepEqual(await session.getMessageHistory(), [])
    assert.equal(it.model.requests.length, 0)
    await eventsOf(await session.chat([{ type: 'text', text: 'Look' }, png]))
    const [sent] = await session.getMessageHistory()
    assert.deepEqual(sent?.content, [{ type: 'text', text: 'Look' }, png])
    await it.agent.updateAgentConfig({ modelId: 'mistral/codestral' })
    await assert.rejects(session.chat([png]), { type: 'MULTIMODAL_NOT_SUPPORTED' })
  })
})
