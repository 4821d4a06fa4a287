import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { toWire } from '@inspan/protocol/wire'
import type { HarnessDisplayState } from '@inspan/protocol/harness'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

/** Collects the display state right after each event of these types. */
function shownAt(bench: HarnessBench, ...types: readonly string[]): HarnessDisplayState[] {
  const shown: HarnessDisplayState[] = []
  bench.harness.subscribe(({ type }) => {
    if (types.includes(type)) shown.push(bench.harness.session.displayState.get())
  })
  return shown
}

suite('the display shows of a call', () => {
  const call = { id: 'c1', name: 'read', input: { path: 'a' }, inputDeltas: ['{"path":', '"a"}'] }
  const read = createTool({
    id: 'read',
    description: 'Reads.',
    category: 'read',
    execute: (_input, { progress }) => {
      progress('half')
      return { lines: 1 }
    },
  })

  test('its input as it comes, then how it goes and what came of it', async () => {
    await using bench = new HarnessBench([{ toolCalls: [call] }, { text: 'Done.' }], {
      tools: { read },
      permissions: { categories: { read: 'allow' } },
    })
    const shown = shownAt(
      bench,
      'tool_input_start',
      'tool_input_delta',
      'tool_input_end',
      'tool_start',
      'tool_update',
      'tool_end',
    )
    await bench.harness.sendMessage({ content: 'Read' })
    const streaming = { name: 'read', args: {}, status: 'streaming_input' }
    const running = { name: 'read', args: { path: 'a' }, status: 'running' }
    const partial = { ...running, partialResult: 'half' }
    assert.deepEqual(
      shown.map(({ activeTools, toolInputBuffers }) => [toolInputBuffers.get('c1'), activeTools.get('c1')]),
      [
        [{ text: '', toolName: 'read' }, streaming],
        [{ text: '{"path":', toolName: 'read' }, streaming],
        [{ text: '{"path":"a"}', toolName: 'read' }, streaming],
        [undefined, streaming],
        [undefined, running],
        [undefined, partial],
        [undefined, { ...partial, status: 'completed', result: { lines: 1 }, isError: false }],
      ],
    )
  })

  test('the display shows that a call failed', async () => {
    const fails = createTool({
      id: 'read',
      description: 'Reads.',
      category: 'read',
      execute: () => Promise.reject(new Error('Not there.')),
    })
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'read' }] }, { text: 'Done.' }], {
      tools: { read: fails },
      permissions: { categories: { read: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Read' })
    const { activeTools } = bench.harness.session.displayState.get()
    const result = activeTools.get('c1')?.result
    assert.deepEqual(activeTools.get('c1'), { name: 'read', args: {}, status: 'error', result, isError: true })
    assert.match(String(result), /Not there\./)
  })

  test('the display shows that the run ended without a call, and nothing of an earlier run', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ ...call, name: 'write' }], hang: true }, { text: 'Again.' }])
    const streamed = bench.next('tool_input_delta', ({ argsTextDelta }) => argsTextDelta === '"a"}')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await streamed
    await bench.harness.abort()
    await sent
    const { activeTools, isRunning, toolInputBuffers } = bench.harness.session.displayState.get()
    assert.deepEqual([isRunning, toolInputBuffers.size], [false, 0])
    const tool = activeTools.get('c1')
    assert.deepEqual([tool?.name, tool?.status, tool?.isError], ['write', 'error', true])
    await bench.harness.sendMessage({ content: 'Once more' })
    assert.equal(bench.harness.session.displayState.get().activeTools.size, 0)
  })

  test('the display shows the output of the shell', async () => {
    const shell = createTool({
      id: 'shell',
      description: 'Runs.',
      category: 'read',
      execute: (_input, { requestContext }) => {
        const harness = requestContext.get('harness') as { emitEvent(event: object): void }
        for (const output of ['one\n', 'two\n']) {
          harness.emitEvent({ type: 'shell_output', toolCallId: 'c1', output, stream: 'stdout' })
        }
        return 'ok'
      },
    })
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'shell' }] }, { text: '.' }], {
      tools: { shell },
      permissions: { categories: { read: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Run' })
    assert.equal(bench.harness.session.displayState.get().activeTools.get('c1')?.shellOutput, 'one\ntwo\n')
  })

  test('the display shows which files a call wrote, and since when', async () => {
    const write = createTool({ id: 'write_file', description: 'Writes.', execute: () => 'ok' })
    const writes = { toolCalls: [{ name: 'write_file', input: { path: 'a.ts' } }] }
    await using bench = new HarnessBench([writes, writes, { text: 'Done.' }], {
      tools: { write_file: write },
      permissions: { tools: { write_file: 'allow' } },
    })
    const shown = shownAt(bench, 'usage_update')
    const before = Date.now()
    await bench.harness.sendMessage({ content: 'Go' })
    const files = shown.map(({ modifiedFiles }) => modifiedFiles.get('a.ts'))
    const first = files[1]?.firstModified
    assert.ok(first instanceof Date && first.getTime() >= before && first.getTime() <= Date.now())
    assert.deepEqual(files, [
      undefined,
      { operations: ['write_file'], firstModified: first },
      { operations: ['write_file', 'write_file'], firstModified: first },
    ])
  })
})

