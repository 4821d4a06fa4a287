/** The cost of a turn, counted and not timed. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { StoredMessage } from '@inspan/protocol'
import { BARRIER_TYPES, type Lineage } from '@inspan/protocol/log'
import type { Append, MessageQuery, Page } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

/** A store that keeps all appends and counts reads. */
class WatchedStore extends SqliteStore {
  appends: Append[] = []
  listings = 0

  override async append(request: Append): Promise<number> {
    this.appends.push(request)
    return super.append(request)
  }

  override async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    this.listings++
    return super.listMessages(lineage, query)
  }

  /** Returns the barrier records of each append. How often deltas are written depends on the duration of the turn. */
  get barriers(): string[][] {
    return this.appends
      .map(({ records }) => records.map(({ body }) => body.type).filter((type) => BARRIER_TYPES.has(type)))
      .filter((types) => types.length > 0)
  }
}

async function withThread(
  work: (bench: RuntimeBench, store: WatchedStore) => Promise<void>,
  now: () => number = () => 1000,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-turn-cost-'))
  try {
    const store = new WatchedStore({ url: join(folder, 'data.db') })
    const model = scriptedModel([{ text: 'One.' }, { text: 'Two.' }])
    const agents = { native: { driver: nativeDriver({ id: 'native', model }) } }
    {
      await using bench = await RuntimeBench.open(agents, { store, now })
      await work(bench, store)
    }
    await store.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function turn(bench: RuntimeBench): Promise<void> {
  await (
    await bench.submit('Hi', { agentId: 'native' })
  ).done
}

suite('a plain turn', () => {
  test('waits for the store twice: before the model is asked, and at its end', () =>
    withThread(async (bench, store) => {
      store.appends = []
      await turn(bench)
      assert.deepEqual(store.barriers, [['run.started', 'message.added'], ['run.ended']])
    }))

  test('writes every record once, and the head with the last', () =>
    withThread(async (bench, store) => {
      store.appends = []
      await turn(bench)
      const seqs = store.appends.flatMap(({ records }) => records.map(({ seq }) => seq))
      assert.deepEqual(seqs, [...new Set(seqs)])
      assert.equal(store.appends.filter(({ head }) => head !== undefined).length, 1)
      assert.notEqual(store.appends.at(-1)?.head, undefined)
    }))

  test('reads no messages that this process wrote', () =>
    withThread(async (bench, store) => {
      await turn(bench)
      await turn(bench)
      assert.equal(store.listings, 0)
    }))

  test('moves its thread in the lists when it begins, and at its end only if it took a second', async () => {
    const movesAtEnd = async (now: () => number): Promise<boolean> => {
      let moves = false
      await withThread(async (bench, store) => {
        store.appends = []
        await turn(bench)
        assert.notEqual(store.appends[0]?.thread, undefined)
        moves = store.appends.at(-1)?.thread !== undefined
      }, now)
      return moves
    }
    assert.equal(await movesAtEnd(() => 1000), false)
    let clock = 0
    assert.equal(await movesAtEnd(() => (clock += 1000)), true)
  })
})
