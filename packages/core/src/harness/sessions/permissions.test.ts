import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { z } from 'zod'
import { HarnessBench } from '../harness.fixture.ts'

function tools(journal: string[]): { paint: ReturnType<typeof createTool>; read: ReturnType<typeof createTool> } {
  const tool = (id: string, category: 'edit' | 'read') =>
    createTool({
      id,
      description: id,
      category,
      execute: async () => {
        journal.push(id)
        return `${id} done`
      },
    })
  return { paint: tool('paint', 'edit'), read: tool('read', 'read') }
}

const PAINT = { toolCalls: [{ id: 'c1', name: 'paint', input: { colour: 'red' } }] }

suite('permissions of a session', () => {
  test('by default a call asks, after it was reported', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, { text: 'Done.' }], { tools: tools(journal) })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Paint' })
    assert.deepEqual(await asked, {
      type: 'tool_approval_required',
      toolCallId: 'c1',
      toolName: 'paint',
      args: { colour: 'red' },
      description: 'paint: colour: red (no rule allows `paint`)',
    })
    assert.ok(bench.types().indexOf('tool_start') < bench.types().indexOf('tool_approval_required'))
    assert.deepEqual(journal, [])
    assert.equal(bench.harness.session.displayState.get().pendingApproval?.toolCallId, 'c1')
    assert.equal(bench.harness.session.displayState.get().isRunning, true)
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.deepEqual(journal, ['paint'])
    assert.equal(bench.harness.session.displayState.get().pendingApproval, null)
  })

  test('a no reaches the model with its reason', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, { text: 'All right.' }], { tools: tools(journal) })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Paint' })
    await asked
    await bench.harness.session.respondToToolApproval({
      decision: 'decline',
      toolCallId: 'c1',
      declineContext: { message: 'not red' },
    })
    await sent
    assert.deepEqual(journal, [])
    assert.match(bench.model.requestBodies[1] ?? '', /not red/)
    assert.equal(bench.all('tool_end')[0]?.isError, true)
  })

  test('several calls wait side by side and are answered in any order', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench(
      [
        {
          toolCalls: [
            { id: 'c1', name: 'paint' },
            { id: 'c2', name: 'paint' },
          ],
        },
        { text: 'Done.' },
      ],
      { tools: tools(journal) },
    )
    const asked = bench.next('tool_approval_required', ({ toolCallId }) => toolCallId === 'c2')
    const sent = bench.harness.sendMessage({ content: 'Paint' })
    await asked
    const { displayState } = bench.harness.session
    assert.deepEqual(
      displayState.get().pendingApprovals.map(({ toolCallId }) => toolCallId),
      ['c1', 'c2'],
    )
    await bench.harness.session.respondToToolApproval({ decision: 'approve', toolCallId: 'c2' })
    assert.deepEqual(
      displayState.get().pendingApprovals.map(({ toolCallId }) => toolCallId),
      ['c1'],
    )
    await bench.harness.session.respondToToolApproval({ decision: 'decline', toolCallId: 'c1' })
    await sent
    assert.deepEqual(journal, ['paint'])
  })

  test('an answer to a call that does not wait is refused', async () => {
    await using bench = new HarnessBench([])
    await bench.harness.createThread()
    await assert.rejects(
      bench.harness.session.respondToToolApproval({ decision: 'approve', toolCallId: 'no' }),
      (error) => InspanError.is(error, 'not-found'),
    )
  })

  test('always_allow_category lets the next call of the kind go ahead', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, PAINT, { text: 'Done.' }], { tools: tools(journal) })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Paint' })
    await asked
    await bench.harness.session.respondToToolApproval({ decision: 'always_allow_category' })
    await sent
    assert.equal(bench.all('tool_approval_required').length, 1)
    assert.deepEqual(journal, ['paint', 'paint'])
    assert.ok(bench.harness.session.hasCategoryGrant('edit'))
    assert.deepEqual(bench.harness.session.getGrants(), { categories: ['edit'], tools: [] })
  })

  test('always_allow_category counts once if a pattern requires approval, and reports that', async () => {
    const ran: string[] = []
    const execute_command = createTool({
      id: 'execute_command',
      description: 'Runs a command.',
      category: 'execute',
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }) => void ran.push(command),
    })
    const push = (id: string): object => ({
      toolCalls: [{ id, name: 'execute_command', input: { command: 'cd src; git push' } }],
    })
    const patterns = [{ tool: 'execute_command', pattern: 'git push *', policy: 'ask' }] as const
    await using bench = new HarnessBench([push('c1'), push('c2'), { text: 'Done.' }], {
      tools: { execute_command },
      permissions: { patterns },
    })
    const { session } = bench.harness
    const asked = bench.next('tool_approval_required')
    const again = bench.next('tool_approval_required', ({ toolCallId }) => toolCallId === 'c2')
    const sent = bench.harness.sendMessage({ content: 'Push' })
    assert.match((await asked).description, /`ask execute_command\(git push \*\)` of the harness .* for `git push`/)
    await session.respondToToolApproval({ decision: 'always_allow_category' })
    await again
    await session.respondToToolApproval({ decision: 'decline' })
    await sent
    assert.deepEqual([ran, session.getGrants()], [['cd src; git push'], { categories: [], tools: [] }])
    assert.match(bench.all('info')[0]?.message ?? '', /counts for this call only: .*git push/)
  })

  test('grants of the session let calls go ahead', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, { text: 'Done.' }], { tools: tools(journal) })
    await bench.harness.session.grantTool('paint')
    assert.ok(bench.harness.session.hasToolGrant('paint'))
    await bench.harness.sendMessage({ content: 'Paint' })
    assert.deepEqual(journal, ['paint'])
  })

  test('a rule for a category decides where no other does', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, { text: 'Done.' }], { tools: tools(journal) })
    await bench.harness.session.permissions.setForCategory({ category: 'edit', policy: 'allow' })
    assert.equal(bench.harness.session.permissions.getRules().categories.edit, 'allow')
    await bench.harness.sendMessage({ content: 'Paint' })
    assert.deepEqual(journal, ['paint'])
  })

  test('a deny is neither lost by a schema that does not have it, nor beaten by yolo', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, { text: 'Done.' }], {
      tools: tools(journal),
      stateSchema: z.object({ currentModelId: z.string().optional() }),
    })
    await bench.harness.createThread()
    await bench.harness.session.permissions.setForTool({ toolName: 'paint', policy: 'deny' })
    await bench.harness.session.state.set({ yolo: true } as never)
    assert.equal(bench.harness.session.permissions.getRules().tools['paint'], 'deny')
    assert.ok(bench.harness.session.permissions.isYolo())
    await bench.harness.sendMessage({ content: 'Paint' })
    assert.deepEqual(journal, [])
    assert.match(bench.model.requestBodies[1] ?? '', /denied|no tool named/i)
  })

  test('a deny of a category beats yolo and grants', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([PAINT, { text: 'Done.' }], {
      tools: tools(journal),
      permissions: { categories: { edit: 'deny' } },
    })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.session.grantCategory('edit')
    await bench.harness.sendMessage({ content: 'Paint' })
    assert.deepEqual(journal, [])
  })

  test('a tool that is denied altogether is not offered in the next run', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }], { tools: tools([]) })
    await bench.harness.sendMessage({ content: 'Hi' })
    await bench.harness.session.permissions.setForTool({ toolName: 'paint', policy: 'deny' })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.match(bench.model.requestBodies[0] ?? '', /"paint"/)
    assert.doesNotMatch(bench.model.requestBodies[1] ?? '', /"paint"/)
  })

  test('inside a fork a deny blocks and hides nothing, so that its requests begin as those of its parent', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([{ text: 'One.' }, PAINT, { text: 'Two.' }], { tools: tools(journal) })
    await bench.harness.session.permissions.setForTool({ toolName: 'read', policy: 'deny' })
    await bench.harness.sendMessage({ content: 'Hi' })
    await bench.harness.cloneThread()
    await bench.harness.session.permissions.setForTool({ toolName: 'paint', policy: 'deny' })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.sendMessage({ content: 'Paint' })
    const toolsOf = (body = ''): unknown => (JSON.parse(body) as { tools?: unknown }).tools
    const [parent, ...fork] = bench.model.requestBodies.map(toolsOf)
    assert.match(JSON.stringify(parent), /"paint"/)
    assert.doesNotMatch(JSON.stringify(parent), /"read"/, 'hidden before the fork')
    assert.deepEqual(fork, [parent, parent])
    assert.deepEqual(journal, [])
    assert.match(bench.model.requestBodies[2] ?? '', /denied/)
  })

  test('rules and grants of a thread are there in the next process', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage, tools: tools([]) })
    await first.harness.createThread()
    await first.harness.session.permissions.setForTool({ toolName: 'paint', policy: 'deny' })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage, tools: tools([]) })
    await second.harness.selectOrCreateThread()
    assert.equal(second.harness.session.permissions.getRules().tools['paint'], 'deny')
  })

  test('the tools that only ask or take notes need no approval', async () => {
    await using bench = new HarnessBench([
      {
        toolCalls: [
          {
            name: 'task_write',
            input: { tasks: [{ content: 'A', status: 'pending', activeForm: 'Doing A' }] },
          },
        ],
      },
      { text: 'Done.' },
    ])
    await bench.harness.sendMessage({ content: 'Go' })
    assert.equal(bench.all('tool_approval_required').length, 0)
    assert.equal(bench.all('task_updated')[0]?.tasks[0]?.content, 'A')
    assert.equal(bench.harness.session.displayState.get().tasks.length, 1)
  })
})
