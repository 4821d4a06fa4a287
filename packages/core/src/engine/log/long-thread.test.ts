import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { HistoryQuery, Host } from '@inspan/protocol/driver'
import { applyFrame, emptyView, type RecordBody } from '@inspan/protocol/log'
import { CountingStore } from './counting-store.fixture.ts'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const COUNT = 3000

function said(index: number): Extract<RecordBody, { type: 'message.added' }> {
  const parts = [{ id: '0', type: 'text', text: `said ${index}` }] as const
  return { type: 'message.added', messageId: `m${index}`, role: 'user', parts }
}

const SAID = Array.from({ length: COUNT }, (_, index) => said(index))

/** Opens a thread with thousands of messages, and an agent that reads them as `look` says. */
async function longThread(
  look: (read: (query: HistoryQuery) => Promise<string[]>) => Promise<void>,
): Promise<{ bench: RuntimeBench; store: CountingStore }> {
  const store = new CountingStore()
  const reading =
    (host: Host) =>
    async (query: HistoryQuery): Promise<string[]> => {
      const texts: string[] = []
      for await (const { parts } of host.history(query)) {
        for (const part of parts) if (part.type === 'text') texts.push(part.text)
      }
      return texts
    }
  const agent = new ForeignAgent('cli', [
    async function* (_turn, host) {
      await look(reading(host))
      yield { type: 'text-delta', text: 'Read.' }
    },
  ])
  const bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
  await bench.runtime.record(SAID)
  return { bench, store }
}

suite('a thread of thousands of messages', () => {
  test('is opened without reading what was recorded long ago, even if it never had a run', async () => {
    const store = new CountingStore()
    await using bench = await RuntimeBench.open({}, { store })
    for (const body of SAID) await bench.runtime.record([body])
    await bench.runtime.close()
    store.reset()
    await bench.restart()
    assert.ok(store.rows <= 500, `${store.rows} rows`)
    assert.equal(bench.runtime.state.head.seq, COUNT)
  })

  test('is read only as far as an agent looks, from either end', async () => {
    const rows: number[] = []
    let heard: string[][] = []
    const { bench, store } = await longThread(async (read) => {
      for (const query of [
        { order: 'oldest', limit: 3 },
        { order: 'newest', limit: 3 },
      ] as const) {
        store.reset()
        heard = [...heard, await read(query)]
        rows.push(store.rows)
      }
    })
    await using _ = bench
    assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'complete')
    assert.deepEqual(heard, [
      ['said 0', 'said 1', 'said 2'],
      ['go', `said ${COUNT - 1}`, `said ${COUNT - 2}`],
    ])
    assert.ok(Math.max(...rows) <= 50, `${rows.join(', ')} rows`)
  })

  test('is kept in memory only in part: the rest is read again, a page at a time', async () => {
    const rows: number[] = []
    const { bench, store } = await longThread(async (read) => {
      for (let time = 0; time < 2; time++) {
        store.reset()
        assert.deepEqual(await read({ order: 'oldest' }), [...SAID.keys().map((index) => `said ${index}`), 'go'])
        rows.push(store.rows)
        assert.ok(store.largestPage <= 50)
      }
    })
    await using _ = bench
    assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'complete')
    const [first = 0, again = 0] = rows
    assert.ok(first >= COUNT)
    assert.equal(first - again, 1000, 'this many were kept')
  })

  test('is not read for what people think of its last run', async () => {
    const { bench, store } = await longThread(async () => undefined)
    await using _ = bench
    const run = await bench.submit('go', { agentId: 'cli' })
    await run.done
    store.reset()
    await bench.runtime.addFeedback(run.runId, { source: 'test', rating: 1 })
    assert.deepEqual((await bench.runtime.opinions(run.runId)).feedback, [{ source: 'test', rating: 1 }])
    assert.ok(store.rows <= 50, `${store.rows} rows`)
    await assert.rejects(bench.runtime.opinions('another'), (error) => InspanError.is(error, 'not-found'))
  })

  test('read by two at once is the same to both', async () => {
    const { bench } = await longThread(async (read) => {
      const [one, other] = await Promise.all([read({ order: 'oldest' }), read({ order: 'oldest' })])
      assert.deepEqual(one, other)
      assert.equal(one.length, COUNT + 1)
      assert.deepEqual(await read({ order: 'oldest' }), one)
    })
    await using _ = bench
    assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'complete')
  })

  test('a thread of thousands of messages that another process wrote is read a page at a time, whole and in order', async () => {
    const store = new CountingStore()
    await using bench = await RuntimeBench.open({}, { store, passivateAfter: 1 })
    const here = bench.runtime
    await bench.until(() => !here.isHeld)
    const seqs: number[] = []
    here.onEntry((entry) => entry.kind === 'record' && seqs.push(entry.record.seq))
    let replica = emptyView('thread')
    const frames: number[] = []
    here.onFrame((frame) => {
      frames.push(frame.seq)
      replica = applyFrame(replica, frame)
    })
    await bench.restart({ passivateAfter: 1 })
    await bench.runtime.record(SAID)
    await bench.until(() => !bench.runtime.isHeld)
    store.reset()
    await here.configure({ title: 'Back' })
    assert.deepEqual(
      seqs,
      Array.from({ length: COUNT + 1 }, (_, index) => index + 1),
    )
    assert.ok(store.largestPage <= 500, `${store.largestPage} records at once`)
    assert.ok(frames.length > COUNT / 500, `${frames.length} frames`)
    assert.deepEqual(
      replica.messages.toArray().map(({ id }) => id),
      SAID.map(({ messageId }) => messageId),
    )
    assert.equal(replica.head.title, 'Back')
  })
})
