/** Programs written for another harness of this shape rely on these details. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Agent, createTool, RequestContext } from '@inspan/agent'
import { Memory } from '@inspan/memory'
import { InspanError } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { Workspace } from '@inspan/tools'
import type { HarnessRequestContext } from './agents/request-context.ts'
import { HarnessBench } from './harness.fixture.ts'
import { Harness } from './harness.ts'

const context = { threadId: 't', runId: 'r', turnId: 'u', requestContext: new RequestContext() }
const tool = (id: string) => createTool({ id, description: `${id}.`, execute: () => id })

suite('the model of an agent', () => {
  test('is what its function returns, also in a mode with a default model; it can read the choice', async () => {
    const model = scriptedModel([{ text: 'Yes.', repeat: true }])
    const chosen: string[] = []
    const agent = new Agent({
      id: 'dynamic',
      model: ({ requestContext }) => {
        chosen.push((requestContext.get('harness') as HarnessRequestContext).session.modelId)
        return model
      },
    })
    const harness = new Harness({ id: 'h', agent, modes: [{ id: 'a', defaultModelId: 'x/none' }] })
    await harness.sendMessage({ content: 'Hi' })
    await harness.session.model.switch({ modelId: 'x/other' })
    await harness.sendMessage({ content: 'Hi' })
    assert.deepEqual([model.calls, chosen], [2, ['x/none', 'x/other']])
    await harness.destroy()
  })

  test('the model of an agent that is fixed gives way to a choice', async () => {
    const fixed = scriptedModel([{ text: 'Fixed.' }])
    const other = scriptedModel([{ text: 'Chosen.' }])
    await using bench = new HarnessBench([], { resolveModel: () => other }, { model: fixed })
    await bench.harness.session.model.switch({ modelId: 'x/other' })
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual([fixed.calls, other.calls], [0, 1])
  })
})

suite('stateSchema', () => {
  const json = {
    type: 'object',
    properties: { theme: { type: 'string', default: 'dark' }, size: { type: 'number' } },
    additionalProperties: false,
  }
  const standard = {
    '~standard': { version: 1, vendor: 'mine', jsonSchema: { input: () => json, output: () => json } },
  }
  for (const [what, stateSchema] of [
    ['a plain JSON Schema', json],
    ['a StandardJSONSchemaV1 without validate', standard],
  ] as const) {
    test(`may be ${what}: defaults and checks come from it`, async () => {
      await using bench = new HarnessBench([], { stateSchema: stateSchema as never })
      const { state } = bench.harness.session
      assert.deepEqual(state.get(), { theme: 'dark' })
      await state.set({ size: 3 })
      await assert.rejects(state.set({ size: 'big' }), (error) => InspanError.is(error, 'invalid-input'))
      await assert.rejects(state.set({ colour: 'red' }), (error) => InspanError.is(error, 'invalid-input'))
      assert.deepEqual(state.get(), { theme: 'dark', size: 3 })
      const initialState = { size: 'big' } as never
      assert.throws(() => new HarnessBench([], { stateSchema: stateSchema as never, initialState }), /Invalid state/)
    })
  }
})

suite('signals', () => {
  test('a system reminder keeps its type and path', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.', repeat: true }])
    const { harness } = bench
    for (const more of [
      { attributes: { type: 'rules', path: 'src/AGENTS.md' } },
      { metadata: { reminderType: 'rules', path: 'src/AGENTS.md' } },
      { attributes: { reminderType: 'rules', path: 'src/AGENTS.md' } },
    ]) {
      await harness.sendSignal({ type: 'system-reminder', contents: 'Mind the rules.', ...more }).accepted
      const { message, path, reminderType } = bench.all('system_reminder').at(-1) ?? {}
      assert.deepEqual([message, reminderType, path], ['Mind the rules.', 'rules', 'src/AGENTS.md'])
    }
  })

  test('take `data:` files as messages do', async () => {
    const files = [
      { data: 'data:image/png;base64,aGk=', mediaType: 'image/png', filename: 'a.png' },
      { data: 'data:text/plain,one%20two', mediaType: 'text/plain', filename: 'a.txt' },
      { data: new Uint8Array([104, 105]), mediaType: 'application/pdf' },
    ]
    await using bench = new HarnessBench([{ text: 'Yes.', repeat: true }])
    const { harness } = bench
    await harness.sendMessage({ content: 'Look', files })
    const contents = [
      { type: 'text', text: 'Look' } as const,
      ...files.map((file) => ({ type: 'file' as const, ...file })),
    ]
    await harness.sendSignal({ type: 'user', contents }).accepted
    const [message, , signal] = await harness.session.thread.listActiveMessages()
    assert.deepEqual(signal?.content, message?.content)
    assert.deepEqual(signal?.content[1], { type: 'image', data: 'aGk=', mimeType: 'image/png' })
  })

  test('a notification is also returned as record and decision', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    const sent = await bench.harness.sendNotificationSignal({ source: 'ci', kind: 'status', summary: 'Red.' })
    assert.equal(sent.record, sent.notification)
    assert.deepEqual([sent.decision.action, sent.record.threadId], [sent.action, bench.harness.session.thread.getId()])
  })
})

suite('permissions.getRules', () => {
  test('shows what was set, and nothing about built-in tools', async () => {
    await using bench = new HarnessBench([], { permissions: { tools: { rm: 'deny' } } })
    const { permissions } = bench.harness.session
    assert.deepEqual(permissions.getRules(), { categories: {}, tools: { rm: 'deny' }, patterns: [] })
    await permissions.setForTool({ toolName: 'ask_user', policy: 'ask' })
    await permissions.setForCategory({ category: 'edit', policy: 'allow' })
    assert.deepEqual(permissions.getRules(), {
      categories: { edit: 'allow' },
      tools: { rm: 'deny', ask_user: 'ask' },
      patterns: [],
    })
  })
})

suite('getCurrentAgent', () => {
  test('is the same object for the same mode, with what the agent has there', async () => {
    const memory = new Memory({})
    const workspace = { id: 'ws', init: () => undefined }
    await using bench = new HarnessBench(
      [],
      {
        instructions: 'Of the harness.',
        tools: { shared: tool('shared') },
        modes: [
          { id: 'plan', instructions: 'Of the mode.', tools: { only: tool('only') } },
          { id: 'build', additionalTools: { more: tool('more') } },
        ],
        memory,
        workspace,
      },
      { instructions: 'Own.', tools: { own: tool('own') } },
    )
    const { harness } = bench
    const planner = harness.getCurrentAgent()
    assert.equal(harness.getCurrentAgent(), planner)
    assert.ok(planner instanceof Agent)
    assert.equal(await planner.instructions(context), 'Own.\n\nOf the harness.\n\nOf the mode.')
    assert.deepEqual(
      (await planner.tools(context)).map(({ name }) => name),
      ['only', 'shared'],
    )
    assert.deepEqual([planner.options.memory, planner.options.workspace], [memory, workspace])
    await harness.session.mode.switch({ modeId: 'build' })
    const builder = harness.getCurrentAgent()
    assert.ok(builder instanceof Agent && builder !== planner)
    assert.equal(await builder.instructions(context), 'Own.\n\nOf the harness.')
    assert.deepEqual(
      (await builder.tools(context)).map(({ name }) => name),
      ['more', 'own', 'shared'],
    )
    await harness.session.mode.switch({ modeId: 'plan' })
    assert.equal(harness.getCurrentAgent(), planner)
  })
})

suite('an agent', () => {
  test('may have a name only', async () => {
    const model = scriptedModel([{ text: 'Yes.' }])
    const agent = new Agent({ name: 'test-agent', model })
    assert.deepEqual([agent.id, agent.name], ['test-agent', 'test-agent'])
    const harness = new Harness({ id: 'h', agent, modes: [{ id: 'a' }] })
    await harness.sendMessage({ content: 'Hi' })
    assert.equal(model.calls, 1)
    await harness.destroy()
  })

  test('works in its own workspace rather than in that of the harness', async () => {
    const [ours, theirs] = await Promise.all([folder('harness'), folder('agent')])
    const call = { toolCalls: [{ name: 'read_file', input: { path: 'who.txt' } }] }
    await using bench = new HarnessBench(
      [call, { text: 'Read.' }],
      { workspace: new Workspace({ root: ours }), permissions: { categories: { read: 'allow' } } },
      { workspace: new Workspace({ root: theirs }) },
    )
    await bench.harness.sendMessage({ content: 'Who?' })
    const [{ isError, result } = {}] = bench.all('tool_end')
    assert.equal(isError, false)
    assert.match(JSON.stringify(result), /agent/)
    assert.doesNotMatch(JSON.stringify(result), /harness/)
    await Promise.all([ours, theirs].map((path) => rm(path, { recursive: true })))
  })

  test('has its own memory rather than that of the harness', async () => {
    const summary = (text: string) => scriptedModel([{ text, repeat: true }])
    const of = (text: string) => new Memory({ compaction: { model: summary(text) } })
    const [own, shared] = [of('Own summary.'), of('Shared summary.')]
    await using bench = new HarnessBench([{ text: 'Yes.', repeat: true }], { memory: shared }, { memory: own })
    const { harness } = bench
    assert.equal(await harness.getResolvedMemory(), own)
    for (const content of ['One', 'Two', 'Three']) await harness.sendMessage({ content })
    const compacted = await own.compact(harness.session.thread.requireId())
    assert.equal(compacted.isDone, true)
    await harness.sendMessage({ content: 'Four' })
    assert.match(JSON.stringify(bench.model.requests.at(-1)), /Own summary\./)
  })
})

suite('the rest of the page', () => {
  test('tokenUsage always has its fields', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    const fields = ['promptTokens', 'completionTokens', 'totalTokens', 'reasoningTokens']
    const names = [...fields, 'cachedInputTokens', 'cacheCreationInputTokens']
    assert.deepEqual(Object.keys(bench.harness.session.getTokenUsage()), names)
    await bench.harness.sendMessage({ content: 'Hi' })
    const { tokenUsage } = bench.harness.session.displayState.get()
    const [update] = bench.all('usage_update')
    for (const usage of [tokenUsage, update?.usage ?? {}]) {
      assert.deepEqual(Object.keys(usage), names)
      for (const value of Object.values(usage)) assert.equal(typeof value, 'number')
    }
  })

  test('a thread without a title has an empty one', async () => {
    await using bench = new HarnessBench([])
    assert.equal((await bench.harness.createThread()).title, '')
    assert.deepEqual(
      (await bench.harness.session.thread.list()).map(({ title }) => title),
      [''],
    )
  })

  test('resolveWorkspace() makes a workspace once; a request context makes one for that request', async () => {
    let count = 0
    await using bench = new HarnessBench([], { workspace: () => ({ id: String(++count) }) })
    const { harness } = bench
    const made = await harness.resolveWorkspace()
    assert.equal(await harness.resolveWorkspace(), made)
    assert.equal(harness.getWorkspace(), made)
    assert.equal((await harness.resolveWorkspace({ requestContext: { user: 'ada' } }))?.id, '2')
    assert.equal(count, 2)
  })

  test('model.set and mode.set can be read at once, in the order they were made', async () => {
    const modes = [{ id: 'a' }, { id: 'b' }]
    await using bench = new HarnessBench([], { modes })
    const { mode, model, thread } = bench.harness.session
    for (const isBound of [false, true]) {
      if (isBound) await thread.create()
      const one = model.set({ modelId: 'x/one' })
      assert.equal(model.get(), 'x/one')
      const moved = mode.set({ modeId: 'b' })
      assert.deepEqual([mode.get(), mode.resolve().id], ['b', 'b'])
      const two = model.set({ modelId: 'x/two' })
      assert.equal(model.get(), 'x/two')
      await Promise.all([one, moved, two])
      assert.deepEqual([mode.get(), model.get()], ['b', 'x/two'])
      assert.equal(model.resolveForMode({ modeId: 'a' }), 'x/one', 'the mode that was left remembers its own')
      await mode.set({ modeId: 'a' })
      assert.equal(model.get(), 'x/one')
    }
    const refused = mode.set({ modeId: 'none' })
    assert.equal(mode.get(), 'a')
    await assert.rejects(refused)
  })

  test('om.*.resolvedModel() is there at once if resolveModel is synchronous', async () => {
    const model = scriptedModel([])
    await using bench = new HarnessBench([], {
      resolveModel: () => model,
      omConfig: { defaultObserverModelId: 'x/observer' },
    })
    const { observer, reflector } = bench.harness.session.om
    assert.equal(observer.resolvedModel(), model)
    assert.equal(reflector.resolvedModel(), undefined)
  })
})

async function folder(who: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'inspan-'))
  await writeFile(join(path, 'who.txt'), who)
  return path
}
