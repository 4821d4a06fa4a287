import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import type { ModelScript } from '../../engine/agent-bench.fixture.ts'
import { benchOf, call, paint } from './subagent-bench.fixture.ts'

suite('the approval of a call of a subagent', () => {
  const script: ModelScript = [{ toolCalls: [call('c1', 'Paint the door.')] }, { text: 'Done.' }]
  const work: ModelScript = [{ toolCalls: [{ id: 'p', name: 'paint', input: { what: 'door' } }] }, { text: 'Over.' }]

  for (const [decision, painted] of [
    ['approve', 1],
    ['decline', 0],
  ] as const) {
    test(`is asked in the root thread, labelled with who asks and its task; ${decision} takes effect`, async () => {
      const journal: unknown[] = []
      const { bench, worker } = benchOf(script, work, { definition: { tools: { paint: paint(journal) } } })
      await using _ = bench
      const { session } = bench.harness
      const required = bench.next('tool_approval_required')
      const sent = bench.harness.sendMessage({ content: 'Go.' })
      const asked = await required
      const { description, subagent, ...rest } = asked
      assert.deepEqual(rest, {
        type: 'tool_approval_required',
        toolCallId: 'p',
        toolName: 'paint',
        args: { what: 'door' },
      })
      assert.match(description, /Subagent "Explorer" asks: paint/)
      assert.deepEqual([subagent?.agentType, subagent?.task], ['explore', 'Paint the door.'])
      assert.match(subagent?.threadId ?? '', /^subagent-/)
      assert.equal(bench.all('tool_suspended').length, 0)
      assert.equal(bench.all('agent_end').length, 0, 'the run counts as at work')
      assert.deepEqual(session.displayState.get().pendingApproval?.subagent, subagent)
      const declineContext = { message: 'Not red.' }
      await session.respondToToolApproval({ decision, toolCallId: 'p', declineContext })
      await sent
      assert.equal(journal.length, painted)
      if (painted === 0) assert.match(worker.requestBodies[1] ?? '', /Not red\./)
      assert.deepEqual([bench.all('subagent_start').length, bench.all('subagent_end').length], [1, 1])
      assert.equal(session.displayState.get().pendingApprovals.length, 0)
    })
  }

  test('"always" holds for the session: the next subagent is not asked about', async () => {
    const journal: unknown[] = []
    const twice: ModelScript = [
      { toolCalls: [call('c1', 'Paint.')] },
      { toolCalls: [call('c2', 'Paint again.')] },
      { text: 'Done.' },
    ]
    const { bench } = benchOf(twice, [...(work as []), ...(work as [])], {
      definition: { tools: { paint: paint(journal) } },
    })
    await using _ = bench
    const required = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await required
    await bench.harness.session.respondToToolApproval({ decision: 'always_allow_category' })
    await sent
    assert.deepEqual([journal.length, bench.all('tool_approval_required').length], [2, 1])
    assert.deepEqual(bench.all('info'), [])
  })

  test('two subagents ask at once, and each gets its own answer', async () => {
    const journal: unknown[] = []
    const both: ModelScript = [{ toolCalls: [call('c1', 'One.'), call('c2', 'Two.')] }, { text: 'Done.' }]
    let asked = 0
    const orders = {
      turns: [0, 1, 2, 3].map((index) => () => {
        return index < 2 ? { toolCalls: [{ id: `p${asked++}`, name: 'paint' }] } : { text: 'Over.' }
      }),
    }
    const { bench } = benchOf(both, orders, { definition: { tools: { paint: paint(journal) } } })
    await using _ = bench
    const { session } = bench.harness
    const all = bench.next('tool_approval_required', () => bench.all('tool_approval_required').length === 2)
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await all
    assert.deepEqual(
      bench
        .all('tool_approval_required')
        .map(({ subagent }) => subagent?.task ?? '')
        .toSorted((a, b) => a.localeCompare(b)),
      ['One.', 'Two.'],
    )
    await session.respondToToolApproval({ decision: 'approve', toolCallId: 'p1' })
    await session.respondToToolApproval({ decision: 'decline', toolCallId: 'p0' })
    await sent
    assert.equal(journal.length, 1)
  })

  test('several calls with one id, as some providers give them, are told apart: the answer reaches the one that is meant', async () => {
    const journal: unknown[] = []
    const both: ModelScript = [{ toolCalls: [call('same', 'One.'), call('c2', 'Two.')] }, { text: 'Done.' }]
    const orders = {
      turns: Array.from({ length: 4 }, () => (request: object) => {
        const prompt = JSON.stringify(request)
        if (prompt.includes('tool-result')) return { text: prompt.includes('painted') ? 'Painted.' : 'Left.' }
        return { toolCalls: [{ id: 'same', name: 'paint', input: { what: prompt.includes('One.') ? 'one' : 'two' } }] }
      }),
    }
    const { bench } = benchOf(both, orders, { definition: { tools: { paint: paint(journal) } } })
    await using _ = bench
    const { session } = bench.harness
    const all = bench.next('tool_approval_required', () => bench.all('tool_approval_required').length === 2)
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await all
    const { pendingApprovals } = session.displayState.get()
    assert.equal(new Set(pendingApprovals.map(({ toolCallId }) => toolCallId)).size, 2)
    const two = pendingApprovals.find(({ subagent }) => subagent?.task === 'Two.')
    await session.respondToToolApproval({ decision: 'approve', toolCallId: two?.toolCallId ?? '' })
    await session.respondToToolApproval({ decision: 'decline' })
    await sent
    const results = new Map(bench.all('subagent_end').map(({ result, toolCallId }) => [toolCallId, result]))
    assert.deepEqual([results.get('same'), results.get('c2')], ['Left.', 'Painted.'])
    assert.equal(journal.length, 1)
  })

  test('the approval of a call of a nested subagent names who really asks', async () => {
    const journal: unknown[] = []
    const nested: ModelScript = [
      { toolCalls: [call('d1', 'Paint below.')] },
      { toolCalls: [{ id: 'p', name: 'paint' }] },
      { text: 'Over.', repeat: true },
    ]
    const { bench } = benchOf(script, nested, {
      definition: { tools: { paint: paint(journal) }, allowedHarnessTools: ['subagent'] },
    })
    await using _ = bench
    const required = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await required).subagent?.task, 'Paint below.')
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.equal(journal.length, 1)
    assert.equal(bench.all('tool_approval_required').length, 1)
  })

  test('is answered after a restart, and the call is carried out once, with the request context', async () => {
    const storage = new MemoryStore()
    const journal: unknown[] = []
    const definition = { tools: { paint: paint(journal) } }
    const first = benchOf(script, work, { definition, config: { storage } })
    const required = first.bench.next('tool_approval_required')
    void first.bench.harness.sendMessage({ content: 'Go.', requestContext: { colour: 'red' } })
    await required
    await first.bench.harness.destroy()
    const second = benchOf([{ text: 'Done.' }], [{ text: 'Over.' }], { definition, config: { storage } })
    await using bench = second.bench
    await bench.harness.selectOrCreateThread()
    assert.equal(bench.all('tool_approval_required')[0]?.subagent?.agentType, 'explore')
    const over = bench.next('agent_end')
    await bench.harness.session.respondToToolApproval({ toolCallId: 'p', decision: 'approve' })
    assert.equal((await over).reason, 'complete')
    assert.deepEqual(journal, ['red'])
    assert.equal(bench.all('subagent_end')[0]?.result, 'Over.')
  })

  test('is withdrawn when the run is aborted', async () => {
    const storage = new MemoryStore()
    const { bench } = benchOf(script, work, { definition: { tools: { paint: paint() } }, config: { storage } })
    const required = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await required
    await bench.harness.session.abort()
    await sent
    await bench.harness.destroy()
    const { items } = await storage.listWaits({ limit: 10, state: 'pending' })
    assert.deepEqual(items, [])
  })

  test('is not needed for what the parent may do, and a rule of the parent denies it to the subagent', async () => {
    for (const policy of ['allow', 'deny'] as const) {
      const journal: unknown[] = []
      const { bench } = benchOf(script, work, { definition: { tools: { paint: paint(journal) } } })
      await using _ = bench
      await bench.harness.session.permissions.setForTool({ toolName: 'paint', policy })
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.equal(bench.all('tool_approval_required').length, 0)
      assert.equal(journal.length, policy === 'allow' ? 1 : 0)
    }
  })
})

suite('the question of a subagent', () => {
  test('suspends the run, is answered by the id of its call, and the run continues', async () => {
    const ask = { id: 'q', name: 'ask_user', input: { question: 'Which colour?' } }
    const { bench, worker } = benchOf(
      [{ toolCalls: [call('c1', 'Ask.')] }, { text: 'Done.' }],
      [{ toolCalls: [ask] }, { text: 'Red it is.' }],
      { definition: { allowedHarnessTools: ['ask_user'] } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const [asked] = bench.all('tool_suspended')
    assert.deepEqual([asked?.toolCallId, asked?.toolName], ['q', 'ask_user'])
    const { question, subagent } = (asked?.suspendPayload ?? {}) as { question?: string; subagent?: { task: string } }
    assert.deepEqual([question, subagent?.task], ['Which colour?', 'Ask.'])
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['suspended'],
    )
    await bench.harness.session.respondToToolSuspension({ toolCallId: 'q', resumeData: 'red' })
    assert.match(worker.requestBodies[1] ?? '', /User answered: red/)
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['suspended', 'complete'],
    )
    assert.deepEqual(bench.all('agent_start').length, 2)
  })
})
