/**
 * What users of other harnesses have met, case by case: each test would fail here if we had the defect. Grouped by
 * subject; the words in the titles are what should happen, not what went wrong.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Store } from '@inspan/protocol/store'
import { z } from 'zod'
import { MemoryStore } from '../../index.ts'
import { HarnessBench } from '../harness.fixture.ts'
import { call, done, journalTool, withTools } from './peers.fixture.ts'

const categories = { toolCategoryResolver: (name: string) => (name === 'edit_it' ? ('edit' as const) : null) }

suite('permissions', () => {
  const schema = z.object({ currentModelId: z.string().optional() })

  test('a deny stays when the user’s schema does not have it', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('rm')] }, done]
    await using bench = new HarnessBench(script, { stateSchema: schema, ...withTools(journal, 'rm') })
    const { session } = bench.harness
    await session.permissions.setForTool({ toolName: 'rm', policy: 'deny' })
    await session.state.set({ currentModelId: 'x/y' })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(session.permissions.getRules().tools['rm'], 'deny')
    assert.deepEqual(journal, [])
  })

  test('yolo stays when the user’s schema does not have it', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('rm')] }, done]
    await using bench = new HarnessBench(script, { stateSchema: schema, ...withTools(journal, 'rm') })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.session.state.set({ currentModelId: 'x/y' })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(journal, ['rm'])
  })

  test('yolo that programs put into the state counts, whatever the schema knows', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('rm')] }, done]
    await using bench = new HarnessBench(script, { stateSchema: schema, ...withTools(journal, 'rm') })
    await bench.harness.session.state.set({ yolo: true } as never)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(journal, ['rm'])
    const started = new HarnessBench(script, { initialState: { yolo: true }, ...withTools(journal, 'rm') })
    await started.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(journal, ['rm', 'rm'])
    await started.harness.destroy()
  })

  test('an "always" for a call of no known kind approves this one, and the next asks again', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('odd', 'c1')] }, { toolCalls: [call('odd', 'c2')] }, done]
    await using bench = new HarnessBench(script, withTools(journal, 'odd'))
    const { session } = bench.harness
    const asked: string[] = []
    bench.harness.subscribe((event) => {
      if (event.type !== 'tool_approval_required') return
      asked.push(event.toolCallId)
      const decision = asked.length === 1 ? 'always_allow_category' : 'decline'
      return session.respondToToolApproval({ decision, toolCallId: event.toolCallId })
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(asked, ['c1', 'c2'])
    assert.deepEqual(journal, ['odd'])
  })

  test('the model that was chosen stays when the user’s schema does not have it', async () => {
    await using bench = new HarnessBench([done], { stateSchema: z.object({ name: z.string().default('me') }) })
    await bench.harness.createThread()
    await bench.harness.session.model.switch({ modelId: 'x/other' })
    assert.equal(bench.harness.session.model.get(), 'x/other')
  })

  for (const kind of ['yolo', 'a grant of the category'] as const) {
    test(`a deny of a category is not beaten by ${kind}`, async () => {
      const journal: string[] = []
      const script = [{ toolCalls: [call('edit_it')] }, done]
      await using bench = new HarnessBench(script, { ...categories, ...withTools(journal, 'edit_it') })
      const { session } = bench.harness
      await session.permissions.setForCategory({ category: 'edit', policy: 'deny' })
      if (kind === 'yolo') await session.permissions.setYolo({ enabled: true })
      else await session.grantCategory('edit')
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.deepEqual(journal, [])
      assert.equal(bench.all('tool_end')[0]?.isError, true)
    })
  }

  test('a tool of the agent’s own that is denied does not run either', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('own')] }, done]
    await using bench = new HarnessBench(script, {}, { tools: { own: journalTool('own', journal) } })
    await bench.harness.session.permissions.setForTool({ toolName: 'own', policy: 'deny' })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(journal, [])
  })

  test('a rule that is set while somebody thinks counts before the call runs', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([{ toolCalls: [call('rm')] }, done], withTools(journal, 'rm'))
    const asked = bench.next('tool_approval_required')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    await asked
    await bench.harness.session.permissions.setForTool({ toolName: 'rm', policy: 'deny' })
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await said
    assert.deepEqual(journal, [])
  })

  test('a tool whose kind nobody knows asks', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([{ toolCalls: [call('odd')] }, done], withTools(journal, 'odd'))
    await bench.harness.session.permissions.setForCategory({ category: 'other', policy: 'allow' })
    const asked = bench.next('tool_approval_required')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await asked).toolName, 'odd')
    await bench.harness.session.respondToToolApproval({ decision: 'decline' })
    await said
    assert.deepEqual(journal, [])
  })
})

suite('approvals', () => {
  test('several wait at once, are all shown, and are answered by their ids', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('a', 'c1'), call('b', 'c2')] }, done]
    await using bench = new HarnessBench(script, withTools(journal, 'a', 'b'))
    const both = bench.next('tool_approval_required', ({ toolCallId }) => toolCallId === 'c2')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    await both
    const { session } = bench.harness
    const { pendingApproval, pendingApprovals } = session.displayState.get()
    assert.deepEqual(
      [pendingApproval?.toolCallId, pendingApprovals.map(({ toolCallId }) => toolCallId)],
      ['c1', ['c1', 'c2']],
    )
    await session.respondToToolApproval({ toolCallId: 'c2', decision: 'approve' })
    assert.deepEqual(
      session.displayState.get().pendingApprovals.map(({ toolCallId }) => toolCallId),
      ['c1'],
    )
    await session.respondToToolApproval({ toolCallId: 'c1', decision: 'decline' })
    await said
    assert.deepEqual(journal, ['b'])
  })

  test('a call that needs none does not wait for one that does', async () => {
    const journal: string[] = []
    const script = [{ toolCalls: [call('asks', 'c1'), call('free', 'c2')] }, done]
    await using bench = new HarnessBench(script, withTools(journal, 'asks', 'free'))
    await bench.harness.session.permissions.setForTool({ toolName: 'free', policy: 'allow' })
    const ended = bench.next('tool_end')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await ended).toolCallId, 'c2')
    assert.deepEqual(journal, ['free'])
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await said
  })

  test('are still there in the next process, by the same ids', async () => {
    const journal: string[] = []
    const storage: Store = new MemoryStore()
    const first = new HarnessBench([{ toolCalls: [call('a')] }], { storage, ...withTools(journal, 'a') })
    const asked = first.next('tool_approval_required')
    const said = first.harness.sendMessage({ content: 'Go.' })
    await asked
    await first.harness.destroy()
    await said
    const second = new HarnessBench([done], { storage, ...withTools(journal, 'a') })
    await second.harness.selectOrCreateThread()
    assert.deepEqual(
      second.harness.session.displayState.get().pendingApprovals.map(({ toolCallId }) => toolCallId),
      ['c1'],
    )
    const over = second.next('agent_end')
    await second.harness.session.respondToToolApproval({ toolCallId: 'c1', decision: 'approve' })
    assert.equal((await over).reason, 'complete')
    assert.deepEqual(journal, ['a'])
    await second.harness.destroy()
    await storage.close()
  })
})

suite('questions', () => {
  test('asking the user needs no approval, and the answer arrives as one', async () => {
    const script = [{ toolCalls: [call('ask_user', 'q1', { question: 'Which?' })] }, done]
    await using bench = new HarnessBench(script)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('tool_approval_required').length, 0)
    await bench.harness.respondToToolSuspension({ resumeData: 'Left.' })
    const [ended] = bench.all('tool_end')
    assert.deepEqual(ended?.result, { content: 'User answered: Left.', isError: false })
    assert.equal(ended.isError, false)
  })

  test('two of the same tool at once are both answered', async () => {
    const script = [{ toolCalls: ['q1', 'q2'].map((id) => call('ask_user', id, { question: `${id}?` })) }, done]
    await using bench = new HarnessBench(script)
    await bench.harness.sendMessage({ content: 'Go.' })
    await bench.harness.respondToToolSuspension({ toolCallId: 'q1', resumeData: 'One.' })
    await bench.harness.respondToToolSuspension({ toolCallId: 'q2', resumeData: 'Two.' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.deepEqual(
      bench.all('tool_end').map(({ isError }) => isError),
      [false, false],
    )
  })

  test('an answer to nothing, or to nobody knows which, is an error and not silence', async () => {
    const script = [{ toolCalls: ['q1', 'q2'].map((id) => call('ask_user', id, { question: 'x?' })) }, done]
    await using bench = new HarnessBench(script)
    await assert.rejects(bench.harness.respondToToolSuspension({ resumeData: 'x' }))
    await bench.harness.sendMessage({ content: 'Go.' })
    await assert.rejects(bench.harness.respondToToolSuspension({ resumeData: 'x' }))
    await assert.rejects(bench.harness.respondToToolSuspension({ toolCallId: 'q9', resumeData: 'x' }))
  })

  test('a plan that is approved is carried out in the same run', async () => {
    const script = [{ toolCalls: [call('submit_plan', 'p1', { plan: 'Do it.' })] }, { text: 'Doing it.' }]
    await using bench = new HarnessBench(script, {
      modes: [{ id: 'plan', transitionsTo: 'build' }, { id: 'build' }],
      defaultModeId: 'plan',
    })
    await bench.harness.sendMessage({ content: 'Plan.' })
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.equal(bench.model.requests.length, 2)
    const messages = await bench.harness.session.thread.listActiveMessages()
    assert.deepEqual(messages.at(-1)?.content, [{ type: 'text', text: 'Doing it.' }])
  })

  test('asking for access to a path is there, and a yes is kept with the thread', async () => {
    const input = { path: '/elsewhere', reason: 'to read' }
    const script = [{ toolCalls: [call('request_access', 'a1', input)] }, done]
    await using bench = new HarnessBench(script)
    await bench.harness.sendMessage({ content: 'Go.' })
    await bench.harness.respondToToolSuspension({ resumeData: 'yes' })
    assert.deepEqual(bench.harness.session.thread.getSetting({ key: 'harness:access' }), ['/elsewhere'])
  })
})
