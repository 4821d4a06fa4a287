import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError, NO_RULES, type Answer } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { DESCRIBE_WITHIN_MS } from '../turns/time-limits.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread, forkThread } from '../threads/threads.ts'
import { readResourceGrants } from './resource-grants.ts'

/** Threads of one store whose agent calls a tool without any rule or grant. */
class Office implements AsyncDisposable {
  readonly store: Store
  readonly journal: string[] = []
  readonly #left: ThreadRuntime[] = []
  readonly #owners: ProcessOwner[] = []

  constructor(store: Store = new MemoryStore()) {
    this.store = store
  }

  async process(): Promise<ProcessOwner> {
    const owner = await ProcessOwner.register(this.store)
    this.#owners.push(owner)
    return owner
  }

  async open(
    owner: ProcessOwner,
    thread: string,
    { description = 'Deploys.', rules = NO_RULES } = {},
  ): Promise<ThreadRuntime> {
    const deploy: RunnableTool = {
      name: 'deploy',
      description,
      inputSchema: { type: 'object' },
      execute: async () => {
        this.journal.push(thread)
        return { result: 'out' }
      },
    }
    const script = [{ toolCalls: [{ name: 'deploy' }] }, { text: 'Done.' }]
    const driver = nativeDriver({ id: 'native', model: scriptedModel([...script, ...script, ...script]) })
    const policy = createPolicy({ rules })
    const agents = { native: { driver, tools: [deploy] } }
    const runtime = await ThreadRuntime.open({ store: this.store, owner, thread, agents, policy })
    this.#left.push(runtime)
    return runtime
  }

  /** Whether a call of the tool asks for approval. */
  async asks(runtime: ThreadRuntime): Promise<boolean> {
    await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Deploy.' }] })
    await runtime.idle()
    return runtime.state.head.waits.size > 0
  }

