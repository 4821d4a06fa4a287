import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryForkedLog, arbitraryLog, withoutSealedBatches } from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import { isContentSetting } from '../content-settings.ts'
import { eraseBody } from '../record-definition.ts'
import { emptyHead } from '../head.ts'
import type { JsonObject } from '../json.ts'
import { lineageHolds } from '../lineage.ts'
import type { StoredMessage } from '../message.ts'
import { NO_GRANTS, NO_RULES } from '../permission.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import { reviveHead, storedHead } from '../stored-head.ts'
import { applyOps, emptyView, viewFrom, type ThreadView } from '../view.ts'
import { storedMessage, type ThreadState } from './draft.ts'
import { emptyState, reduce, reducePiece, reduceShown, restingState } from './reduce.ts'

/** Stands in for a store: keeps the message rows written with the records, and shows those of the lineage. */
class Rows {
  readonly #rows = new Map<string, StoredMessage>()

  write(state: ThreadState, record: LogRecord): ReturnType<typeof reduce> {
    const reduced = reduce(state, record)
    for (const message of reduced.written) this.#rows.set(message.id, storedMessage(message))
    const { body } = record
    if (body.type === 'erased') {
      for (const [id, row] of this.#rows) if (row.order >= body.from && row.order <= body.to) this.#rows.delete(id)
    }
    return reduced
  }

  /** Returns the messages for a reader who joins now: rows of the lineage and messages of the open run. */
  shown(state: ThreadState): StoredMessage[] {
    const shown = new Map([...this.#rows].filter(([, row]) => lineageHolds(state.head.lineage, row.order)))
    for (const message of state.messages) shown.set(message.id, storedMessage(message))
    return [...shown.values()].sort((a, b) => a.order - b.order)
  }
}

function fold(records: readonly LogRecord[], from?: ThreadState): ThreadState {
  return records.reduce(
    (state, record) => reduce(state, record).state,
    from ?? emptyState(records[0]?.stream ?? 'main'),
  )
}

function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function plain(view: ThreadView): unknown {
  return json({ head: view.head, messages: view.messages })
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const child of Object.values(value)) deepFreeze(child)
}

function onlyContent(settings: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => isContentSetting(key)))
}

