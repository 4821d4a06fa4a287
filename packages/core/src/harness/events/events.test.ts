import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { toWireEvent, type HarnessEvent } from '@inspan/protocol/harness'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench, nextEvent } from '../harness.fixture.ts'

const readFile = createTool({
  id: 'read_file',
  description: 'Reads.',
  execute: async (_input, { progress }) => {
    progress('half')
    progress(' way')
    return 'text of the file'
  },
})

suite('the events of a run', () => {
  test('a plain answer', async () => {
    await using bench = new HarnessBench([
      { reasoning: 'Hm.', text: ['Hel', 'lo'], usage: { inputTokens: 10, outputTokens: 2 } },
    ])
    await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'Hi' })
    const told = bench.events.filter(({ type }) => type !== 'display_state_changed')
    const [, user] = await bench.harness.session.thread.listActiveMessages()
    const messageId = user?.id ?? ''
    assert.deepEqual(
      told.map((event) => {
        if (event.type === 'message_start' || event.type === 'message_update' || event.type === 'message_end') {
          const { content, role, stopReason } = event.message
          return [event.type, role, content, stopReason]
        }
        if (event.type === 'thread_created') return [event.type]
        return event
      }),
      [
        ['thread_created'],
        { type: 'agent_start' },
        ['message_start', 'user', [{ type: 'text', text: 'Hi' }], undefined],
        ['message_end', 'user', [{ type: 'text', text: 'Hi' }], undefined],
        ['message_start', 'assistant', [], undefined],
        { type: 'thinking', thinking: 'Hm.', messageId, partIndex: 0 },
        ['message_update', 'assistant', [{ type: 'thinking', thinking: 'Hm.' }], undefined],
        { type: 'text', text: 'Hel', messageId, partIndex: 1 },
        [
          'message_update',
          'assistant',
          [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'Hel' },
          ],
          undefined,
        ],
        { type: 'text', text: 'lo', messageId, partIndex: 1 },
        [
          'message_update',
          'assistant',
          [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'Hello' },
          ],
          undefined,
        ],
        {
          type: 'usage_update',
          usage: {
            promptTokens: 10,
            completionTokens: 2,
            totalTokens: 12,
            reasoningTokens: 0,
            cachedInputTokens: 0,
            cacheCreationInputTokens: 0,
          },
        },
        [
          'message_end',
          'assistant',
          [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'Hello' },
          ],
          'complete',
        ],
        { type: 'agent_end', reason: 'complete' },
      ],
    )
  })

  test('a tool: its input, its call, what it prints, its result', async () => {
    await using bench = new HarnessBench(
      [
        {
          toolCalls: [{ id: 'c1', name: 'read_file', input: { path: 'a.txt' }, inputDeltas: ['{"path":', '"a.txt"}'] }],
        },
        { text: 'Read.' },
      ],
      { tools: { read_file: readFile }, permissions: { tools: { read_file: 'allow' } } },
    )
    await bench.harness.sendMessage({ content: 'Read' })
    const about = bench.events.filter(({ type }) => type.startsWith('tool_'))
    const [message] = bench.all('tool_call')
    const place = { messageId: message?.messageId, partIndex: message?.partIndex }
    assert.deepEqual(about, [
      { type: 'tool_input_start', toolCallId: 'c1', toolName: 'read_file' },
      { type: 'tool_input_delta', toolCallId: 'c1', toolName: 'read_file', argsTextDelta: '{"path":' },
      { type: 'tool_input_delta', toolCallId: 'c1', toolName: 'read_file', argsTextDelta: '"a.txt"}' },
      { type: 'tool_input_end', toolCallId: 'c1' },
      { type: 'tool_call', id: 'c1', name: 'read_file', args: { path: 'a.txt' }, ...place },
      { type: 'tool_start', toolCallId: 'c1', toolName: 'read_file', args: { path: 'a.txt' } },
      { type: 'tool_update', toolCallId: 'c1', partialResult: 'half' },
      { type: 'tool_update', toolCallId: 'c1', partialResult: 'half way' },
      {
        type: 'tool_result',
        id: 'c1',
        name: 'read_file',
        result: 'text of the file',
        isError: false,
        ...place,
        partIndex: 1,
      },
      { type: 'tool_end', toolCallId: 'c1', toolName: 'read_file', result: 'text of the file', isError: false },
    ])
    const first = bench.all('message_end').find(({ message }) => message.stopReason === 'tool_use')
    assert.deepEqual(
      first?.message.content.map(({ type }) => type),
      ['tool_call', 'tool_result'],
    )
    const { activeTools, toolInputBuffers } = bench.harness.session.displayState.get()
    assert.equal(activeTools.get('c1')?.status, 'completed')
    assert.equal(toolInputBuffers.size, 0)
  })

  test('files of a message: text in a fence, images and others as what they are', async () => {
    await using bench = new HarnessBench([{ text: 'Seen.' }])
    await bench.harness.sendMessage({
      content: 'Look',
      files: [
        { data: 'a ``` b', mediaType: 'text/plain', filename: 'a.txt' },
        { data: 'data:application/json;base64,eyJhIjoxfQ==', mediaType: 'application/json' },
        { data: 'aGk=', mediaType: 'image/png' },
        { data: new Uint8Array([104, 105]), mediaType: 'application/pdf', filename: 'b.pdf' },
      ],
    })
    const [user] = await bench.harness.session.thread.listActiveMessages()
    assert.deepEqual(user?.content, [
      { type: 'text', text: 'Look' },
      { type: 'text', text: '[File: a.txt]\n````\na ``` b\n````' },
      { type: 'text', text: '[File]\n```\n{"a":1}\n```' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'b.pdf' },
    ])
    const messageId = user?.id
    assert.deepEqual(bench.all('image'), [
      { type: 'image', data: 'aGk=', mimeType: 'image/png', messageId, partIndex: 3 },
    ])
    assert.deepEqual(bench.all('file'), [
      { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'b.pdf', messageId, partIndex: 4 },
    ])
  })

  test('files of a message that cannot be read are refused by name', async () => {
    await using bench = new HarnessBench([])
    for (const [data, mediaType] of [
      ['data:text/plain,100%', 'text/plain'],
      ['data:application/pdf,plain', 'application/pdf'],
    ] as const) {
      await assert.rejects(
        bench.harness.sendMessage({ content: 'Look', files: [{ data, mediaType, filename: 'notes' }] }),
        (error) => InspanError.is(error, 'invalid-input') && /notes/.test(error.message),
      )
    }
    assert.equal(bench.harness.session.thread.getId(), null)
  })

  test('every event has a JSON form, and one that was kept stays what it was', async () => {
    await using bench = new HarnessBench(
      [{ reasoning: 'Hm.', text: ['a', 'b', 'c'], toolCalls: [{ name: 'read_file' }] }, { text: 'Done.' }],
      { tools: { read_file: readFile } },
    )
    const kept: { event: HarnessEvent; json: string }[] = []
    bench.harness.subscribe((event) => void kept.push({ event, json: JSON.stringify(toWireEvent(event)) }))
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await asked
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.ok(kept.length > 10)
    for (const { event, json } of kept) assert.equal(JSON.stringify(toWireEvent(event)), json)
  })

  test('a listener that throws, or leaves while it is called, harms nobody', async () => {
    await using bench = new HarnessBench([{ text: 'Hello' }])
    const warned: unknown[] = []
    const onWarning = ({ message, name }: Error): void => {
      if (name !== 'InspanUnhandledError') warned.push(message)
    }
    process.on('warning', onWarning)
    const heard: string[] = []
    const stop = bench.harness.subscribe(() => {
      stop()
      throw new Error('a listener of the user’s')
    })
    const rejecting = bench.harness.subscribe(async () => {
      rejecting()
      throw new Error('another one')
    })
    bench.harness.subscribe(({ type }) => void heard.push(type))
    await bench.harness.sendMessage({ content: 'Hi' })
    await new Promise(setImmediate)
    process.off('warning', onWarning)
    assert.deepEqual(
      heard,
      bench.events.map(({ type }) => type),
    )
    assert.deepEqual(warned, ['a listener of the user’s', 'another one'])
  })

  test('events that a listener causes come after those that are being emitted', async () => {
    await using bench = new HarnessBench([])
    const order: string[] = []
    bench.harness.subscribe((event) => {
      if (event.type === 'info' && event.message === 'one') bench.harness.session.emit({ type: 'info', message: 'two' })
    })
    bench.harness.subscribe((event) => {
      if (event.type === 'info') order.push(event.message)
    })
    bench.harness.session.emit({ type: 'info', message: 'one' })
    assert.deepEqual(order, ['one', 'two'])
  })
})

