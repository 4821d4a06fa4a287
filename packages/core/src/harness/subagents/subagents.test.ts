import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool } from '@inspan/agent'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { rootLineage } from '@inspan/protocol/log'
import { scriptedModel, type ScriptedModel } from '@inspan/testing'
import { MemoryStore } from '../../stores/memory-store.ts'
import { HarnessBench } from '../harness.fixture.ts'
import type { HarnessConfig, HarnessSubagent } from '../harness-config.ts'

type Script = Parameters<typeof scriptedModel>[0]

const USAGE = { inputTokens: 10, outputTokens: 5 }
const EXPLORE: HarnessSubagent = {
  id: 'explore',
  name: 'Explorer',
  description: 'Looks around.',
  instructions: 'Only look.',
  defaultModelId: 'test/small',
}

function call(id: string, task: string, more: object = {}): { id: string; name: string; input: Record<string, never> } {
  return { id, name: 'subagent', input: { agentType: 'explore', task, ...more } as never }
}

/** A harness whose subagents answer by a script of their own. */
function benchOf(
  script: Script,
  work: Script,
  { config = {}, definition = {} }: { config?: Partial<HarnessConfig>; definition?: Partial<HarnessSubagent> } = {},
): { bench: HarnessBench; worker: ScriptedModel; resolved: string[] } {
  const worker = scriptedModel(work)
  const resolved: string[] = []
  const bench = new HarnessBench(script, {
    resolveModel: (modelId) => {
      resolved.push(modelId)
      return worker
    },
    subagents: [{ ...EXPLORE, ...definition }],
    ...config,
  })
  return { bench, worker, resolved }
}

/** The tools that were offered in the first request. */
function toolsOf({ requests: [first] }: ScriptedModel): readonly { readonly name?: string }[] {
  const tools = first?.['tools']
  return Array.isArray(tools) ? tools : []
}

function subagentEvents({ events }: HarnessBench): HarnessEvent[] {
  return events.filter(({ type }) => type.startsWith('subagent_'))
}

const look = createTool({ id: 'look', description: 'Looks.', category: 'read', execute: () => 'a door' })
const paint = (journal: unknown[] = []): ReturnType<typeof createTool> =>
  createTool({
    id: 'paint',
    description: 'Paints.',
    category: 'edit',
    execute: (_input, { requestContext }) => {
      journal.push(requestContext.get('colour') ?? 'no colour')
      return 'painted'
    },
  })

