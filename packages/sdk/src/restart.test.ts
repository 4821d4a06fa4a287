import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SqliteStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory } from './index.ts'
import { appending } from './operation-child.fixture.ts'
import { chatting, eventsOf, folders, noting, textOf, typesOf, until } from './sdk.fixture.ts'

const CALL = { toolCalls: [{ id: 'one', name: 'note', input: { n: 1 } }] }

suite('after a restart', () => {
  test('sessions are back with their history, and the conversation continues', async () => {
    await using it = await chatting([{ text: 'First.' }, { text: 'Second.' }])
    await it.session.addContext('Remember the blue one.')
    await eventsOf(await it.session.chat('One'))
    const before = await it.session.getMessageHistory()
    assert.equal(before.length, 3)
    const id = it.session.getId()
    const manager = await it.restart()
    assert.deepEqual(manager.getAgentIds(), ['a'])
    const agent = manager.getAgent('a')
    assert.deepEqual(agent.getChatSessionIds(), [id])
    const session = agent.getChatSession(id)
    assert.deepEqual(await session.getMessageHistory(), before)
    assert.equal(textOf(await eventsOf(await session.chat('Two'))), 'Second.')
    assert.match(JSON.stringify(it.model.requests[1]), /the blue one[^]*First\./)
  })

  test('a pending approval still waits, and resumeTurn() gives the stream of its turn', async () => {
    const calls: unknown[] = []
    await using it = await chatting([CALL, { text: 'End.' }], { factory: { tools: noting('note', calls) } })
    await until(await it.session.chat('Go', { requireToolApproval: true }), 'tool-approval-request')
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    const result = session.resumeTurn()
    assert.ok(result !== undefined)
    const request = await until(result, 'tool-approval-request')
    assert.deepEqual(request.toolCall.args, { n: 1 })
    await session.approveToolCall('one')
    const rest = await eventsOf(result)
    assert.deepEqual(calls, [{ n: 1 }])
    assert.equal(textOf(rest), 'End.')
    assert.equal(typesOf(rest).at(-1), 'finish')
    assert.equal(session.resumeTurn(), undefined)
  })

  test('subscribers receive a turn that continues without its stream', async () => {
    const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
    await using it = await chatting([{ toolCalls: [{ id: 'q', name: 'ask', input: {} }] }, { text: 'End.' }], {
      config: { tools },
    })
    // In a batch, the end of the step says that its calls wait.
    await until(await it.session.chat('Go', { requireToolApproval: 'batch' }), 'step-finish')
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    const finished = Promise.withResolvers<void>()
    const seen: string[] = []
    session.subscribe((event) => {
      seen.push(event.type)
      if (event.type === 'finish') finished.resolve()
    })
    await session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 'yes' })
    await finished.promise
    assert.ok(seen.includes('tool-result') && seen.includes('text-delta'))
  })

  test('a new message abandons what waits, and leaves no call without a result', async () => {
    await using it = await chatting([CALL, { text: 'New.' }], { factory: { tools: noting('note', []) } })
    await until(await it.session.chat('Go', { requireToolApproval: true }), 'tool-approval-request')
    const manager = await it.restart()
    const agent = manager.getAgent('a')
    const session = agent.getChatSession(it.session.getId())
    assert.equal(textOf(await eventsOf(await session.chat('Something else'))), 'New.')
    const parts = (await session.getMessageHistory()).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content,
    )
    const calls = parts.filter(({ type }) => type === 'tool-call').length
    assert.equal(calls, 1)
    const results = parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.isError]] : []))
    assert.deepEqual(results, [['one', true]])
  })

  test('an operation is known by its id and is not run twice', async () => {
    await using it = await chatting([{ text: 'Once.', usage: { inputTokens: 3, outputTokens: 1 } }])
    const operationId = 'op-1'
    const first = await eventsOf(await it.session.chat('Go', { operationId }))
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    const again = await eventsOf(await session.chat('Go', { operationId }))
    assert.equal(textOf(again), textOf(first))
    assert.equal(again.at(-1)?.type, 'finish')
    assert.equal(it.model.requests.length, 1)
    const status = await session.waitForOperation(operationId)
    assert.equal(status.state, 'completed')
    assert.equal(status.finishReason, 'stop')
    assert.equal(status.usage?.inputTokens, 3)
    assert.equal(status.usage?.totalTokens, 4)
    assert.equal(status.usage?.source, 'reported')
    assert.equal(await session.getOperation('nobody'), undefined)
    await assert.rejects(session.waitForOperation('nobody'), { type: 'OPERATION_NOT_FOUND' })
  })

  test('an operation whose process was killed is not run again: it is the same turn, and its tool has run once', async () => {
    await using it = await folders()
    const program = fileURLToPath(new URL('./operation-child.fixture.ts', import.meta.url))
    const child = spawn(process.execPath, [program, it.root, it.project], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [sessionId] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    const model = scriptedModel([{ text: 'It is there.', repeat: true }])
    const factory = new NativeHarnessFactory({ model, tools: appending(it.project) })
    await using manager = await createAgentManager(it.root, factory)
    const session = manager.getAgent('a').getChatSession(sessionId)
    const [status, events] = await Promise.all([
      session.waitForOperation('op'),
      session.chat('Go', { operationId: 'op' }).then(eventsOf),
    ])
    assert.deepEqual([status.state, textOf(events)], ['completed', 'It is there.'])
    assert.equal(typesOf(await eventsOf(await session.chat('Go', { operationId: 'op' }))).at(-1), 'finish')
    // The model was asked for the answer that was cut off, and for nothing else.
    assert.equal(model.requests.length, 1)
    assert.equal(await readFile(join(it.project, 'lines'), 'utf8'), 'once\n')
    const said = (await session.getMessageHistory()).filter(({ role }) => role === 'user')
    assert.deepEqual(
      said.map(({ content }) => content),
      ['Go'],
    )
  })

  test('an operation that waits can be read and aborted', async () => {
    await using it = await chatting([CALL], { factory: { tools: noting('note', []) } })
    await until(await it.session.chat('Go', { operationId: 'op', requireToolApproval: true }), 'tool-approval-request')
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    assert.equal((await session.getOperation('op'))?.state, 'waiting')
    const over = session.waitForOperation('op')
    await session.abortOperation('op')
    assert.equal((await over).state, 'aborted')
    await session.abortOperation('op')
  })

  test('queued operations are still queued, and can be aborted or waited for', async () => {
    await using it = await chatting([
      { text: ['One', '.'], hang: true },
      { text: 'Two.', repeat: true },
    ])
    await until(await it.session.chat('Go', { operationId: 'first' }), 'text-delta')
    for (const operationId of ['dropped', 'kept']) {
      await it.session.chat(`Do ${operationId}`, { whenBusy: 'queue', operationId })
    }
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    assert.equal((await session.getOperation('dropped'))?.state, 'queued')
    await session.abortOperation('dropped')
    const again = session.chat('Do kept', { whenBusy: 'queue', operationId: 'kept' }).then(eventsOf)
    assert.equal((await session.waitForOperation('kept')).state, 'completed')
    assert.equal(textOf(await again), 'Two.')
    assert.equal((await session.waitForOperation('first')).state, 'interrupted')
    const said = (await session.getMessageHistory()).filter(({ role }) => role === 'user')
    assert.equal(said.filter(({ content }) => content === 'Do kept').length, 1)
  })

  test('a destroyed session does not come back', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    await store.open()
    try {
      await using it = await chatting([{ text: 'Hi.' }], { factory: { store } })
      await eventsOf(await it.session.chat('Hi'))
      const id = it.session.getId()
      await it.agent.destroyChatSession(id)
      assert.deepEqual(it.agent.getChatSessionIds(), [])
      const unknown = { type: 'CHAT_SESSION_NOT_FOUND' }
      assert.throws(() => it.agent.getChatSession(id), unknown)
      await assert.rejects(it.agent.destroyChatSession(id), unknown)
      await assert.rejects(it.session.chat('Hi'), { type: 'DISPOSED' })
      assert.equal(await store.getStream(id), null)
      const manager = await it.restart()
      assert.deepEqual(manager.getAgent('a').getChatSessionIds(), [])
    } finally {
      await store.close()
    }
  })
})