suite('the fold', () => {
  test('snapshot at any cut + later ops = full fold = view', () => {
    fc.assert(
      fc.property(arbitraryLog({ maxMoves: 120 }), fc.nat(), (records, cutSeed) => {
        const cut = records.length === 0 ? 0 : cutSeed % records.length
        const rows = new Rows()
        let state = emptyState('main')
        let followed = emptyView('main')
        let joined: ThreadView | undefined
        records.forEach((record, index) => {
          if (index === cut) {
            // A client joins here: it gets a snapshot as JSON and from then on only ops.
            joined = viewFrom(
              JSON.parse(JSON.stringify({ seq: 0, head: storedHead(state.head), messages: rows.shown(state) })),
            )
          }
          const reduced = rows.write(state, record)
          state = reduced.state
          const ops = JSON.parse(JSON.stringify(reduced.ops)) as typeof reduced.ops
          followed = refreshed(applyOps(followed, ops), rows, state)
          if (joined !== undefined) joined = refreshed(applyOps(joined, ops), rows, state)
        })
        const expected = json({ head: { ...state.head, seq: 0 }, messages: rows.shown(state) })
        assert.deepEqual(plain({ ...followed, head: { ...followed.head, seq: 0 } }), expected)
        if (joined !== undefined) assert.deepEqual(plain({ ...joined, head: { ...joined.head, seq: 0 } }), expected)
      }),
      { numRuns: 300 },
    )
  })

  test('records that are only shown give the same state as written ones', () => {
    let pieces = 0
    fc.assert(
      fc.property(arbitraryLog({ maxMoves: 120 }), (records) => {
        let state = emptyState('main')
        for (const record of records) {
          const { body, seq } = record
          const next = reduce(state, record).state
          assert.deepEqual(json(reduceShown(state, record)), json(next))
          if (body.type === 'batch') {
            pieces++
            assert.deepEqual(json(reducePiece(state, body.event, seq)), json(next))
          }
          state = next
        }
      }),
      { numRuns: 100 },
    )
    assert.ok(pieces > 100, `${pieces} pieces`)
  })

  test('no record changes an earlier state or a record', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        deepFreeze(records)
        let state = emptyState('main')
        const kept: { state: ThreadState; text: string }[] = []
        for (const record of records) {
          state = reduce(state, record).state
          kept.push({ state, text: JSON.stringify(state) })
        }
        for (const { state: earlier, text } of kept) assert.equal(JSON.stringify(earlier), text)
      }),
      { numRuns: 100 },
    )
  })

  test('a log without the batches that seals replaced folds to the same state', () => {
    fc.assert(
      fc.property(arbitraryLog({ maxMoves: 150 }), (records) => {
        assert.deepEqual(json(fold(withoutSealedBatches(records))), json(fold(records)))
      }),
      { numRuns: 300 },
    )
  })

  test('between runs the head alone is the whole state, so it can be stored and continued from', () => {
    fc.assert(
      fc.property(arbitraryLog({ maxMoves: 150 }), fc.nat(), (records, pick) => {
        const idle: number[] = []
        let state = emptyState('main')
        records.forEach((record, index) => {
          state = reduce(state, record).state
          if (state.head.run === null) idle.push(index)
        })
        if (idle.length === 0) return
        const at = idle[pick % idle.length] as number
        const stored = fold(records.slice(0, at + 1))
        assert.equal(stored.messages.length, 0)
        const restored = restingState(reviveHead(JSON.parse(JSON.stringify(storedHead(stored.head)))))
        assert.deepEqual(json(fold(records.slice(at + 1), restored)), json(state))
      }),
      { numRuns: 200 },
    )
  })

  test('erasing the records of a range and folding anew gives what the erased record gives at once', () => {
    fc.assert(
      fc.property(arbitraryLog({ closed: true }), fc.nat(), fc.nat(), (records, a, b) => {
        if (records.length === 0) return
        const [from, to] = [1 + (a % records.length), 1 + (b % records.length)].sort((x, y) => x - y) as [
          number,
          number,
        ]
        const seq = records.length + 1
        const record: LogRecord = { v: 1, stream: 'main', seq, at: 0, body: { type: 'erased', from, to } }
        const erased = records.map((old) =>
          old.seq >= from && old.seq <= to ? { ...old, body: eraseBody(old.body) } : old,
        )
        assert.deepEqual(json(fold([...erased, record])), json(fold([...records, record])))
      }),
      { numRuns: 300 },
    )
  })

  test('an erased record holds no word of what was said', () => {
    const secret = 'correct horse battery staple'
    fc.assert(
      fc.property(arbitraryLog({ closed: true }), (records) => {
        const spoken = new Set(['text', 'argsTextDelta', 'output', 'description', 'message', 'content', 'preview'])
        const withSecret = JSON.parse(
          JSON.stringify(records, (key, value: unknown) =>
            spoken.has(key) && typeof value === 'string' ? secret : value,
          ),
        ) as LogRecord[]
        for (const record of withSecret) {
          // Configuration is not content, so an erasure leaves it.
          const { settings, rules: _rules, ...body } = { settings: {}, rules: NO_RULES, ...record.body }
          assert.ok(!JSON.stringify(eraseBody(body as RecordBody)).includes(secret), record.body.type)
          if (record.body.type !== 'config.changed') continue
          const left = eraseBody({ type: 'config.changed', settings: onlyContent(settings) })
          assert.ok(!JSON.stringify(left).includes(secret))
        }
      }),
      { numRuns: 100 },
    )
  })

  test('a fork folds from its own records alone: it keeps what its record contains, and begins anew with the rest', () => {
    fc.assert(
      fc.property(arbitraryForkedLog({ maxMoves: 60 }), ({ fork, at }) => {
        const forked = fold(fork.slice(0, 1))
        const body = fork[0]?.body
        assert.ok(body?.type === 'fork')
        const { origins, ...keep } = body.keep
        assert.deepEqual(storedHead(forked.head), {
          // Waits, queue, run, usage, title, goal, state and the rest.
          ...storedHead(emptyHead('main-fork')),
          ...keep,
          settingsAt: forked.head.settingsAt.toJSON(),
          bindings: origins,
          seq: at + 1,
          lineage: [...body.lineage, { stream: 'main-fork', from: at + 1, to: null }],
          tasksAt: at + 1,
        })
        assert.deepEqual([keep.grants, keep.yolo], [NO_GRANTS, false])
        for (const binding of Object.values(origins)) assert.equal(binding.origin, true)
        assert.equal(forked.messages.length, 0)
        assert.equal(fold(fork).head.stream, 'main-fork')
      }),
      { numRuns: 100 },
    )
  })
})

/** A rewind to a later point brings back messages that only the server has, so the client reads its window again. */
function refreshed(view: ThreadView, rows: Rows, state: ThreadState): ThreadView {
  if (!view.needsWindow) return view
  return viewFrom(JSON.parse(JSON.stringify({ seq: view.seq, head: view.head, messages: rows.shown(state) })))
}
