import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import { arbitraryLog } from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import { InspanError, type JsonObject, type StoredMessage } from '@inspan/protocol'
import {
  emptyHead,
  emptyState,
  isContentSetting,
  lineageHolds,
  lineageUpTo,
  reduce,
  storedHead,
  storedMessage,
  type Head,
  type Lineage,
  type LogRecord,
  type StoredHead,
  type ThreadState,
} from '@inspan/protocol/log'
import type { Blob } from '@inspan/protocol/store'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from './ownership.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { createThread, forkThread, rewindThread } from './threads.ts'
import { foldWithViews } from '../log/view-writes.ts'

/** Generated logs refer to blobs that were never written. */
class BlobbedStore extends MemoryStore {
  override readBlob(hash: string): Promise<Blob | null> {
    return Promise.resolve({ hash, mime: 'text/plain', bytes: new Uint8Array() })
  }
}

interface Played {
  readonly store: MemoryStore
  readonly owner: ProcessOwner
  readonly state: ThreadState
  readonly records: readonly LogRecord[]
}

/** Writes a generated log as it was written live, erasures included. */
async function play(records: readonly LogRecord[]): Promise<Played> {
  const store = new BlobbedStore()
  const owner = await ProcessOwner.register(store)
  await createThread(store, { id: 'main', resourceId: 'test', title: 'Title', now: 1 })
  const fence = await owner.claim('main')
  let state = emptyState('main')
  for (const record of records) {
    if (record.body.type === 'erased') await store.erase('main', fence, record.body)
    const folded = foldWithViews(state, [record])
    state = folded.state
    await store.append({ stream: 'main', fence, records: [record], ...folded.writes })
  }
  await owner.release('main', fence)
  return { store, owner, state, records: await Array.fromAsync(recordsAfter(store, 'main', 0)) }
}

/** Returns message ends and step starts with no open message, and the start, found record by record. */
function boundariesOf(records: readonly LogRecord[], lineage: Lineage): Set<number> {
  const boundaries = new Set([0])
  const open = new Set<string>()
  for (const { body, seq } of records) {
    if (!lineageHolds(lineage, seq)) continue
    if (body.type === 'run.started' || body.type === 'run.ended' || body.type === 'rewind') open.clear()
    if (body.type === 'message.started') open.add(body.messageId)
    if (body.type === 'message.ended') open.delete(body.messageId)
    const isEnd = body.type === 'message.added' || body.type === 'message.ended' || body.type === 'step.started'
    if (isEnd && open.size === 0) boundaries.add(seq)
  }
  return boundaries
}

/** Returns the messages that a lineage shows up to a point. */
function shownAt(records: readonly LogRecord[], lineage: Lineage, at: number): StoredMessage[] {
  const rows = new Map<string, StoredMessage>()
  let state = emptyState('main')
  for (const record of records.filter(({ seq }) => seq <= at)) {
    const reduced = reduce(state, record)
    state = reduced.state
    for (const message of reduced.written) rows.set(message.id, storedMessage(message))
  }
  const erased = records.flatMap(({ body }) => (body.type === 'erased' ? [body] : []))
  return [...rows.values()]
    .filter(({ order }) => lineageHolds(lineage, order) && !erased.some(({ from, to }) => order >= from && order <= to))
    .sort((a, b) => a.order - b.order)
}

