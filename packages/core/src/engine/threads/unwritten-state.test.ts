import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { Append } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { readThread } from './read-thread.ts'
import type { ModelScript } from '../agent-bench.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'
import type { Door } from '../thread-options.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'
import { ThreadRegistry } from './thread-registry.ts'
import { createThread } from './threads.ts'

/** A store whose disk can become full at any moment. */
class FullStore extends MemoryStore {
  isFull = false

  override async append(append: Append): Promise<number> {
    if (this.isFull) throw new InspanError('disk-full', 'There is no place left for it.')
    return super.append(append)
  }
}

/** A thread with two doors. */
class Two implements AsyncDisposable {
  readonly store = new FullStore()
  readonly registry = ThreadRegistry.of(this.store)
  readonly #doors: Door[] = []
  runtime!: ThreadRuntime

  static async open(script: ModelScript): Promise<Two> {
    const two = new Two()
    await createThread(two.store, { id: 'thread', resourceId: 'test' })
    const model = scriptedModel(script)
    two.runtime = await two.enter('first', model)
    assert.equal(await two.enter('second', model), two.runtime)
    return two
  }

  enter(door: string, model: ReturnType<typeof scriptedModel>): Promise<ThreadRuntime> {
    const entering: Door = { door, agents: { native: { driver: nativeDriver({ id: 'native', model }) } } }
    this.#doors.push(entering)
    return this.registry.enter('thread', entering)
  }

  /** The second door shows half a message and fails to write it. */
  async failHalfway(): Promise<void> {
    const said = Promise.withResolvers<void>()
    const stop = this.runtime.onEntry((entry) => {
      if (entry.kind !== 'delta') return
      this.store.isFull = true
      said.resolve()
    })
    await this.runtime.submit({ door: 'second', agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await said.promise
    stop()
    await assert.rejects(
      this.runtime.change((log) => log.flush()),
      (error) => InspanError.is(error, 'disk-full'),
    )
    this.store.isFull = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.store.isFull = false
    for (const door of this.#doors) await this.registry.leave('thread', door).catch(() => undefined)
    await this.store.close()
  }
}

const HALF: ModelScript = [{ text: 'Half an', hang: true }, { text: 'Whole.' }]

suite('a thread with several doors that could not be written', () => {
  test('shows what is on disk', async () => {
    await using two = await Two.open(HALF)
    await two.failHalfway()
    const onDisk = await readThread(two.store, 'thread')
    const { state } = two.runtime
    assert.equal(state.head.seq, onDisk.head.seq)
    assert.deepEqual(state.messages.toArray(), onDisk.messages.toArray())
  })

  test('continues from there when a door enters, and nothing that is on disk is missed', async () => {
    await using two = await Two.open(HALF)
    const heard: number[] = []
    two.runtime.onEntry((entry) => {
      if (entry.kind === 'record' && !entry.live) heard.push(entry.record.seq)
    })
    const ended = Promise.withResolvers<void>()
    two.runtime.onEntry((entry) => {
      if (entry.kind === 'record' && entry.record.body.type === 'run.ended') ended.resolve()
    })
    await two.failHalfway()
    const { seq } = (await readThread(two.store, 'thread')).head
    await two.enter('third', scriptedModel([]))
    await two.runtime.configure({ title: 'Ours' })
    await ended.promise
    const written = await Array.fromAsync(recordsAfter(two.store, 'thread', seq))
    const barriers = written.filter(({ body }) => body.type === 'run.resumed' || body.type === 'config.changed')
    assert.equal(barriers.length, 2)
    for (const record of barriers) assert.ok(heard.includes(record.seq), `${record.body.type} was not told`)
    assert.equal(two.runtime.state.head.lastRun?.outcome, 'complete')
    assert.equal(two.runtime.state.head.title, 'Ours')
  })
})