suite('while a turn is open', () => {
  const tools = [{ name: 'ask', inputSchema: { type: 'object' } }]
  const asks = { toolCalls: [{ id: 'q', name: 'ask', input: {} }] }

  test('a queued message is sent after it and has a turn of its own', async () => {
    await using it = await chatting([asks, { text: 'One.' }, { text: 'Two.' }], { config: { tools } })
    const { session } = it
    const first = await session.chat('Go')
    await until(first, 'tool-call')
    const second = await session.chat('Then', { whenBusy: 'queue', operationId: 'later' })
    assert.equal((await session.getOperation('later'))?.state, 'queued')
    await session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 1 })
    assert.equal(textOf(await eventsOf(first)), 'One.')
    const events = await eventsOf(second)
    assert.equal(textOf(events), 'Two.')
    assert.equal(typesOf(events)[0], 'start')
    assert.equal((await session.waitForOperation('later')).state, 'completed')
  })

  test('a queued message is sent although the turn before it was cancelled, at work or waiting', async () => {
    const hangs = { text: ['One', '.'], hang: true } as const
    await using it = await chatting([hangs, { text: 'Two.' }, asks, { text: 'Three.' }], { config: { tools } })
    const { session } = it
    const working = await session.chat('Go')
    await until(working, 'text-delta')
    const second = await session.chat('Then', { whenBusy: 'queue' })
    await session.cancelTurn()
    assert.equal(typesOf(await eventsOf(working)).at(-1), 'finish')
    assert.equal(textOf(await eventsOf(second)), 'Two.')
    const waiting = await session.chat('Ask', { requireToolApproval: 'batch', operationId: 'asking' })
    await until(waiting, 'step-finish')
    const last = await session.chat('At last', { whenBusy: 'queue' })
    await session.abortOperation('asking')
    assert.equal(textOf(await eventsOf(last)), 'Three.')
    assert.equal((await session.getOperation('asking'))?.state, 'aborted')
  })

  test('after a restart, a new message abandons what waits, and what was queued behind that comes first', async () => {
    await using it = await chatting([asks, { text: 'Queued.' }, { text: 'New.' }], { config: { tools } })
    await until(await it.session.chat('Go', { requireToolApproval: 'batch' }), 'step-finish')
    await it.session.chat('Then', { whenBusy: 'queue', operationId: 'queued' })
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    await assert.rejects(session.chat('New'), { type: 'TURN_IN_PROGRESS' })
    assert.equal((await session.waitForOperation('queued')).state, 'completed')
    assert.equal(textOf(await eventsOf(await session.chat('New'))), 'New.')
    const said = (await session.getMessageHistory()).filter(({ role }) => role === 'user')
    assert.deepEqual(
      said.map(({ content }) => content),
      ['Go', 'Then', 'New'],
    )
  })

  test('a queued message is never sent if its session is destroyed', async () => {
    await using it = await chatting([{ text: ['One', '.'], hang: true }, { text: 'Never.' }])
    await until(await it.session.chat('Go'), 'text-delta')
    const second = await it.session.chat('Then', { whenBusy: 'queue' })
    await it.agent.destroyChatSession(it.session.getId())
    // Its turn did not begin.
    const error = (await eventsOf(second)).find((event) => event.type === 'error')
    assert.equal(error?.code, 'closed')
    assert.equal(it.model.requests.length, 1)
  })

  test('a queued message that is aborted is never sent', async () => {
    await using it = await chatting([asks, { text: 'One.' }, { text: 'Two.' }], { config: { tools } })
    const { session } = it
    const first = await session.chat('Go')
    await until(first, 'tool-call')
    const abort = new AbortController()
    const second = await session.chat('Then', { whenBusy: 'queue', abortSignal: abort.signal })
    abort.abort()
    assert.deepEqual(typesOf(await eventsOf(second)), ['start', 'finish'])
    await session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 1 })
    assert.equal(textOf(await eventsOf(first)), 'One.')
    // Whatever waits in the queue is sent before it.
    const last = await session.chat('Last', { whenBusy: 'queue' })
    assert.equal(textOf(await eventsOf(last)), 'Two.')
    const said = (await session.getMessageHistory()).filter(({ role }) => role === 'user')
    assert.deepEqual(
      said.map(({ content }) => content),
      ['Go', 'Last'],
    )
    assert.equal(it.model.requests.length, 3)
  })

  test('a steered message is delivered in the same turn', async () => {
    await using it = await chatting([asks, { text: 'Heard.' }], { config: { tools } })
    const { session } = it
    const first = await session.chat('Go')
    await until(first, 'tool-call')
    await session.chat('And be quick', { whenBusy: 'steer' })
    await session.submitToolResult({ toolCallId: 'q', toolName: 'ask', result: 1 })
    assert.equal(textOf(await eventsOf(first)), 'Heard.')
    assert.match(JSON.stringify(it.model.requests[1]), /be quick/)
  })
})