suite('the display shows of a conversation', () => {
  test('tasks, and what they were before', async () => {
    const writes = (status: string) => ({
      toolCalls: [
        { name: 'task_write', input: { tasks: [{ id: 't', content: 'Write', status, activeForm: 'Writing' }] } },
      ],
    })
    await using bench = new HarnessBench([writes('pending'), writes('in_progress'), { text: 'Done.' }])
    await bench.harness.sendMessage({ content: 'Go' })
    const { previousTasks, tasks } = bench.harness.session.displayState.get()
    const task = { id: 't', content: 'Write', activeForm: 'Writing' }
    assert.deepEqual([previousTasks, tasks], [[{ ...task, status: 'pending' }], [{ ...task, status: 'in_progress' }]])
  })

  test('the display shows pending approvals, the queue, and the usage', async () => {
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
    const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4, reasoningTokens: 1 }
    await using bench = new HarnessBench(
      [
        { toolCalls: [{ id: 'c1', name: 'paint', input: { colour: 'red' } }], usage },
        { text: 'Done.', repeat: true },
      ],
      { tools: { paint } },
    )
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go', untilIdle: true })
    await asked
    await bench.harness.followUp({ content: 'And then?' })
    const shown = bench.harness.session.displayState.get()
    const description = 'paint: colour: red (no rule allows `paint`)'
    const approval = { toolCallId: 'c1', toolName: 'paint', args: { colour: 'red' }, description }
    assert.deepEqual(
      [shown.isRunning, shown.pendingApproval, shown.pendingApprovals, shown.queuedFollowUps],
      [true, approval, [approval], 1],
    )
    assert.deepEqual(shown.tokenUsage, bench.harness.session.getTokenUsage())
    assert.deepEqual(shown.tokenUsage, {
      promptTokens: 10,
      completionTokens: 2,
      totalTokens: 12,
      reasoningTokens: 1,
      cachedInputTokens: 4,
      cacheCreationInputTokens: 0,
    })
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    const after = bench.harness.session.displayState.get()
    assert.deepEqual([after.pendingApproval, after.pendingApprovals, after.queuedFollowUps], [null, [], 0])
  })

  test('a run that it comes to: its message and its calls', async () => {
    const go = Promise.withResolvers<void>()
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'text-delta', text: 'I begin.' }
      yield { type: 'tool-call', toolCallId: 'c1', toolName: 'Read', args: { path: 'a' } }
      yield { type: 'tool-result', toolCallId: 'c1', toolName: 'Read', result: 'text' }
      yield { type: 'tool-call', toolCallId: 'c2', toolName: 'Read', args: { path: 'b' } }
      await go.promise
      yield { type: 'tool-result', toolCallId: 'c2', toolName: 'Read', result: 'no', isError: true }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: new ForeignAgent('cli', [act]) }] })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    const begun = bench.next('tool_start', ({ toolCallId }) => toolCallId === 'c2')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    const other = await bench.harness.createSession()
    await other.thread.switch({ threadId: bench.harness.session.thread.requireId() })
    const { activeTools, currentMessage, isRunning } = other.displayState.get()
    assert.ok(isRunning)
    assert.deepEqual(currentMessage?.content[0], { type: 'text', text: 'I begin.' })
    const first = { name: 'Read', args: { path: 'a' }, status: 'completed', result: 'text', isError: false }
    assert.deepEqual(
      [...activeTools],
      [
        ['c1', first],
        ['c2', { name: 'Read', args: { path: 'b' }, status: 'running' }],
      ],
    )
    go.resolve()
    await sent
    assert.equal(other.displayState.get().activeTools.get('c2')?.status, 'error')
  })
})

