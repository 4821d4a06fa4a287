import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { toWireEvent } from '@inspan/protocol/harness'
import { MemoryStore } from '@inspan/stores'
import { z } from 'zod'
import { HarnessBench } from '../harness.fixture.ts'

const done = { text: 'Done.' }

/** A tool that keeps its arguments. */
function keeper(seen: unknown[]) {
  return createTool({
    id: 'remove',
    description: 'Removes a file.',
    inputSchema: z.object({ path: z.string() }),
    execute: (input) => {
      seen.push(input)
      return { removed: input.path }
    },
  })
}

const REMOVE = { toolCalls: [{ id: 'c1', name: 'remove', input: { path: 'a.txt' } }] }

suite('emitted events never change', () => {
  test('changing the input of a call changes neither what is approved nor what runs', async () => {
    const seen: unknown[] = []
    await using bench = new HarnessBench([REMOVE, done], { tools: { remove: keeper(seen) } })
    bench.harness.subscribe((event) => {
      if (event.type === 'tool_start') Reflect.set(event.args as object, 'path', '/')
      if (event.type === 'tool_start') Reflect.set(event, 'args', { path: '/' })
      if (event.type === 'message_update') {
        for (const piece of event.message.content) {
          if (piece.type === 'tool_call') Reflect.set(piece.args as object, 'path', '/')
        }
      }
      if (event.type === 'tool_approval_required') Reflect.set(event.args as object, 'path', '/')
    })
    const asked = bench.next('tool_approval_required')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual((await asked).args, { path: 'a.txt' })
    const { session } = bench.harness
    Reflect.set(session.displayState.get().pendingApproval?.args as object, 'path', '/')
    await session.respondToToolApproval({ decision: 'approve' })
    await said
    assert.deepEqual(seen, [{ path: 'a.txt' }])
    assert.deepEqual(bench.all('tool_start')[0]?.args, { path: 'a.txt' })
    Reflect.set(bench.all('tool_end')[0]?.result as object, 'removed', '/')
    assert.deepEqual(session.displayState.get().activeTools.get('c1')?.result, { removed: 'a.txt' })
  })

  test('nor does it in the next process, where the call was read back', async () => {
    const seen: unknown[] = []
    const storage = new MemoryStore()
    const first = new HarnessBench([REMOVE], { storage, tools: { remove: keeper(seen) } })
    const asked = first.next('tool_approval_required')
    const said = first.harness.sendMessage({ content: 'Go.' })
    await asked
    await first.harness.destroy()
    await said
    await using second = new HarnessBench([done], { storage, tools: { remove: keeper(seen) } })
    await second.harness.selectOrCreateThread()
    const { session } = second.harness
    Reflect.set(session.displayState.get().pendingApproval?.args as object, 'path', '/')
    const over = second.next('agent_end')
    await session.respondToToolApproval({ decision: 'approve' })
    await over
    assert.deepEqual(seen, [{ path: 'a.txt' }])
  })

  test('changing the tasks changes nothing the agent sees', async () => {
    const tasks = [{ content: 'a', status: 'pending', activeForm: 'a-ing' }]
    await using bench = new HarnessBench([
      { toolCalls: [{ name: 'task_write', input: { tasks } }] },
      { toolCalls: [{ id: 'check', name: 'task_check', input: {} }] },
      done,
    ])
    bench.harness.subscribe((event) => {
      if (event.type === 'task_updated') Reflect.set(event.tasks[0] as object, 'status', 'completed')
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    const checked = bench.all('tool_end').find(({ toolCallId }) => toolCallId === 'check')
    assert.match(JSON.stringify(checked?.result), /"status":"pending"/)
    assert.equal(bench.harness.session.displayState.get().tasks[0]?.status, 'pending')
  })

  test('an emitted message cannot be rewritten on the display', async () => {
    await using bench = new HarnessBench([done])
    bench.harness.subscribe((event) => {
      if (event.type === 'message_end') Reflect.set(event.message.content[0] as object, 'text', 'Lies.')
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(bench.harness.session.displayState.get().currentMessage?.content, [
      { type: 'text', text: 'Done.' },
    ])
  })
})

suite('what comes with every delta', () => {
  const script = [{ reasoning: ['Hm', 'm.'], text: ['Do', 'ne.'] }, { text: 'Again.' }]
  /** Tries to change everything in an event. */
  const rewrite = (event: object): void => {
    for (const [key, value] of Object.entries(event)) {
      if (typeof value === 'object' && value !== null) rewrite(value)
      else if (key !== 'type') Reflect.set(event, key, 'Lies.')
    }
    if (Array.isArray(event)) Reflect.set(event, 'length', 0)
  }

  test('is for the second listener what it was for the first', async () => {
    await using bench = new HarnessBench(script)
    bench.events.length = 0
    const seen: string[] = []
    bench.harness.subscribe(rewrite)
    bench.harness.subscribe((event) => void seen.push(JSON.stringify(event)))
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      seen.filter((text) => text.includes('Lies.')),
      [],
    )
    assert.ok(seen.some((text) => text.includes('"text":"Done."')))
    for (const [event, json] of bench.kept) assert.equal(JSON.stringify(toWireEvent(event)), json)
  })

  test('an event emitted from outside stays as it was, though its object may be changed afterwards', async () => {
    await using bench = new HarnessBench([])
    const event = { type: 'info' as const, message: 'One.', data: { list: [1] } }
    bench.harness.session.emit(event)
    event.message = 'Two.'
    event.data.list.push(2)
    assert.deepEqual(bench.all('info'), [{ type: 'info', message: 'One.', data: { list: [1] } }])
    const state: { self?: unknown } = {}
    state.self = state
    await bench.harness.session.state.set(state)
    assert.equal(bench.all('state_changed').length, 1)
  })

  test('cannot rewrite the display or the conversation, even for a listener that is alone', async () => {
    await using bench = new HarnessBench(script)
    const session = await bench.harness.createSession()
    const shown: unknown[] = []
    session.subscribe((event) => {
      rewrite(event)
      shown.push(session.displayState.get().currentMessage?.content)
    })
    await session.sendMessage({ content: 'Go.' })
    assert.ok(!JSON.stringify(shown).includes('Lies.'))
    assert.deepEqual(session.displayState.get().currentMessage?.content, [
      { type: 'thinking', thinking: 'Hmm.' },
      { type: 'text', text: 'Done.' },
    ])
    await session.sendMessage({ content: 'And?' })
    assert.ok(!JSON.stringify(bench.model.requests).includes('Lies.'))
  })
})

suite('a snapshot of the display', () => {
  type Changing = { push(item: unknown): void; set(key: string, value: unknown): void }

  for (const where of ['without a thread', 'of a thread'] as const) {
    test(`${where} cannot be changed, and another harness sees nothing of the attempt`, async () => {
      await using bench = new HarnessBench([REMOVE, done], {
        initialState: { yolo: true },
        tools: { remove: keeper([]) },
      })
      if (where === 'of a thread') await bench.harness.sendMessage({ content: 'Go.' })
      const shown = bench.harness.session.displayState.get()
      const before = structuredClone(shown)
      for (const list of ['tasks', 'previousTasks', 'pendingApprovals'] as const) {
        assert.throws(() => (shown[list] as unknown as Changing).push({}), TypeError)
      }
      const maps = [
        'activeTools',
        'toolInputBuffers',
        'pendingSuspensions',
        'activeSubagents',
        'modifiedFiles',
      ] as const
      for (const map of maps) {
        assert.throws(() => (shown[map] as unknown as Changing).set('x', {}), TypeError)
        assert.throws(() => (shown[map] as Map<string, unknown>).delete('c1'), TypeError)
        assert.throws(() => (shown[map] as Map<string, unknown>).clear(), TypeError)
      }
      assert.ok(!Reflect.set(shown.tokenUsage, 'totalTokens', 99))
      assert.ok(!Reflect.set(shown.omProgress, 'status', 'observing'))
      for (const tool of shown.activeTools.values()) assert.ok(!Reflect.set(tool, 'status', 'error'))
      assert.deepEqual(structuredClone(bench.harness.session.displayState.get()), before)
      await using other = new HarnessBench([])
      const { pendingSuspensions, tasks } = other.harness.session.displayState.get()
      assert.deepEqual([[...tasks], pendingSuspensions.size], [[], 0])
    })
  }
})
