import { emptyState, RECORD_VERSIONS, reduce, type Head, type LogRecord } from '@inspan/protocol/log'
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryForkedLog, arbitraryLog, withoutSealedBatches } from './log.ts'

function fold(records: readonly LogRecord[]): Head {
  const stream = records[0]?.stream ?? 'main'
  return records.reduce((state, record) => reduce(state, record).state, emptyState(stream)).head
}

suite('arbitraryLog', () => {
  test('numbers the records of a stream without a gap', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        assert.deepEqual(
          records.map((record) => record.seq),
          records.map((_record, index) => index + 1),
        )
      }),
    )
  })

  test('names the oldest batch of the same part on every sealed part that had batches', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        for (const { seq, first, body } of records) {
          if (!('partId' in body) || body.type === 'call.started' || body.type === 'error') continue
          const oldest = records.find(
            (other) =>
              other.seq < seq &&
              other.body.type === 'batch' &&
              other.body.event.messageId === body.messageId &&
              other.body.event.partId === body.partId,
          )
          assert.equal(first, oldest?.seq)
        }
      }),
    )
  })

  test('settles no wait that is not pending and removes no queue item that is not queued', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        let state = emptyState('main')
        for (const record of records) {
          const { body } = record
          if (body.type === 'wait.answered' || body.type === 'wait.cancelled' || body.type === 'wait.superseded') {
            assert.ok(state.head.waits.has(body.waitId), `${body.waitId} is not pending at ${record.seq}`)
          }
          if (body.type === 'queue.removed') {
            assert.ok(state.head.queue.has(body.itemId))
          }
          state = reduce(state, record).state
        }
      }),
    )
  })

  test('has many waits, queued items and rewinds at once, often enough to matter', () => {
    const most = { waits: 0, queue: 0, ranges: 0 }
    for (const records of fc.sample(arbitraryLog({ maxMoves: 120 }), { numRuns: 80, seed: 1 })) {
      let state = emptyState('main')
      for (const record of records) {
        state = reduce(state, record).state
        most.waits = Math.max(most.waits, state.head.waits.size)
        most.queue = Math.max(most.queue, state.head.queue.size)
        most.ranges = Math.max(most.ranges, state.head.lineage.length)
      }
    }
    assert.ok(most.waits >= 40 && most.queue >= 40 && most.ranges >= 15, JSON.stringify(most))
  })

  test('rewinds only to a place its own lineage ends at', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        for (const { body, seq } of records) {
          if (body.type !== 'rewind') continue
          assert.ok(body.to < seq)
          if (body.lineage !== undefined) assert.equal(body.lineage.at(-1)?.to, body.to)
        }
      }),
    )
  })

  test('ends the last run when asked to', () => {
    fc.assert(
      fc.property(arbitraryLog({ closed: true }), (records) => {
        assert.equal(fold(records).run, null)
      }),
    )
  })

  test('comes to write every type of record there is', () => {
    const logs = fc.sample(arbitraryLog(), { numRuns: 1000, seed: 7 })
    const forks = fc.sample(arbitraryForkedLog({ maxMoves: 5 }), { numRuns: 5, seed: 7 })
    const records = [...logs.flat(), ...forks.flatMap(({ fork }) => fork)]
    const written = new Set(records.map((record) => record.body.type))
    assert.deepEqual([...written].sort(), Object.keys(RECORD_VERSIONS).sort())
  })

  test('interleaves parts: one is sealed between two batches of another', () => {
    const isInterleaved = (records: readonly LogRecord[]): boolean =>
      records.some(
        ({ body, seq, first }) =>
          first !== undefined &&
          'partId' in body &&
          records.some(
            (other) => other.seq > first && other.seq < seq && 'text' in other.body && 'partId' in other.body,
          ),
      )
    assert.ok(fc.sample(arbitraryLog(), { numRuns: 200, seed: 7 }).some(isInterleaved))
  })
})

suite('arbitraryForkedLog', () => {
  test('continues at the seq after the fork point, from a lineage that ends there', () => {
    fc.assert(
      fc.property(arbitraryForkedLog({ maxMoves: 15 }), ({ parent, fork, at }) => {
        const first = fork[0]
        assert.ok(first?.body.type === 'fork')
        assert.equal(first.seq, at + 1)
        assert.ok(at <= (parent.at(-1)?.seq ?? 0))
        assert.equal(first.body.lineage.at(-1)?.to, at)
        assert.equal(fold(fork).stream, 'main-fork')
      }),
    )
  })
})

suite('withoutSealedBatches', () => {
  test('keeps the batches of parts that were never sealed, and no others', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        const kept = withoutSealedBatches(records)
        const seals = new Set(kept.map(({ first }) => first).filter((first) => first !== undefined))
        for (const { body, seq } of kept) if (body.type === 'batch') assert.ok(!seals.has(seq))
        const others = (list: readonly LogRecord[]): readonly LogRecord[] =>
          list.filter(({ body }) => body.type !== 'batch')
        assert.deepEqual(others(kept), others(records))
      }),
    )
  })
})