  /** Answers what a thread asks. */
  async answer(runtime: ThreadRuntime, answer: Answer): Promise<void> {
    const [wait] = [...runtime.state.head.waits]
    await runtime.answer(wait?.id ?? '', answer)
    await runtime.idle()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#left) await runtime.close()
    for (const owner of this.#owners) await owner.close()
    await this.store.close()
  }
}

suite('an "always" that was said in one thread', () => {
  test('holds there, also in another process, and neither in a fork nor in a thread of anybody else', async () => {
    await using office = new Office()
    const here = await office.process()
    await createThread(office.store, { id: 'mine', resourceId: 'ann' })
    await createThread(office.store, { id: 'mine-too', resourceId: 'ann' })
    await createThread(office.store, { id: 'of-another', resourceId: 'bob' })
    const mine = await office.open(here, 'mine')
    assert.equal(await office.asks(mine), true)
    const [wait] = [...mine.state.head.waits]
    await mine.answer(wait?.id ?? '', { decision: 'approve', remember: 'tool' })
    await mine.idle()
    assert.equal(await office.asks(mine), false)

    for (const other of ['mine-too', 'of-another']) {
      assert.equal(await office.asks(await office.open(here, other)), true, other)
    }
    const at = await boundaryAt(office.store, mine.state.head.lineage, mine.state.head.seq)
    await forkThread(office.store, here, mine.state, { id: 'fork', resourceId: 'ann', at })
    assert.equal(await office.asks(await office.open(here, 'fork')), true, 'fork')

    await mine.close()
    assert.equal(await office.asks(await office.open(await office.process(), 'mine')), false, 'it was stored so')
    assert.deepEqual(office.journal, ['mine', 'mine', 'mine'])
  })
})

const ALWAYS_HERE: Answer = { decision: 'approve', remember: 'tool', scope: 'resource' }

suite('an "always" for the whole resource', () => {
  /** Has said "always" in thread `first` of ann. */
  async function granted(): Promise<{
    readonly office: Office
    readonly here: ProcessOwner
    readonly first: ThreadRuntime
  }> {
    const office = new Office()
    const here = await office.process()
    for (const id of ['first', 'older', 'newer']) await createThread(office.store, { id, resourceId: 'ann' })
    await createThread(office.store, { id: 'of-another', resourceId: 'bob' })
    const first = await office.open(here, 'first')
    assert.equal(await office.asks(first), true)
    await office.answer(first, ALWAYS_HERE)
    return { office, here, first }
  }

  test('holds in its other threads, in forks and in other processes, and for nobody else', async () => {
    const { here, office, first } = await granted()
    await using _office = office
    assert.deepEqual(first.state.head.grants, { tools: [], categories: [] }, 'it is no grant of the thread')
    assert.equal(await office.asks(first), false)
    assert.equal(await office.asks(await office.open(here, 'older')), false)
    const at = await boundaryAt(office.store, first.state.head.lineage, first.state.head.seq)
    await forkThread(office.store, here, first.state, { id: 'fork', resourceId: 'ann', at })
    assert.equal(await office.asks(await office.open(here, 'fork')), false)
    assert.equal(await office.asks(await office.open(await office.process(), 'newer')), false)
    assert.equal(await office.asks(await office.open(here, 'of-another')), true)
    assert.deepEqual(await readResourceGrants(office.store, 'ann'), { tools: ['deploy'], categories: [] })
    assert.deepEqual(await readResourceGrants(office.store, 'bob'), { tools: [], categories: [] })
  })

  test('is read from the store by a process that starts later', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'grants-'))
    const path = join(dir, 'data.db')
    try {
      for (const [index, expected] of [true, false].entries()) {
        await using office = new Office(new SqliteStore({ url: path }))
        const here = await office.process()
        await createThread(office.store, { id: `thread-${index}`, resourceId: 'ann' })
        const runtime = await office.open(here, `thread-${index}`)
        assert.equal(await office.asks(runtime), expected)
        if (expected) await office.answer(runtime, ALWAYS_HERE)
      }
    } finally {
      await rm(dir, { recursive: true })
    }
  })

  test('gives way to a deny, to a rule that asks, and to another tool of that name', async () => {
    const { here, office } = await granted()
    await using _office = office
    const denied = await office.open(here, 'older', { rules: { ...NO_RULES, tools: { deploy: 'deny' } } })
    assert.equal(await office.asks(denied), false)
    assert.deepEqual(office.journal, ['first'], 'it was not carried out')
    await denied.close()
    const asking = await office.open(here, 'newer', { rules: { ...NO_RULES, tools: { deploy: 'ask' } } })
    assert.equal(await office.asks(asking), true)
    await createThread(office.store, { id: 'other-tool', resourceId: 'ann' })
    assert.equal(await office.asks(await office.open(here, 'other-tool', { description: 'Deletes.' })), true)
  })

  test('cannot come from a thread that somebody else named like its stream', async () => {
    const store = new MemoryStore()
    const owner = await ProcessOwner.register(store)
    const id = 'grants:["victim"]'
    await createThread(store, { id, resourceId: 'attacker' })
    const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents: {} })
    const grants = { categories: ['execute'], tools: ['deploy'] } as const
    await runtime.change((log) => log.commit([{ type: 'config.changed', grants }]))
    assert.deepEqual(runtime.state.head.grants, grants)
    assert.deepEqual(await readResourceGrants(store, 'victim'), { categories: [], tools: [] })
    await runtime.close()
    await owner.close()
  })

  test('is revoked by a command of any thread, at once and for all of them', async () => {
    const { here, office, first } = await granted()
    await using _office = office
    const older = await office.open(here, 'older')
    assert.equal(await office.asks(older), false)
    const key = { principal: 'ann', clientId: 'page', commandId: timeOrderedId() }
    const revoke = { type: 'revoke', tool: 'deploy', scope: 'resource' } as const
    assert.deepEqual(await older.execute(revoke, key), { status: 'done' })
    assert.deepEqual(await older.execute(revoke, key), { status: 'done' }, 'the same command again')
    assert.deepEqual(await readResourceGrants(office.store, 'ann'), { tools: [], categories: [] })
    assert.equal(await office.asks(first), true)
    assert.equal(await office.asks(older), true)
  })

  test('is revoked for a thread that another process works in', async () => {
    const { office, first } = await granted()
    await using _office = office
    const elsewhere = await office.open(await office.process(), 'newer')
    assert.equal(await office.asks(elsewhere), false)
    await first.execute({ type: 'revoke', scope: 'resource' })
    assert.equal(await office.asks(elsewhere), true)
  })

  test('is refused where a thread could not get it either, and counts for the call alone', async () => {
    await using office = new Office()
    const here = await office.process()
    await createThread(office.store, { id: 'first', resourceId: 'ann' })
    const rules = { ...NO_RULES, tools: { deploy: 'ask' } } as const
    const first = await office.open(here, 'first', { rules })
    assert.equal(await office.asks(first), true)
    await office.answer(first, ALWAYS_HERE)
    assert.deepEqual(office.journal, ['first'])
    assert.deepEqual(await readResourceGrants(office.store, 'ann'), { tools: [], categories: [] })
  })
})

suite('an "always" that is said when nothing of the run is at work', () => {
  test('is refused, and the question stays, when the agent does not report its tools in time', async (t) => {
    const asked = Promise.withResolvers<void>()
    let isSilent = false
    const deploy: RunnableTool = {
      name: 'deploy',
      inputSchema: { type: 'object' },
      execute: async () => ({ result: 'out' }),
    }
    const tools = (): Promise<readonly RunnableTool[]> => {
      if (!isSilent) return Promise.resolve([deploy])
      asked.resolve()
      return new Promise(() => undefined)
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'deploy' }] }, { text: 'Done.' }])
    await using bench = await RuntimeBench.open({ native: { driver: nativeDriver({ id: 'native', model }), tools } })
    await bench.submit('Deploy.', { agentId: 'native' })
    const { id } = await bench.wait()
    await bench.runtime.idle()
    await bench.restart()
    isSilent = true
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const refused = assert.rejects(bench.runtime.answer(id, { decision: 'approve', remember: 'tool' }), (error) => {
      assert.ok(InspanError.is(error, 'io'))
      assert.match(error.message, /"native" did not say in time which tools it has/)
      return true
    })
    await asked.promise
    t.mock.timers.tick(DESCRIBE_WITHIN_MS)
    await refused
    t.mock.timers.reset()
    assert.ok(bench.runtime.state.head.waits.has(id))
    isSilent = false
    await bench.runtime.answer(id, { decision: 'approve', remember: 'tool' })
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
    assert.deepEqual(bench.runtime.state.head.grants.tools, ['deploy'])
  })
})
