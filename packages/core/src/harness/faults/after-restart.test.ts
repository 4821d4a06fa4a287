import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import type { JsonObject } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench, storeOfAnotherProcess } from '../harness.fixture.ts'

const PAINT = { toolCalls: [{ id: 'c1', name: 'paint' }] }

function paint(journal: unknown[]): ReturnType<typeof createTool> {
  return createTool({
    id: 'paint',
    description: 'Paints.',
    category: 'edit',
    execute: async (_input, { requestContext }) => {
      journal.push(requestContext.get('colour') ?? 'none')
      return 'painted'
    },
  })
}

suite('in the next process', () => {
  test('a call that was always allowed in a thread runs unasked', async () => {
    const storage = new MemoryStore()
    const journal: unknown[] = []
    const first = new HarnessBench([PAINT, { text: 'Done.' }], { storage, tools: { paint: paint(journal) } })
    const asked = first.next('tool_approval_required')
    const sent = first.harness.sendMessage({ content: 'Paint' })
    await asked
    await first.harness.session.respondToToolApproval({ decision: 'always_allow_category' })
    await sent
    await first.harness.destroy()
    await using second = new HarnessBench([PAINT, { text: 'Done.' }], { storage, tools: { paint: paint(journal) } })
    await second.harness.selectOrCreateThread()
    assert.ok(second.harness.session.hasCategoryGrant('edit'))
    await second.harness.sendMessage({ content: 'Again' })
    assert.equal(second.all('tool_approval_required').length, 0)
    assert.equal(journal.length, 2)
  })

  test('a call that was asked about before can be always allowed, because its tool still names its category', async () => {
    const storage = new MemoryStore()
    const journal: unknown[] = []
    const first = new HarnessBench([PAINT], { storage, tools: { paint: paint(journal) } })
    const asked = first.next('tool_approval_required')
    const sent = first.harness.sendMessage({ content: 'Paint' })
    await asked
    await first.harness.destroy()
    await sent
    await using second = new HarnessBench([PAINT, { text: 'Done.' }], { storage, tools: { paint: paint(journal) } })
    await second.harness.selectOrCreateThread()
    const ended = second.next('agent_end')
    await second.harness.session.respondToToolApproval({ decision: 'always_allow_category' })
    assert.ok(second.harness.session.hasCategoryGrant('edit'))
    assert.equal((await ended).reason, 'complete')
    assert.deepEqual([second.all('info'), second.all('tool_approval_required').length, journal.length], [[], 1, 2])
  })

  test('the part of a request context that no record holds is rebuilt once for a run', async () => {
    const storage = new MemoryStore()
    const journal: unknown[] = []
    const restored: unknown[] = []
    const config = {
      storage,
      tools: {
        paint: createTool({
          id: 'paint',
          description: 'Paints.',
          category: 'edit',
          execute: (_input, { requestContext }) => {
            const mix = requestContext.get('mix') as (colour: unknown) => string
            journal.push(mix(requestContext.get('colour')))
            return 'painted'
          },
        }),
      },
      restoreRequestContext: (recorded: JsonObject) => {
        restored.push(recorded)
        return { mix: (colour: unknown) => `again ${String(colour)}` }
      },
    }
    const first = new HarnessBench([PAINT], config)
    const asked = first.next('tool_approval_required')
    const requestContext = { colour: 'red', mix: (colour: unknown) => `first ${String(colour)}` }
    const sent = first.harness.sendMessage({ content: 'Paint', requestContext })
    await asked
    assert.deepEqual(
      first.all('info').map(({ message }) => message),
      ['Not recorded with the request, since they are no JSON: mix.'],
    )
    await first.harness.destroy()
    await sent
    assert.deepEqual(restored, [], 'where it was given it need not be made')
    await using second = new HarnessBench([PAINT, { text: 'Done.' }, { text: 'Welcome.' }], config)
    await second.harness.selectOrCreateThread()
    const ended = second.next('agent_end')
    for (let answered = 0; answered < 2; answered++) {
      const again = answered === 0 ? second.next('tool_approval_required') : undefined
      await second.harness.session.respondToToolApproval({ decision: 'approve' })
      await again
    }
    assert.equal((await ended).reason, 'complete')
    assert.deepEqual(journal, ['again red', 'again red'])
    assert.deepEqual(restored, [{ colour: 'red' }])
    await second.harness.sendMessage({ content: 'Thanks.', requestContext })
    assert.equal(restored.length, 1, 'a run that begins here has what it was given')
  })

  test('a request that is made anew too late is refused: its run fails, and nothing is done without it', async () => {
    const storage = new MemoryStore()
    let painted = 0
    const paint = createTool({ id: 'paint', description: 'Paints.', category: 'edit', execute: () => ++painted })
    // As a program without type checks might write it.
    const late = (async () => ({ mix: 1 })) as unknown as () => { readonly mix: number }
    const config = { storage, tools: { paint }, restoreRequestContext: late }
    const first = new HarnessBench([PAINT], config)
    const asked = first.next('tool_approval_required')
    const sent = first.harness.sendMessage({ content: 'Paint', requestContext: { mix: () => 1 } })
    await asked
    await first.harness.destroy()
    await sent
    await using second = new HarnessBench([{ text: 'Done.' }], config)
    await second.harness.selectOrCreateThread()
    const ended = second.next('agent_end')
    await second.harness.session.respondToToolApproval({ decision: 'approve' })
    assert.equal((await ended).reason, 'error')
    assert.match(second.all('error')[0]?.error.message ?? '', /`requestContext` must be .*no promise/)
    assert.equal(painted, 0)
  })

  test('a message whose calls waited ends as it would have, for its calls', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([PAINT], { storage, tools: { paint: paint([]) } })
    const asked = first.next('tool_approval_required')
    const sent = first.harness.sendMessage({ content: 'Paint' })
    await asked
    await first.harness.destroy()
    await sent
    await using second = new HarnessBench([{ text: 'Done.' }], { storage, tools: { paint: paint([]) } })
    await second.harness.selectOrCreateThread()
    const ended = second.next('agent_end')
    await second.harness.session.respondToToolApproval({ decision: 'decline' })
    await ended
    assert.deepEqual(
      second.all('message_end').map(({ message }) => message.stopReason),
      ['tool_use', 'complete'],
    )
  })

  test('a thread still knows how many tokens it took', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([{ text: 'Yes.', usage: { inputTokens: 10, outputTokens: 5 } }], { storage })
    await first.harness.sendMessage({ content: 'Hi' })
    const used = first.harness.session.getTokenUsage()
    assert.ok(used.totalTokens > 0)
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    await second.harness.selectOrCreateThread()
    assert.deepEqual(second.harness.session.getTokenUsage(), used)
    assert.deepEqual(second.harness.session.displayState.get().tokenUsage, used)
  })
})