test('the display survives JSON.stringify', async () => {
  const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'ok' })
  const write = createTool({ id: 'write_file', description: 'Writes.', execute: () => ({ lines: 1 }) })
  const calls = [
    { id: 'c1', name: 'write_file', input: { path: '__proto__' } },
    { id: 'c2', name: 'paint', input: { colour: 'red' } },
    { id: 'c3', name: 'ask_user', input: { question: 'Which?' } },
  ]
  await using bench = new HarnessBench([{ toolCalls: calls }, { text: 'Done.' }], {
    tools: { paint, write_file: write },
    permissions: { tools: { write_file: 'allow' } },
  })
  const { session } = bench.harness
  const asked = bench.next('tool_approval_required')
  const written = bench.next('tool_end')
  const wondered = bench.next('tool_suspended')
  const sent = bench.harness.sendMessage({ content: 'Go' })
  await Promise.all([asked, written, wondered])
  const shown = session.displayState.get()
  const read = JSON.parse(JSON.stringify(shown)) as {
    readonly [slice: string]: Record<string, Record<string, unknown>>
  }
  assert.deepEqual(Object.keys(read['activeTools'] ?? {}), ['c1', 'c2', 'c3'])
  assert.deepEqual(read['activeTools']?.['c1']?.['result'], { lines: 1 })
  assert.deepEqual(read['pendingSuspensions']?.['c3']?.['suspendPayload'], { question: 'Which?' })
  assert.equal(read['pendingApproval']?.['toolCallId'], 'c2')
  assert.deepEqual(Object.keys(read['modifiedFiles'] ?? {}), ['__proto__'])
  const { firstModified } = shown.modifiedFiles.get('__proto__') ?? {}
  assert.equal(Object.values(read['modifiedFiles'] ?? {})[0]?.['firstModified'], firstModified?.toISOString())
  assert.deepEqual(read, toWire(shown), 'nothing is lost that the wire form has')
  await session.abort()
  await sent
})

test('the display shows a call of a subagent from its start, and whether it failed', async () => {
  await using bench = new HarnessBench([])
  const { session } = bench.harness
  const of = { toolCallId: 'c1', agentType: 'explore' }
  const calls = (): unknown => session.displayState.get().activeSubagents.get('c1')?.toolCalls
  session.emit({ type: 'subagent_start', ...of, task: 'Look', modelId: 'x' })
  for (const subToolName of ['read', 'grep', 'read']) {
    session.emit({ type: 'subagent_tool_start', ...of, subToolName, subToolArgs: {} })
  }
  const open = (name: string) => ({ name, isError: false })
  assert.deepEqual(calls(), [open('read'), open('grep'), open('read')])
  session.emit({ type: 'subagent_tool_end', ...of, subToolName: 'read', subToolResult: '', isError: false })
  session.emit({ type: 'subagent_tool_end', ...of, subToolName: 'read', subToolResult: '', isError: true })
  assert.deepEqual(calls(), [open('read'), open('grep'), { name: 'read', isError: true }])
})
