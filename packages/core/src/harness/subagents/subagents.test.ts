import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Agent, createTool, stepCountIs } from '@inspan/agent'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { rootLineage } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel, type ScriptedModel } from '@inspan/testing'
import type { HarnessBench } from '../harness.fixture.ts'
import { childNoteOf } from './child-note.ts'
import { benchOf, call, look, paint, USAGE } from './subagent-bench.fixture.ts'

/** The tools that were offered in the first request. */
function toolsOf({ requests: [first] }: ScriptedModel): readonly { readonly name?: string }[] {
  const tools = first?.['tools']
  return Array.isArray(tools) ? tools : []
}

function subagentEvents({ events }: HarnessBench): HarnessEvent[] {
  return events.filter(({ type }) => type.startsWith('subagent_'))
}

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

  test('works in the workspace with the tools that its definition allows, by the names they are offered under', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'inspan-subagent-'))
    t.after(() => rm(root, { recursive: true }))
    await writeFile(join(root, 'a.txt'), 'a door')
    const { bench, worker } = benchOf(
      [{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }],
      [{ toolCalls: [{ id: 'v', name: 'view', input: { path: 'a.txt' } }] }, { text: 'Seen.' }],
      {
        definition: { allowedWorkspaceTools: ['view', 'grep', 'write_file'] },
        config: {
          workspace: { root, tools: { read_file: { name: 'view' }, write_file: { name: 'put' } } },
          permissions: { categories: { read: 'allow' } },
        },
      },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      toolsOf(worker).map(({ name }) => name),
      ['view', 'grep'],
    )
    assert.equal(bench.all('subagent_tool_end')[0]?.subToolResult, 'a door')
  })

  for (const [what, definition, steps] of [
    ['fifty', {}, 50],
    ['as many as its definition says', { maxSteps: 3 }, 3],
    ['as many as its condition allows', { stopWhen: stepCountIs(2) }, 2],
  ] as const) {
    test(`takes ${what} steps at most`, async () => {
      const again = { toolCalls: [{ name: 'look' }] }
      const { bench, worker } = benchOf(
        [{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }],
        [{ ...again, repeat: true }],
        { definition: { tools: { look }, ...definition }, config: { permissions: { tools: { look: 'allow' } } } },
      )
      await using _ = bench
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.equal(worker.calls, steps)
      assert.equal(bench.all('subagent_end').length, 1)
      assert.equal(bench.all('agent_end')[0]?.reason, 'complete')
    })
  }

  test('does not exist without definitions, or when its tool is disabled', async () => {
    for (const config of [{ subagents: [] }, { disableBuiltinTools: ['subagent'] as const }]) {
      const { bench } = benchOf([{ text: 'Hi.' }], [], { config })
      await using _ = bench
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.ok(!toolsOf(bench.model).some(({ name }) => name === 'subagent'))
    }
  })

  test('works in a hidden thread below the one that started it; its usage is counted apart, once, and in total', async () => {
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
    assert.equal(session.getTokenUsage().totalTokens, 30)
    assert.equal(session.getTokenUsage({ includeSubagents: true }).totalTokens, 45, 'and in total')
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

  test('is shown below the one that started it, where that is a subagent', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Go down.')] }, { text: 'Done.' }],
      [{ toolCalls: [call('d1', 'Look.')] }, { text: 'Half', hang: true }],
      { definition: { allowedHarnessTools: ['subagent'] } },
    )
    await using _ = bench
    const heard = bench.next('subagent_text_delta')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await heard
    const { activeSubagents } = bench.harness.session.displayState.get()
    assert.deepEqual(
      [...activeSubagents].map(([id, { parentToolCallId, status, task, textDelta }]) => ({
        id,
        parentToolCallId,
        status,
        task,
        textDelta,
      })),
      [
        { id: 'c1', parentToolCallId: undefined, status: 'running', task: 'Go down.', textDelta: '' },
        { id: 'c1/d1', parentToolCallId: 'c1', status: 'running', task: 'Look.', textDelta: 'Half' },
      ],
    )
    await bench.harness.session.abort()
    await sent
  })

  test('has an entry of its own in the display, also if its call has the id of another', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('same', 'Go down.')] }, { text: 'Done.' }],
      [
        { toolCalls: [call('same', 'Further.')] },
        { toolCalls: [call('same', 'Look.')] },
        { text: 'Seen.' },
        { text: 'Told.' },
        { text: 'Passed on.' },
      ],
      { definition: { allowedHarnessTools: ['subagent'] } },
    )
    await using _ = bench
    let shown: unknown
    bench.harness.session.subscribe(({ type }) => {
      if (type !== 'subagent_end') return
      const { activeSubagents } = bench.harness.session.displayState.get()
      shown = [...activeSubagents].map(([id, { status, task, textDelta }]) => [id, task, status, textDelta])
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(shown, [
      ['same', 'Go down.', 'completed', 'Passed on.'],
      ['same/same', 'Further.', 'completed', 'Told.'],
      ['same/same/same', 'Look.', 'completed', 'Seen.'],
    ])
    assert.deepEqual(
      bench.all('subagent_end').map(({ parentToolCallId, result }) => [parentToolCallId, result]),
      [
        ['same/same', 'Seen.'],
        ['same', 'Told.'],
        [undefined, 'Passed on.'],
      ],
    )
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

  test('a subagent that fails is an error for the model, with the reason', async () => {
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

suite('while a subagent works', () => {
  test('the run that called it is parked on a wait of kind child, and continues with its end', async () => {
    const storage = new MemoryStore()
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }], [{ text: 'Seen.' }], {
      config: { storage },
    })
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const threadId = bench.harness.session.thread.requireId()
    const { items } = await storage.listWaits({ stream: threadId, limit: 10 })
    assert.deepEqual(
      items.map(({ state, wait }) => [wait.kind, state]),
      [['child', 'answered']],
    )
    const { items: records } = await storage.readRecords(threadId, { limit: 1000 })
    const types = new Set(records.map(({ body }) => body.type))
    assert.ok(types.has('run.parked') && types.has('run.resumed'))
    assert.deepEqual(
      bench.types().filter((type) => type === 'agent_start' || type === 'agent_end' || type === 'tool_suspended'),
      ['agent_start', 'agent_end'],
      'listeners see a run at work',
    )
  })

  test('a message is delivered by the same run, once the subagent has ended', async () => {
    const gate = Promise.withResolvers<string>()
    const wait = createTool({ id: 'wait', description: 'Waits.', category: 'read', execute: () => gate.promise })
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }],
      [{ toolCalls: [{ id: 'w', name: 'wait' }] }, { text: 'Seen.' }],
      { definition: { tools: { wait } }, config: { permissions: { tools: { wait: 'allow' } } } },
    )
    await using _ = bench
    const working = bench.next('subagent_tool_start')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await working
    const steered = bench.harness.sendMessage({ content: 'Be quick.' })
    await bench.next('info')
    gate.resolve('waited')
    await Promise.all([sent, steered])
    assert.equal(bench.model.calls, 2)
    assert.match(bench.model.requestBodies[1] ?? '', /Seen\..*Be quick\./)
  })

  test('destroying the harness interrupts both, and nothing starts by itself afterwards', async () => {
    const storage = new MemoryStore()
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.')] }], [{ text: 'Half', hang: true }], {
      config: { storage },
    })
    const heard = bench.next('subagent_text_delta')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await heard
    await bench.harness.destroy()
    await sent
    const second = benchOf([], [], { config: { storage } })
    await using again = second.bench
    await again.harness.selectOrCreateThread()
    assert.deepEqual([again.model.calls, second.worker.calls], [0, 0])
    assert.equal(again.harness.session.run.getRunId(), null)
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
      bench.all('subagent_start').map(({ parentToolCallId, toolCallId }) => [toolCallId, parentToolCallId]),
      [
        ['c', undefined],
        ['d1', 'c'],
        ['d2', 'c/d1'],
      ],
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

  test('several at once share what is left of the budget, and so do theirs', async () => {
    const used = { inputTokens: 10, outputTokens: 10 }
    const store = new MemoryStore()
    const { bench, worker } = benchOf(
      [
        { toolCalls: [call('c1', 'One.'), call('c2', 'Two.')], usage: used },
        { text: 'Done.', usage: used },
      ],
      [{ toolCalls: [call('d1', 'Below.')], usage: used, repeat: true }],
      { definition: nested, config: { modes: [{ id: 'build', budget: { tokens: 100 } }], storage: store } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const { items } = await store.listThreads({ limit: 20, includeHidden: true })
    const shares = items.flatMap(({ metadata }) => childNoteOf(metadata)?.budget?.tokens ?? [])
    // The first step leaves 80, 40 for each; what their first steps leave of these goes to their own subagents.
    assert.deepEqual(
      shares.toSorted((a, b) => a - b),
      [20, 20, 40, 40],
    )
    assert.deepEqual([bench.model.calls, worker.calls], [1, 4])
    assert.equal(bench.harness.session.getTokenUsage({ includeSubagents: true }).totalTokens, 100)
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

  test('those of a subagent count against the same number', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Go down.')] }, { text: 'Done.' }],
      [{ toolCalls: [call('d1', 'Further.')] }, { text: 'Alone, then.' }],
      { definition: nested, config: { subagentLimits: { concurrent: 1 } } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('subagent_start').length, 1)
    assert.match(JSON.stringify(bench.all('subagent_tool_end')[0]?.subToolResult), /which is the limit/)
  })
})