suite('a session that joins a run in progress', () => {
  const script = [
    { toolCalls: [{ id: 'w1', name: 'task_write', input: { tasks: [] } }] },
    { toolCalls: [...PAINT.toolCalls, { id: 'q1', name: 'ask_user', input: { question: 'Which?' } }] },
  ]

  test('in the next process sees its calls and its message, and learns that it runs', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench(script, { storage, tools: { paint: paint([]) } })
    const both = Promise.all([first.next('tool_suspended'), first.next('tool_approval_required')])
    const sent = first.harness.sendMessage({ content: 'Paint' })
    await both
    const shown = first.harness.session.displayState.get()
    assert.deepEqual(
      [...shown.activeTools].map(([id, { status }]) => [id, status]),
      [
        ['w1', 'completed'],
        ['c1', 'running'],
        ['q1', 'running'],
      ],
    )
    await first.harness.destroy()
    await sent
    await using second = new HarnessBench([{ text: 'Done.' }], { storage, tools: { paint: paint([]) } })
    await second.harness.selectOrCreateThread()
    assert.deepEqual(second.harness.session.displayState.get(), shown)
    assert.deepEqual(second.types().toSorted(), [
      'agent_start',
      'thread_changed',
      'tool_approval_required',
      'tool_suspended',
    ])
    assert.deepEqual(second.types().slice(0, 2), ['thread_changed', 'agent_start'])
    const rested = second.next('agent_end')
    await second.harness.session.respondToToolApproval({ decision: 'approve' })
    await rested
    assert.equal(second.harness.session.displayState.get().activeTools.get('c1')?.status, 'completed')
    await second.harness.respondToToolSuspension({ resumeData: 'The left one' })
    assert.deepEqual(
      second.all('agent_end').map(({ reason }) => reason),
      ['suspended', 'complete'],
    )
    assert.equal(second.all('agent_start').length, 2)
  })

  test('learns of it once, however often it switches to the thread', async () => {
    await using bench = new HarnessBench([PAINT, { text: 'Done.' }], { tools: { paint: paint([]) } })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Paint' })
    await asked
    const other = await bench.harness.createSession()
    const types: string[] = []
    other.subscribe(({ type }) => void types.push(type))
    const threadId = bench.harness.session.thread.requireId()
    await other.thread.switch({ threadId })
    await other.thread.switch({ threadId })
    assert.equal(types.filter((type) => type === 'agent_start').length, 1)
    assert.deepEqual(other.displayState.get(), bench.harness.session.displayState.get())
    await other.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.equal(types.filter((type) => type === 'agent_end').length, 1)
    assert.equal(bench.all('agent_start').length, 1)
  })
})