suite('a subagent', () => {
  test('is reported from its start to its end, in order, and its answer is the result of the call', async () => {
    const { bench, resolved, worker } = benchOf(
      [{ toolCalls: [call('c1', 'Find the door.')] }, { text: 'There is a door.' }],
      [
        { toolCalls: [{ id: 'l1', name: 'look', input: { at: 'wall' } }], usage: USAGE },
        { text: ['A ', 'door.'], usage: USAGE },
      ],
      { definition: { tools: { look } }, config: { permissions: { tools: { look: 'allow' } } } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const of = { toolCallId: 'c1', agentType: 'explore' }
    const events = subagentEvents(bench)
    const last = events.at(-1)
    assert.ok(last?.type === 'subagent_end' && last.durationMs >= 0)
    assert.deepEqual(events, [
      { type: 'subagent_start', ...of, task: 'Find the door.', modelId: 'test/small' },
      { type: 'subagent_tool_start', ...of, subToolName: 'look', subToolArgs: { at: 'wall' } },
      { type: 'subagent_tool_end', ...of, subToolName: 'look', subToolResult: 'a door', isError: false },
      { type: 'subagent_text_delta', ...of, textDelta: 'A ' },
      { type: 'subagent_text_delta', ...of, textDelta: 'door.' },
      { type: 'subagent_end', ...of, result: 'A door.', isError: false, durationMs: last.durationMs },
    ])
    const order = bench
      .types()
      .filter((type) => /^(subagent_start|subagent_end|tool_start|tool_end|agent_end)$/.test(type))
    assert.deepEqual(order, ['tool_start', 'subagent_start', 'subagent_end', 'tool_end', 'agent_end'])
    assert.deepEqual(bench.all('tool_end')[0]?.result, { content: 'A door.', isError: false })
    assert.ok(resolved.includes('test/small'))
    const [request = ''] = worker.requestBodies
    assert.match(request, /Only look\./)
    assert.match(request, /Find the door\./)
    assert.doesNotMatch(request, /Go\./, 'it does not see the conversation')
  })

  test('has the tools of its definition and no others; the tool that starts it describes it', async () => {
    const { bench, worker } = benchOf([{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }], [{ text: 'Seen.' }], {
      definition: { tools: { look }, allowedHarnessTools: ['paint'] },
      config: { tools: { paint: paint(), other: look } },
    })
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const names = toolsOf(worker).map(({ name }) => name ?? '')
    assert.deepEqual(names.toSorted(), ['look', 'paint'])
    const tool = toolsOf(bench.model).find(({ name }) => name === 'subagent')
    assert.match(JSON.stringify(tool), /explore: Explorer\. Looks around\./)
  })

  test('does not exist without definitions, or when its tool is disabled', async () => {
    for (const config of [{ subagents: [] }, { disableBuiltinTools: ['subagent'] as const }]) {
      const { bench } = benchOf([{ text: 'Hi.' }], [], { config })
      await using _ = bench
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.ok(!toolsOf(bench.model).some(({ name }) => name === 'subagent'))
    }
  })

  test('works in a hidden thread below the one that started it; its usage is counted apart, once', async () => {
    const storage = new MemoryStore()
    const { bench } = benchOf(
      [
        { toolCalls: [call('c1', 'Look.')], usage: USAGE },
        { text: 'Done.', usage: USAGE },
      ],
      [{ text: 'Seen.', usage: USAGE }],
      { config: { storage } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const { session } = bench.harness
    const threadId = session.thread.requireId()
    assert.equal((await session.thread.list()).length, 1)
    const { items } = await storage.listThreads({ limit: 10, includeHidden: true })
    const child = items.find(({ id }) => id !== threadId)
    assert.deepEqual([child?.parent, child?.root, child?.parentCall, child?.hidden], [threadId, threadId, 'c1', true])
    const ended = await storage.latestRecord(rootLineage(threadId), 'child.ended', 1_000)
    assert.ok(ended?.body.type === 'child.ended')
    const { outcome, thread, usage } = ended.body
    assert.deepEqual([thread, outcome, usage?.totalTokens, usage?.scope], [child?.id, 'complete', 15, 'subagents'])
    assert.deepEqual(
      bench.all('usage_update').map(({ usage }) => usage.totalTokens),
      [15, 15, 15],
    )
    assert.equal(session.displayState.get().tokenUsage.totalTokens, 30, 'its own usage')
  })

  test('several work at the same time, each with its own events', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'One.'), call('c2', 'Two.')] }, { text: 'Done.' }],
      [{ text: 'Seen.', repeat: 2 }],
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      bench.all('subagent_start').map(({ task, toolCallId }) => [toolCallId, task]),
      [
        ['c1', 'One.'],
        ['c2', 'Two.'],
      ],
    )
    const types = subagentEvents(bench).map(({ type }) => type)
    assert.deepEqual(types.slice(0, 2), ['subagent_start', 'subagent_start'], 'the second does not wait for the first')
    assert.deepEqual(
      bench.all('subagent_end').map(({ result }) => result),
      ['Seen.', 'Seen.'],
    )
  })

  test('is shown in the display state while it works', async () => {
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }], [{ text: 'Half', hang: true }])
    await using _ = bench
    const heard = bench.next('subagent_text_delta')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await heard
    const shown = bench.harness.session.displayState.get().activeSubagents.get('c1')
    assert.deepEqual(
      [shown?.agentType, shown?.displayName, shown?.task, shown?.modelId, shown?.textDelta, shown?.status],
      ['explore', 'Explorer', 'Look.', 'test/small', 'Half', 'running'],
    )
    await bench.harness.session.abort()
    await sent
  })

  test('is aborted with the run that it works for, and its end is reported before that of the run', async () => {
    const storage = new MemoryStore()
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.')] }], [{ text: 'Half', hang: true }], {
      config: { storage },
    })
    const heard = bench.next('subagent_text_delta')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await heard
    await bench.harness.session.abort()
    await sent
    const types = bench.types()
    assert.ok(types.indexOf('subagent_end') < types.indexOf('agent_end'))
    const [end] = bench.all('subagent_end')
    assert.deepEqual([end?.isError, end?.result], [true, 'Half'])
    await bench.harness.destroy()
    const { items } = await storage.listThreads({ limit: 10, includeHidden: true })
    const child = items.find(({ parent }) => parent !== undefined)
    const ended = await storage.latestRecord(rootLineage(child?.id ?? ''), 'run.ended', 1_000)
    assert.ok(ended?.body.type === 'run.ended' && ended.body.outcome === 'aborted')
  })

  test('that fails is an error for the model, with the reason', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }],
      [{ error: { status: 400, message: 'No such thing.' } }],
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const [end] = bench.all('subagent_end')
    assert.ok(end?.isError === true && end.result.includes('did not finish'))
    assert.equal(bench.all('tool_end')[0]?.isError, true)
  })

  test('finds the request context of the message in its tools', async () => {
    const journal: unknown[] = []
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Paint.')] }, { text: 'Done.' }],
      [{ toolCalls: [{ id: 'p', name: 'paint' }] }, { text: 'Painted.' }],
      { definition: { tools: { paint: paint(journal) } }, config: { initialState: { yolo: true } } },
    )
    await using _ = bench
    const colour = { of: () => 'red' }
    await bench.harness.sendMessage({ content: 'Go.', requestContext: { colour } })
    assert.deepEqual(journal, [colour])
  })

  test('can be any agent', async () => {
    const model = scriptedModel([{ text: 'I am another.' }])
    const agent = new Agent({ id: 'other', model, instructions: 'Be yourself.' })
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }], [], {
      definition: { agent, defaultModelId: undefined as never },
    })
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('subagent_end')[0]?.result, 'I am another.')
    assert.match(model.requestBodies[0] ?? '', /Be yourself\.\\n\\nOnly look\./)
  })
})