/** Returns the head of the lineage at a point, without what was rewound. */
function headAt(records: readonly LogRecord[], lineage: Lineage, at: number): Head {
  return records
    .filter(({ seq }) => seq <= at && lineageHolds(lineage, seq))
    .reduce((state, record) => reduce(state, record).state, emptyState('main')).head
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

async function refusal(attempt: Promise<unknown>): Promise<{ nearest: number }> {
  const error: unknown = await attempt.then(
    () => assert.fail('It was not refused.'),
    (reason: unknown) => reason,
  )
  assert.ok(InspanError.is(error, 'invalid-input'), String(error))
  return error.details as { nearest: number }
}

function nearestOf(boundaries: ReadonlySet<number>, at: number): number {
  return [...boundaries].sort((a, b) => Math.abs(a - at) - Math.abs(b - at) || a - b)[0] ?? 0
}

suite('a thread', () => {
  test('is forked at every boundary, with what belongs there, and nowhere else', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLog({ maxMoves: 30 }), async (log) => {
        const { owner, records, state, store } = await play(log)
        const { head } = state
        const boundaries = boundariesOf(records, head.lineage)
        for (let at = 0; at <= head.seq; at++) {
          const id = `fork-${at}`
          const made = forkThread(store, owner, state, { id, resourceId: 'test', at, now: 1 })
          if (!boundaries.has(at)) {
            assert.equal((await refusal(made)).nearest, nearestOf(boundaries, at))
            continue
          }
          assert.equal((await made).title, null)
          const lineage = lineageUpTo(head.lineage, at)
          const fence = await owner.claim(id)
          const fork = await ThreadLog.open({ store, stream: id, fence })
          assert.equal(fork.state.messages.length, 0)
          const point = headAt(records, head.lineage, at)
          const settings = keptSettings(head.settings.toJSON(), shownAt(records, lineage, at))
          const expected: StoredHead = {
            // Waits, queue, run, grants, usage, title, goal and state start empty.
            ...storedHead(emptyHead(id)),
            seq: at + 1,
            lineage: [...lineage, { stream: id, from: at + 1, to: null }],
            mode: head.mode,
            model: head.model,
            agentId: head.agentId,
            rules: head.rules,
            settings,
            settingsAt: Object.fromEntries(
              Object.keys(settings)
                .filter(isContentSetting)
                .map((key) => [key, at + 1]),
            ),
            tasks: point.tasks,
            tasksAt: at + 1,
            om: point.om,
            bindings: Object.fromEntries(
              [...head.bindings].map((binding) => [binding.agentId, { ...binding, origin: true }]),
            ),
          }
          assert.deepEqual(plain(fork.state.head), plain(expected))
          const view = await store.listMessages(fork.state.head.lineage, { order: 'oldest', limit: 1000 })
          assert.deepEqual(plain(view.items), plain(shownAt(records, lineage, at)))
        }
        await owner.close()
      }),
      { numRuns: 40 },
    )
  })

  test('is rewound to every boundary, and nowhere else', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLog({ maxMoves: 30, closed: true }), async (log) => {
        const { owner, records, state, store } = await play(log)
        const { head } = state
        const boundaries = boundariesOf(records, head.lineage)
        const fence = await owner.claim('main')
        const thread = await ThreadLog.open({ store, stream: 'main', fence })
        // Rewinds step by step, and forward again.
        const forward = Array.from({ length: head.seq + 1 }, (_, at) => at)
        const whole = lineageUpTo(head.lineage, head.seq)
        for (const [at, target] of [
          ...forward.toReversed().map((seq) => [seq, undefined] as const),
          ...forward.map((seq) => [seq, whole] as const),
        ]) {
          const before = thread.state.head
          const rewound = rewindThread(store, thread, at, target)
          if (!boundaries.has(at)) {
            assert.equal((await refusal(rewound)).nearest, nearestOf(boundaries, at))
            assert.equal(thread.state.head, before)
            continue
          }
          await rewound
          const lineage = lineageUpTo(head.lineage, at)
          const point = headAt(records, head.lineage, at)
          const now = thread.state.head
          const seq = before.seq + 1
          const waits = [...before.waits.entries()].filter(([, { openedAt }]) => openedAt <= at)
          const expected: StoredHead = {
            // Title, mode, model, rules, grants, yolo, settings, state, goal, queue and usage stay as they are.
            ...storedHead(before),
            seq,
            lineage: [...lineage, { stream: 'main', from: seq, to: null }],
            rewrittenAt: seq,
            tasks: point.tasks,
            tasksAt: seq,
            om: point.om,
            waits: Object.fromEntries(waits),
            bindings: Object.fromEntries(
              [...before.bindings].map((binding) => [
                binding.agentId,
                binding.syncedTo > at && binding.stale !== 'erased' ? { ...binding, stale: 'rewound' } : binding,
              ]),
            ),
          }
          assert.deepEqual(plain(now), plain(expected))
          const pending = await store.listWaits({ stream: 'main', state: 'pending', limit: 1000 })
          assert.deepEqual(pending.items.map(({ wait }) => wait.id).sort(), waits.map(([id]) => id).sort())
          const view = await store.listMessages(now.lineage, { order: 'oldest', limit: 1000 })
          assert.deepEqual(plain(view.items), plain(shownAt(records, lineage, at)))
        }
        await owner.close()
      }),
      { numRuns: 40 },
    )
  })
})

/** Returns all config settings, and of the content settings the notes about messages that the fork shows. */
function keptSettings(settings: JsonObject, shown: readonly StoredMessage[]): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([key, value]) =>
        !isContentSetting(key) || shown.some(({ id }) => (value as { messageId?: unknown }).messageId === id),
    ),
  )
}