test('queued messages are sent when the thread is opened, and are reported like any other message', async () => {
  const storage = new MemoryStore()
  const first = new HarnessBench([{ text: 'Half', hang: true }], { storage })
  const begun = first.next('message_update')
  const sent = first.harness.sendMessage({ content: 'One' })
  await begun
  await first.harness.followUp({ content: 'Two' })
  await first.harness.destroy()
  await sent
  const gate = Promise.withResolvers<void>()
  const answer = () => gate.promise.then(() => ({ text: 'Done.' }))
  await using second = new HarnessBench([answer], { storage })
  const { thread } = second.harness.session
  const opened = second.next('thread_changed').then(() => thread.listActiveMessages())
  const ended = second.next('agent_end')
  await second.harness.selectOrCreateThread()
  gate.resolve()
  const said = (await opened).filter(({ role }) => role === 'user').map(({ content }) => content)
  assert.deepEqual(said, [[{ type: 'text', text: 'One' }], [{ type: 'text', text: 'Two' }]])
  assert.equal((await ended).reason, 'complete')
  assert.deepEqual(second.types().slice(0, 5), [
    'thread_changed',
    'follow_up_queued',
    'agent_start',
    'message_start',
    'message_end',
  ])
  assert.deepEqual(second.all('message_end')[0]?.message.content, [{ type: 'text', text: 'Two' }])
})

suite('a call that a crash cut short', () => {
  for (const [onInterrupted, times] of [
    [undefined, 1],
    ['report', 1],
    ['ask', 2],
    ['retry', 2],
  ] as const) {
    test(`${onInterrupted ?? 'without a word about it'}: is made ${times === 1 ? 'once' : 'again'}`, async (t) => {
      const storage = new MemoryStore()
      const begun = Promise.withResolvers<void>()
      const journal: string[] = []
      const painting = (work: () => Promise<string>): ReturnType<typeof createTool> =>
        createTool({ id: 'paint', description: 'Paints.', execute: work })
      const hanging = painting(() => {
        journal.push('first')
        begun.resolve()
        return new Promise<string>(() => undefined)
      })
      const rules = { permissions: { tools: { paint: 'allow' } } } as const
      const dead = new HarnessBench([PAINT], { ...rules, storage, tools: { paint: hanging } })
      t.after(() => dead.harness.destroy().catch(() => undefined))
      dead.harness.sendMessage({ content: 'Paint' }).catch(() => undefined)
      await begun.promise
      const threadId = dead.harness.session.thread.requireId()
      const { epoch } = (await storage.getStream(threadId)) ?? assert.fail('there is no thread')
      // As if its process were gone: the old owner cannot write any more, and nobody answers for the thread.
      await storage.takeOver(threadId, 'nobody', epoch)

      const again = painting(async () => {
        journal.push('again')
        return 'painted'
      })
      await using bench = new HarnessBench([{ text: 'Done.' }], {
        ...rules,
        storage: storeOfAnotherProcess(storage),
        tools: { paint: again },
        ...(onInterrupted === undefined ? {} : { onInterrupted }),
      })
      const ended = bench.next('agent_end', ({ reason }) => reason === 'complete')
      const asked = bench.next('tool_approval_required')
      await bench.harness.switchThread({ threadId })
      if (onInterrupted === 'ask') {
        await asked
        await bench.harness.session.respondToToolApproval({ decision: 'approve' })
      } else asked.catch(() => undefined)
      await ended
      assert.equal(journal.length, times)
      assert.equal(/outcome is unknown/.test(bench.model.requestBodies[0] ?? ''), times === 1)
      assert.equal(bench.all('tool_approval_required').length, onInterrupted === 'ask' ? 1 : 0)
    })
  }
})

suite('a question and an approval in one step', () => {
  const ASK = { id: 'q1', name: 'ask_user', input: { question: 'Which?' } }

  test('wait side by side, and the run continues when both are answered', async () => {
    const journal: unknown[] = []
    await using bench = new HarnessBench([{ toolCalls: [ASK, ...PAINT.toolCalls] }, { text: 'Done.' }], {
      tools: { paint: paint(journal) },
    })
    const both = Promise.all([bench.next('tool_suspended'), bench.next('tool_approval_required')])
    const sent = bench.harness.sendMessage({ content: 'Go' })
    await both
    const { session } = bench.harness
    assert.equal(session.suspensions.resolveToolCallId(), 'q1')
    assert.equal(session.displayState.get().pendingApproval?.toolCallId, 'c1')
    await session.respondToToolApproval({ decision: 'approve' })
    await bench.harness.respondToToolSuspension({ resumeData: 'The left one' })
    await sent
    assert.deepEqual(journal, ['none'])
    assert.match(bench.model.requestBodies[1] ?? '', /The left one/)
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('a request context given with an answer reaches the tools after it', async () => {
    const journal: unknown[] = []
    await using bench = new HarnessBench([{ toolCalls: [ASK] }, PAINT, { text: 'Done.' }], {
      tools: { paint: paint(journal) },
      permissions: { tools: { paint: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Go' })
    await bench.harness.respondToToolSuspension({ resumeData: 'Red', requestContext: { colour: 'red' } })
    assert.deepEqual(journal, ['red'])
  })
})