suite('the approval of a call of a subagent', () => {
  const script: Script = [{ toolCalls: [call('c1', 'Paint the door.')] }, { text: 'Done.' }]
  const work: Script = [{ toolCalls: [{ id: 'p', name: 'paint', input: { what: 'door' } }] }, { text: 'Over.' }]

  for (const [answer, painted] of [
    ['approve', 1],
    [{ approved: true }, 1],
    [{ approved: false, reason: 'Not red.' }, 0],
    ['maybe', 0],
  ] as const) {
    test(`is asked at the root, and ${JSON.stringify(answer)} counts as ${painted === 1 ? 'yes' : 'no'}`, async () => {
      const journal: unknown[] = []
      const { bench, worker } = benchOf(script, work, { definition: { tools: { paint: paint(journal) } } })
      await using _ = bench
      await bench.harness.sendMessage({ content: 'Go.' })
      const [asked] = bench.all('tool_suspended')
      assert.equal(asked?.toolCallId, 'c1')
      const { asked: what, agentType, asks, task } = (asked?.suspendPayload ?? {}) as Record<string, unknown>
      assert.deepEqual([agentType, asks, task], ['explore', 'approval', 'Paint the door.'])
      assert.deepEqual(what, { toolCallId: 'p', toolName: 'paint', args: { what: 'door' } })
      assert.equal(bench.all('subagent_end').length, 0)
      const over = bench.next('agent_end')
      await bench.harness.session.respondToToolSuspension({ toolCallId: 'c1', resumeData: answer })
      await over
      assert.equal(journal.length, painted)
      if (painted === 0) assert.match(worker.requestBodies[1] ?? '', /denied/)
      assert.deepEqual([bench.all('subagent_start').length, bench.all('subagent_end').length], [1, 1])
    })
  }

  test('is answered after a restart, and the call is carried out once', async () => {
    const storage = new MemoryStore()
    const journal: unknown[] = []
    const definition = { tools: { paint: paint(journal) } }
    const first = benchOf(script, work, { definition, config: { storage } })
    await first.bench.harness.sendMessage({ content: 'Go.', requestContext: { colour: 'red' } })
    assert.equal(first.bench.all('tool_suspended').length, 1)
    await first.bench.harness.destroy()
    const second = benchOf([{ text: 'Done.' }], [{ text: 'Over.' }], { definition, config: { storage } })
    await using bench = second.bench
    await bench.harness.selectOrCreateThread()
    const over = bench.next('agent_end')
    await bench.harness.session.respondToToolSuspension({ toolCallId: 'c1', resumeData: 'approve' })
    assert.equal((await over).reason, 'complete')
    assert.deepEqual(journal, ['red'])
    assert.equal(bench.all('subagent_end')[0]?.result, 'Over.')
  })

  test('is withdrawn when the run is aborted', async () => {
    const storage = new MemoryStore()
    const { bench } = benchOf(script, work, { definition: { tools: { paint: paint() } }, config: { storage } })
    await bench.harness.sendMessage({ content: 'Go.' })
    await bench.harness.session.abort()
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
      assert.equal(bench.all('tool_suspended').length, 0)
      assert.equal(journal.length, policy === 'allow' ? 1 : 0)
    }
  })
})

