import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { Append } from '@inspan/protocol/store'
import { scriptedModel } from '@inspan/testing'
import { tellOtherHarnesses } from '../../harness/threads/other-harnesses.ts'
import { readThreadState } from '../../harness/threads/thread-reads.ts'
import { MemoryStore } from '../../stores/memory-store.ts'
import type { Script } from '../agent-bench.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from './ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from './threads.ts'

/** A store whose disk can become full at any moment. */
class FullStore extends MemoryStore {
  isFull = false

  override async append(append: Append): Promise<number> {
    if (this.isFull) throw new InspanError('disk-full', 'There is no place left for it.')
    return super.append(append)
  }
}

/** Two runtimes of one process on one thread, as in two harnesses; the second one holds it. */
class Two implements AsyncDisposable {
  readonly store = new FullStore()
  readonly #owners: ProcessOwner[] = []
  readonly #stops: (() => void)[] = []
  first!: ThreadRuntime
  second!: ThreadRuntime

  static async open(script: Script): Promise<Two> {
    const two = new Two()
    await createThread(two.store, { id: 'thread', resourceId: 'test' })
    const model = scriptedModel(script)
    two.first = await two.#open(model)
    two.second = await two.#open(model)
    return two
  }

  async #open(model: ReturnType<typeof scriptedModel>): Promise<ThreadRuntime> {
    const { store } = this
    const owner = await ProcessOwner.register(store)
    this.#owners.push(owner)
    const agents = { native: { driver: nativeDriver({ id: 'native', model }) } }
    return ThreadRuntime.open({ store, owner, thread: 'thread', agents }, async (runtime) => {
      this.#stops.push(tellOtherHarnesses(store, 'thread', runtime))
    })
  }

  /** The second runtime shows half a message and fails to write it. */
  async failHalfway(): Promise<void> {
    const said = Promise.withResolvers<void>()
    const stop = this.first.onEntry((entry) => {
      if (entry.kind !== 'delta') return
      this.store.isFull = true
      said.resolve()
    })
    await this.second.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await said.promise
    stop()
    await assert.rejects(
      this.second.change((log) => log.flush()),
      (error) => InspanError.is(error, 'disk-full'),
    )
    this.store.isFull = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.store.isFull = false
    for (const stop of this.#stops) stop()
    for (const runtime of [this.first, this.second]) await runtime.close().catch(() => undefined)
    for (const owner of this.#owners) await owner.close()
    await this.store.close()
  }
}

const HALF: Script = [{ text: 'Half an', hang: true }, { text: 'Whole.' }]

suite('what one runtime of a process shows of another, when that cannot write what it has shown', () => {
  test('is what is on disk, in both', async () => {
    await using two = await Two.open(HALF)
    await two.failHalfway()
    const onDisk = await readThreadState(two.store, 'thread')
    for (const { state } of [two.second, two.first]) {
      assert.equal(state.head.seq, onDisk.head.seq)
      assert.deepEqual(state.messages.toArray(), onDisk.messages.toArray())
    }
  })

  test('can be gone on with: the one that cannot write lets go, and nothing that is on disk is missed', async () => {
    await using two = await Two.open(HALF)
    const heard: number[] = []
    two.first.onEntry((entry) => {
      if (entry.kind === 'record' && !entry.live) heard.push(entry.record.seq)
    })
    const ended = Promise.withResolvers<void>()
    two.first.onEntry((entry) => {
      if (entry.kind === 'record' && entry.record.body.type === 'run.ended') ended.resolve()
    })
    await two.failHalfway()
    const { seq } = (await readThreadState(two.store, 'thread')).head
    await two.first.configure({ title: 'Ours' })
    await ended.promise
    const written = await Array.fromAsync(recordsAfter(two.store, 'thread', seq))
    const barriers = written.filter(({ body }) => body.type === 'run.resumed' || body.type === 'config.changed')
    assert.equal(barriers.length, 2)
    for (const record of barriers) assert.ok(heard.includes(record.seq), `${record.body.type} was not told`)
    assert.equal(two.first.state.head.lastRun?.outcome, 'complete')
    // The other runtime gets it too, and can be used again.
    assert.equal(two.second.state.head.title, 'Ours')
    assert.equal(two.second.state.head.seq, two.first.state.head.seq)
  })
})