suite('the display', () => {
  test('is reported once for much, and after the end of a run at once', async () => {
    const text = Array.from({ length: 500 }, (_, i) => `${i} `)
    await using bench = new HarnessBench([{ text }])
    await bench.harness.sendMessage({ content: 'Hi' })
    const snapshots = bench.all('display_state_changed')
    assert.ok(snapshots.length < 400, `${snapshots.length} snapshots`)
    assert.equal(bench.events.at(-1)?.type, 'display_state_changed')
    const last = snapshots.at(-1)?.displayState
    assert.deepEqual(last?.currentMessage?.content, [{ type: 'text', text: text.join('') }])
    assert.equal(last, bench.harness.session.displayState.get())
  })

  test('a snapshot never changes, and slices that did not change are shared', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'read_file' }] }, { text: 'Done.' }], {
      tools: { read_file: readFile },
    })
    const { displayState } = bench.harness.session
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await asked
    const before = displayState.get()
    const seen = JSON.stringify(toWireEvent({ type: 'display_state_changed', displayState: before }))
    assert.equal(before, displayState.get())
    assert.equal(before.activeTools.get('c1')?.status, 'running')
    bench.harness.session.emit({ type: 'info', message: 'nothing to see' })
    assert.equal(displayState.get().activeTools, before.activeTools)
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.equal(JSON.stringify(toWireEvent({ type: 'display_state_changed', displayState: before })), seen)
    assert.equal(displayState.get().activeTools.get('c1')?.status, 'completed')
    assert.ok(Object.isFrozen(before))
  })

  test('is current although nobody listens', async () => {
    const bench = new HarnessBench([{ text: ['a', 'b'], hang: true }])
    const { session } = bench.harness
    const other = await bench.harness.createSession()
    await bench.harness.createThread()
    await other.thread.switch({ threadId: session.thread.requireId() })
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await nextEvent(session, 'message_update', ({ message }) => JSON.stringify(message.content).includes('ab'))
    assert.deepEqual(other.displayState.get().currentMessage?.content, [{ type: 'text', text: 'ab' }])
    await bench.harness.abort()
    await sent
    await bench.harness.destroy()
  })

  test('shows the text of the agent, not that of a subagent of a foreign program', async () => {
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'text-delta', text: 'Mine.' }
      yield { type: 'tool-call', toolCallId: 't1', toolName: 'task', args: {} }
      yield { type: 'text-delta', text: 'A report.', parentToolCallId: 't1' }
      yield { type: 'tool-result', toolCallId: 't1', toolName: 'task', result: 'done' }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: new ForeignAgent('foreign', [act]) }] })
    await bench.harness.sendMessage({ content: 'Go' })
    const { currentMessage } = bench.harness.session.displayState.get()
    assert.deepEqual(currentMessage?.content[0], { type: 'text', text: 'Mine.' })
    assert.deepEqual(
      bench.all('text').map(({ text }) => text),
      ['Mine.'],
    )
    assert.equal((await bench.harness.session.thread.listActiveMessages()).length, 2)
  })

  test('usage that a foreign program reports at its end is emitted and shown', async () => {
    const act: Act = async function* () {
      yield { type: 'text-delta', text: 'Mine.' }
      yield { type: 'finish', finishReason: 'stop', usage: { inputTokens: 100, outputTokens: 20 } }
    }
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: new ForeignAgent('foreign', [act]) }] })
    await bench.harness.sendMessage({ content: 'Go' })
    const [told, ...more] = bench.all('usage_update')
    assert.deepEqual([told?.usage.promptTokens, told?.usage.completionTokens, more.length], [100, 20, 0])
    assert.equal(bench.harness.session.displayState.get().tokenUsage.totalTokens, 120)
  })

  test('subagents of a foreign program are reported and shown as subagents, in their place', async () => {
    const within = { parentToolCallId: 't1' } as const
    const shown: unknown[] = []
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      const args = { subagent_type: 'explore', prompt: 'Look around.', model: 'haiku' }
      yield { type: 'tool-call', toolCallId: 't1', toolName: 'Task', args }
      yield { type: 'text-delta', text: 'I look. ', ...within }
      yield { type: 'tool-call', toolCallId: 'r1', toolName: 'Read', args: { path: 'a' }, ...within }
      yield { type: 'tool-result', toolCallId: 'r1', toolName: 'Read', result: 'no', isError: true, ...within }
      yield { type: 'text-delta', text: 'Nothing.', ...within }
      shown.push(bench.harness.session.displayState.get().activeSubagents.get('t1'))
      yield { type: 'tool-result', toolCallId: 't1', toolName: 'Task', result: 'A report.' }
      shown.push(bench.harness.session.displayState.get().activeSubagents.get('t1'))
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const modes = [{ id: 'a', agent: new ForeignAgent('foreign', [act]) }]
    await using bench = new HarnessBench([], { modes })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.sendMessage({ content: 'Go' })
    const told = bench.events.filter(({ type }) => type.startsWith('subagent_') || type.startsWith('tool_'))
    const of = { toolCallId: 't1', agentType: 'explore' } as const
    const [end] = bench.all('subagent_end')
    assert.ok((end?.durationMs ?? -1) >= 0)
    assert.deepEqual(
      told.filter(({ type }) => type !== 'tool_call' && type !== 'tool_result'),
      [
        {
          type: 'tool_start',
          toolCallId: 't1',
          toolName: 'Task',
          args: { subagent_type: 'explore', prompt: 'Look around.', model: 'haiku' },
        },
        { type: 'subagent_start', ...of, task: 'Look around.', modelId: 'haiku' },
        { type: 'subagent_text_delta', ...of, textDelta: 'I look. ' },
        { type: 'subagent_tool_start', ...of, subToolName: 'Read', subToolArgs: { path: 'a' } },
        { type: 'subagent_tool_end', ...of, subToolName: 'Read', subToolResult: 'no', isError: true },
        { type: 'subagent_text_delta', ...of, textDelta: 'Nothing.' },
        { type: 'subagent_end', ...of, result: 'A report.', isError: false, durationMs: end?.durationMs },
        { type: 'tool_end', toolCallId: 't1', toolName: 'Task', result: 'A report.', isError: false },
      ],
    )
    const how = { agentType: 'explore', task: 'Look around.', modelId: 'haiku', textDelta: 'I look. Nothing.' }
    const toolCalls = [{ name: 'Read', isError: true }]
    assert.deepEqual(shown, [
      { ...how, toolCalls, status: 'running' },
      { ...how, toolCalls, status: 'completed', result: 'A report.', durationMs: end?.durationMs },
    ])
    assert.equal(bench.harness.session.displayState.get().activeSubagents.size, 0)
  })

  test('a subagent that works in the background ends with the run, with its last text', async () => {
    const within = { parentToolCallId: 't1' } as const
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId: 't1', toolName: 'Agent', args: { prompt: 'Look.' } }
      yield { type: 'tool-result', toolCallId: 't1', toolName: 'Agent', result: 'begun' }
      yield { type: 'text-delta', text: 'First. ', ...within }
      yield { type: 'tool-call', toolCallId: 'r1', toolName: 'Read', args: {}, ...within }
      yield { type: 'tool-result', toolCallId: 'r1', toolName: 'Read', result: 'ok', ...within }
      yield { type: 'text-delta', text: 'Found.', ...within }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: new ForeignAgent('foreign', [act]) }] })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.sendMessage({ content: 'Go' })
    const told = bench.types().filter((type) => type.startsWith('subagent_') || type === 'tool_end')
    assert.deepEqual([told[0], told[1], told.at(-1)], ['tool_end', 'subagent_start', 'subagent_end'])
    const [end] = bench.all('subagent_end')
    assert.equal(end?.isError, false)
    assert.match(end?.result ?? '', /Found\.$/)
  })

  test('a subagent of a foreign program ends with the run that is aborted', async () => {
    const act: Act = async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId: 't1', toolName: 'task', args: {} }
      yield { type: 'text-delta', text: 'I look.', parentToolCallId: 't1' }
      await new Promise(() => undefined)
    }
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: new ForeignAgent('foreign', [act]) }] })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    const begun = bench.next('subagent_text_delta')
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await begun
    await bench.harness.abort()
    await sent
    const [end] = bench.all('subagent_end')
    assert.deepEqual([end?.agentType, end?.isError], ['task', true])
    const types = bench.types()
    assert.ok(types.indexOf('subagent_end') < types.indexOf('agent_end'))
  })

  test('files that calls have changed', async () => {
    const write = createTool({ id: 'write_file', description: 'Writes.', execute: () => 'ok' })
    await using bench = new HarnessBench(
      [{ toolCalls: [{ name: 'write_file', input: { path: 'src/a.ts' } }] }, { text: 'Done.' }],
      { tools: { write_file: write }, permissions: { tools: { write_file: 'allow' } } },
    )
    await bench.harness.sendMessage({ content: 'Go' })
    const { displayState } = bench.harness.session
    assert.deepEqual(displayState.get().modifiedFiles.get('src/a.ts')?.operations, ['write_file'])
    displayState.clearModifiedFiles()
    assert.equal(displayState.get().modifiedFiles.size, 0)
  })
})