suite('the limits of subagents', () => {
  const nested = { allowedHarnessTools: ['subagent'] }

  test('they may be nested three deep', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c', 'Go down.')] }, { text: 'Done.' }],
      [
        { toolCalls: [call('d1', 'Further.')] },
        { toolCalls: [call('d2', 'Further.')] },
        { toolCalls: [call('d3', 'Further.')] },
        { text: 'Enough.', repeat: true },
      ],
      { definition: nested },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      bench.all('subagent_start').map(({ toolCallId }) => toolCallId),
      ['c', 'd1', 'd2'],
    )
    const refused = bench.all('subagent_tool_end').find(({ isError }) => isError)
    assert.match(JSON.stringify(refused?.subToolResult), /nested 3 deep/)
  })

  test('they spend from the budget of the run', async () => {
    const { bench, worker } = benchOf(
      [
        { toolCalls: [call('c1', 'Look.')], usage: USAGE },
        { text: 'Done.', usage: USAGE },
      ],
      [
        { toolCalls: [{ id: 'l', name: 'look' }], usage: { inputTokens: 50, outputTokens: 50 } },
        { text: 'Seen.', usage: USAGE },
      ],
      {
        definition: { tools: { look } },
        config: { permissions: { tools: { look: 'allow' } }, modes: [{ id: 'build', budget: { tokens: 100 } }] },
      },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(worker.calls, 1, 'the subagent ends when its share is used up')
    assert.equal(bench.model.calls, 1, 'and so does the run')
    assert.match(JSON.stringify(bench.all('info').map(({ message }) => message)), /At the limit of 100 tokens/)
  })

  test('more at once than allowed are refused', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'One.'), call('c2', 'Two.')] }, { text: 'Done.' }],
      [{ text: 'Seen.', repeat: 2 }],
      { config: { subagentLimits: { concurrent: 1 } } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('subagent_start').length, 1)
    assert.ok(bench.all('tool_end').some(({ result }) => /which is the limit/.test(JSON.stringify(result))))
  })
})
