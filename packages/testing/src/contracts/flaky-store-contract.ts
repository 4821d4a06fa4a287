import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { Fence, Store } from '@inspan/protocol/store'
import { command, message, note, record, threadInfo, waitRow } from './builders.ts'
import { flakyStore } from './flaky-store.ts'
import { lostAnswersContract } from './lost-answers.ts'
import { withStore, type StoreContract } from './subject.ts'

const SEEDS = [1, 2, 3, 4, 5]
const STEPS = 12

/** Retries work that can be repeated: reads, and writes that check first. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!InspanError.is(error, 'io')) throw error
    }
  }
  throw new Error('The line never held.')
}

/** Creates and claims a thread, whatever gets lost. */
async function makeThread(store: Store, id: string): Promise<Fence> {
  await insist(async () => {
    if ((await store.getStream(id)) === null) {
      await store.createStream({ kind: 'thread', info: threadInfo(id), headSeq: 0 })
    }
  })
  const claim = await insist(() => store.claim(id, 'me'))
  return { owner: 'me', epoch: claim.epoch }
}

/** The rule for callers: after an error, the stream itself tells whether the append was committed. */
async function appendOnce(store: Store, id: string, fence: Fence, seq: number): Promise<void> {
  const { key } = command(`${id}-${seq}`)
  await insist(async () => {
    const status = await store.getStream(id)
    if (status !== null && status.headSeq >= seq) return
    await store.append({
      stream: id,
      fence,
      records: [record(id, seq, note(`note ${seq}`))],
      messages: [message(`${id}-${seq}`, seq)],
      waits: [waitRow(id, `w${seq}`, seq)],
      outcomes: [{ key, outcome: seq }],
    })
  })
}

/** Registers tests of how a store behaves for a caller with an unreliable connection. */
export function flakyStoreContract(contract: StoreContract): void {
  describe(`${contract.name} over a bad line`, () => {
    for (const seed of SEEDS) {
      it(
        `a caller that looks again after an error loses nothing and writes nothing twice (seed ${seed})`,
        withStore(contract, async (inner) => {
          const store = flakyStore(inner, { seed, failBefore: 0.2, failAfter: 0.2 })
          const ids = ['a', 'b', 'c']
          await Promise.all(
            ids.map(async (id) => {
              const fence = await makeThread(store, id)
              for (let seq = 1; seq <= STEPS; seq++) {
                await insist(() => store.admitCommand(command(`${id}-${seq}`)))
                await appendOnce(store, id, fence, seq)
              }
            }),
          )
          for (const id of ids) {
            const { items } = await inner.readRecords(id, {})
            assert.deepEqual(
              items.map((found) => found.seq),
              Array.from({ length: STEPS }, (_, index) => index + 1),
            )
            for (let seq = 1; seq <= STEPS; seq++) {
              const done = await inner.getCommand(command(`${id}-${seq}`).key)
              assert.deepEqual([done?.state, done?.outcome, done?.seq], ['done', seq, seq])
            }
          }
        }),
      )

      it(
        `whenever an append fails, all of it is there or nothing (seed ${seed})`,
        withStore(contract, async (inner) => {
          const store = flakyStore(inner, { seed, failBefore: 0.3, failAfter: 0.3 })
          const fence = await makeThread(store, 't')
          const lineage = [{ stream: 't', from: 1, to: null }]
          for (let seq = 1; seq <= STEPS; seq++) {
            await inner.admitCommand(command(`t-${seq}`))
            await appendOnce(store, 't', fence, seq)
            const head = (await inner.getStream('t'))?.headSeq ?? 0
            const seen = [
              (await inner.readRecords('t', { limit: 100 })).items.length,
              (await inner.listMessages(lineage, { order: 'newest' })).items.length,
              (await inner.listWaits({ stream: 't' })).items.length,
              (await inner.listCommands({ target: 't', state: 'done' })).items.length,
            ]
            assert.deepEqual(seen, [head, head, head, head])
          }
        }),
      )

      it(
        `a deletion whose answer was lost can be repeated (seed ${seed})`,
        withStore(contract, async (inner) => {
          const store = flakyStore(inner, { seed, failBefore: 0.4, failAfter: 0.4 })
          const fence = await makeThread(store, 't')
          await insist(() => store.deleteThread('t', fence))
          assert.equal(await inner.getStream('t'), null)
        }),
      )

      it(
        `an erasure whose answer was lost can be repeated (seed ${seed})`,
        withStore(contract, async (inner) => {
          const store = flakyStore(inner, { seed, failBefore: 0.3, failAfter: 0.3 })
          const fence = await makeThread(store, 't')
          for (let seq = 1; seq <= STEPS; seq++) {
            await inner.admitCommand(command(`t-${seq}`))
            await appendOnce(store, 't', fence, seq)
          }
          for (let seq = 1; seq < STEPS; seq++) await insist(() => store.erase('t', fence, { from: seq, to: seq }))
          const left = await inner.listMessages([{ stream: 't', from: 1, to: null }], { order: 'oldest' })
          assert.deepEqual(
            left.items.map(({ order }) => order),
            [STEPS],
          )
          const { items } = await inner.readRecords('t', {})
          assert.deepEqual(items.at(-1)?.body, note(`note ${STEPS}`))
          assert.deepEqual(
            items.slice(0, -1).map(({ body }) => body),
            Array.from({ length: STEPS - 1 }, () => note('')),
          )
        }),
      )
    }

    lostAnswersContract(contract)
  })
}
