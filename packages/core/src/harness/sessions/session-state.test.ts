import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { z } from 'zod'
import { splitState } from './control-keys.ts'
import type { StateShape } from '../harness-config.ts'
import { HarnessBench } from '../harness.fixture.ts'
import type { HarnessRequestContext } from '../agents/request-context.ts'

const schema = z.object({
  name: z.string().optional(),
  count: z.number().default(3),
  look: z.object({ dark: z.boolean().default(true) }).optional(),
})

suite('the state of a session', () => {
  test('starts with the defaults of its schema and what it was given', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], {
      stateSchema: schema,
      initialState: { name: 'A' },
    })
    assert.deepEqual(bench.harness.session.state.get(), { name: 'A', count: 3, look: { dark: true } })
  })

  test('given values have to fit the schema', () => {
    assert.throws(
      () => new HarnessBench([], { stateSchema: schema, initialState: { count: 'many' } as never }),
      (error) => InspanError.is(error, 'invalid-input'),
    )
  })

  test('an update that does not fit changes nothing, and reports that', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    const { state } = bench.harness.session
    await assert.rejects(state.set({ count: 'many' } as never), /Invalid state update: count: /)
    await assert.rejects(state.set({ colour: 'red' } as never), /does not know "colour"/)
    assert.equal(state.get().count, 3)
    assert.equal(bench.all('state_changed').length, 0)
  })

  test('a schema that makes something else of values is given what was set, not what it made of it', async () => {
    const changing = z.object({
      amount: z.string().transform(Number),
      word: z.string().transform((word) => `${word}!`),
      note: z.string().optional(),
    })
    const storage = new MemoryStore()
    const config = { storage, stateSchema: changing, initialState: { amount: '5', word: 'hey' } as never }
    const first = new HarnessBench<z.infer<typeof changing>>([], config)
    const { state } = await first.harness.createSession({ id: 'one' })
    await state.set({ note: 'first' })
    await state.set({ note: 'second' })
    assert.deepEqual(state.get(), { amount: 5, word: 'hey!', note: 'second' })
    await state.set({ amount: '7' } as never)
    await first.harness.destroy()
    await using second = new HarnessBench<z.infer<typeof changing>>([], config)
    const again = await second.harness.createSession({ id: 'one' })
    assert.deepEqual(again.state.get(), { amount: 7, word: 'hey!', note: 'second' })
    await again.state.set({ note: 'third' })
    assert.deepEqual(again.state.get(), { amount: 7, word: 'hey!', note: 'third' })
  })

  test('state that no longer fits the schema after a restart is still there', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    await (await first.harness.createSession({ id: 'one' })).state.set({ count: 'many', name: 'A' })
    await first.harness.destroy()
    await using second = new HarnessBench<z.infer<typeof schema>>([], { storage, stateSchema: schema })
    const { state } = await second.harness.createSession({ id: 'one' })
    assert.deepEqual(state.get(), { count: 'many', name: 'A', look: { dark: true } })
    await state.set({ count: 4 })
    assert.deepEqual(state.get(), { count: 4, name: 'A', look: { dark: true } })
  })

  test('a change is reported, with what changed', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    await bench.harness.session.state.set({ name: 'B', count: 3 })
    assert.deepEqual(bench.all('state_changed'), [
      { type: 'state_changed', state: { name: 'B', count: 3, look: { dark: true } }, changedKeys: ['name'] },
    ])
  })

  test('an update that changes nothing is not reported', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    await bench.harness.session.state.set({ count: 3, look: { dark: true } })
    await bench.harness.session.state.set({})
    assert.deepEqual(bench.all('state_changed'), [])
  })

  test('a refused update changes nothing, not even keys of the harness', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    const { permissions, state } = bench.harness.session
    const refused = { yolo: true, permissionRules: { tools: { rm: 'allow' } }, count: 'many' } as never
    await assert.rejects(state.set(refused), /Invalid state update: count: /)
    await assert.rejects(state.set({ yolo: true, colour: 'red' } as never), /does not know "colour"/)
    assert.equal(permissions.isYolo(), false)
    assert.equal(permissions.getRules().tools['rm'], undefined)
  })

  test('changes are made one after the other', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    const { state } = bench.harness.session
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        state.update(async ({ count }) => {
          await Promise.resolve()
          return { updates: { count: count + 1 }, result: count }
        }),
      ),
    )
    assert.deepEqual(
      results,
      Array.from({ length: 20 }, (_, i) => i + 3),
    )
    assert.equal(state.get().count, 23)
  })

  test('events of an update come after the change', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    await bench.harness.session.state.update(() => ({
      updates: { count: 4 },
      events: [{ type: 'info', message: 'counted' }],
      result: undefined,
    }))
    assert.deepEqual(bench.types(), ['state_changed', 'info'])
  })

  test('the state is returned as a copy', async () => {
    await using bench = new HarnessBench<z.infer<typeof schema>>([], { stateSchema: schema })
    const { state } = bench.harness.session
    state.get().count = 99
    assert.equal(state.get().count, 3)
  })

  test('is nobody else’s: what was given or got may be changed, and counts when it is set', async () => {
    await using bench = new HarnessBench([])
    const { state } = bench.harness.session
    class Handle {
      isOpen = true
    }
    const handle = new Handle()
    const list = [{ name: 'one' }]
    await state.set({ list, handle, when: new Date(0) })
    list.push({ name: 'two' })
    const got = state.get() as { list: { name: string }[] }
    assert.deepEqual(got.list, [{ name: 'one' }])
    got.list.push({ name: 'three' })
    assert.deepEqual(state.get()['list'], [{ name: 'one' }])
    await state.set({ list: got.list })
    assert.deepEqual(bench.all('state_changed').at(-1)?.changedKeys, ['list'])
    assert.deepEqual(state.get()['list'], [{ name: 'one' }, { name: 'three' }])
    assert.equal(state.get()['handle'], handle, 'what has a class of its own is no data')
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    await state.set({ loop })
    const copy = state.get()['loop'] as typeof loop
    assert.equal(copy['self'], copy)
    assert.notEqual(copy, loop)
  })

  test('tools read and change it, and find what the caller passed along', async () => {
    const seen: unknown[] = []
    const note = createTool({
      id: 'note',
      description: 'Notes.',
      execute: async (_input, { requestContext }) => {
        const harness = requestContext.get('harness') as HarnessRequestContext
        await harness.setState({ count: 7 })
        seen.push(requestContext.get('user'), requestContext.get('service'), harness.session.modeId, harness.threadId)
        harness.emitEvent({ type: 'info', message: 'noted' })
        return 'ok'
      },
    })
    await using bench = new HarnessBench<z.infer<typeof schema>>(
      [{ toolCalls: [{ name: 'note' }] }, { text: 'Done.' }],
      {
        stateSchema: schema,
        tools: { note },
        permissions: { tools: { note: 'allow' } },
      },
    )
    const service = (): void => undefined
    await bench.harness.sendMessage({ content: 'Go', requestContext: { user: 'ada', service } })
    assert.deepEqual(seen, ['ada', service, 'build', bench.harness.session.thread.getId()])
    assert.equal(bench.harness.session.state.get().count, 7)
    assert.match(bench.all('info')[0]?.message ?? '', /service/)
    assert.equal(bench.all('info')[1]?.message, 'noted')
  })
})

suite('what the state shows of the harness', () => {
  const strict = z.strictObject({ name: z.string().optional() })
  const said = {
    permissionRules: { categories: { execute: 'ask' }, tools: { rm: 'deny' } },
    observerModelId: 'x/observer',
    reflectorModelId: 'x/reflector',
    observationThreshold: 1000,
    reflectionThreshold: 2000,
    subagentModelId: 'x/any',
    subagentModelId_explore: 'x/explorer',
  } as const

  test('is recognised by its names alone, whatever the others are called', () => {
    const { own } = splitState(JSON.parse('{"__proto__":{"isAdmin":true},"name":"a","yolo":true}') as StateShape)
    assert.equal('isAdmin' in own, false)
    assert.deepEqual(Object.keys(own), ['__proto__', 'name'])
  })

  function assertHeard({ session }: HarnessBench['harness']): void {
    const { categories, tools } = session.permissions.getRules()
    assert.deepEqual([categories.execute, tools['rm']], ['ask', 'deny'])
    const { observer, reflector } = session.om
    assert.deepEqual([observer.modelId(), observer.threshold()], ['x/observer', 1000])
    assert.deepEqual([reflector.modelId(), reflector.threshold()], ['x/reflector', 2000])
    assert.equal(session.subagents.model.get(), 'x/any')
    assert.equal(session.subagents.model.get({ agentType: 'explore' }), 'x/explorer')
    assert.deepEqual(session.state.get(), { name: 'A' })
  }

  for (const when of ['without a thread', 'with one'] as const) {
    test(`counts when it is set ${when}, whatever the schema knows`, async () => {
      await using bench = new HarnessBench([], { stateSchema: strict })
      if (when === 'with one') await bench.harness.createThread()
      await bench.harness.session.state.set({ ...said, name: 'A' })
      assertHeard(bench.harness)
      await bench.harness.createThread()
      assert.equal(bench.harness.session.permissions.getRules().tools['rm'], 'deny')
      assert.equal(bench.all('om_model_changed').length, 2)
      assert.equal(bench.all('subagent_model_changed').length, 2)
    })
  }

  test('counts when it is in the first state, in the thread that follows too', async () => {
    await using bench = new HarnessBench([], { stateSchema: strict, initialState: { ...said, name: 'A' } })
    assertHeard(bench.harness)
    await bench.harness.createThread()
    assertHeard(bench.harness)
  })

  test('a deny of the harness stays one, whatever the first state allows', async () => {
    await using bench = new HarnessBench([], {
      permissions: { tools: { rm: 'deny' } },
      initialState: { permissionRules: { tools: { rm: 'allow' } } },
    })
    assert.equal(bench.harness.session.permissions.getRules().tools['rm'], 'deny')
  })

  for (const [key, value] of Object.entries({
    yolo: 'yes',
    permissionRules: { tools: { rm: 'never' } },
    observationThreshold: '1000',
    reflectionThreshold: -1,
    observerModelId: 5,
    subagentModelId: '',
  })) {
    test(`${key} that cannot be meant is refused`, async () => {
      await using bench = new HarnessBench([])
      await assert.rejects(bench.harness.session.state.set({ [key]: value }), (error) =>
        InspanError.is(error, 'invalid-input'),
      )
      assert.throws(
        () => new HarnessBench([], { initialState: { [key]: value } }),
        (error) => InspanError.is(error, 'invalid-input'),
      )
    })
  }
})

test('a state that is nested too deeply is refused, whoever gives it', async () => {
  await using bench = new HarnessBench([])
  const { state } = bench.harness.session
  const nested = (depth: number): unknown => {
    let value: unknown = 'end'
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
    return value
  }
  const isRefused = (error: unknown): boolean =>
    InspanError.is(error, 'invalid-input') && /more than 500 levels deep/.test(error.message)
  await state.set({ deep: nested(400) })
  for (const depth of [600, 5_000, 200_000]) {
    await assert.rejects(state.set({ deep: nested(depth) }), isRefused)
    await assert.rejects(
      state.update(() => ({ updates: { deep: nested(depth) }, result: 0 })),
      isRefused,
    )
    assert.throws(() => new HarnessBench([], { initialState: { deep: nested(depth) } }), isRefused)
  }
  assert.deepEqual(state.get(), { deep: nested(400) })
})
