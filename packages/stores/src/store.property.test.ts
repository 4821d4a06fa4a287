import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import {
  forkLineage,
  lineageUpTo,
  rewindLineage,
  RECORD_VERSIONS,
  rootLineage,
  type StoredLineage,
  type LogRecord,
  type RecordBody,
} from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import fc from 'fast-check'
import { infoOf, messageOf, saidOf } from '../test/threads.ts'
import { MemoryStore } from './memory-store.ts'
import { SqliteStore } from './sqlite-store.ts'

/** The simplest model of threads: lists of records, and who can see which. */
interface ModelThread {
  readonly id: string
  head: number
  isAlive: boolean
  lineage: StoredLineage
  /** The ranges it was forked from, which are kept as long as it lives. */
  readonly inherited: StoredLineage
  readonly base: number
  records: LogRecord[]
  /** The seqs of batches of parts that are still open, by part. */
  readonly open: Map<string, number[]>
}

type Action =
  | { readonly do: 'create' }
  | { readonly do: 'say' | 'batch' | 'seal' | 'fork' | 'rewind' | 'delete'; readonly on: number; readonly pick: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Action>({ do: 'create' }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom('say', 'say', 'batch', 'batch', 'seal', 'fork', 'rewind', 'delete'),
      on: fc.nat(20),
      pick: fc.nat(1000),
    }),
  },
)

class Model {
  readonly threads: ModelThread[] = []
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async perform(step: Action): Promise<void> {
    if (step.do === 'create') return this.#create()
    const living = this.threads.filter((thread) => thread.isAlive)
    const thread = living[step.on % Math.max(living.length, 1)]
    if (thread === undefined) return
    switch (step.do) {
      case 'say':
        return this.#append(thread, [saidOf(thread.id, thread.head + 1, `text ${step.pick}`)])
      case 'batch':
        return this.#batch(thread, `part ${step.pick % 3}`)
      case 'seal':
        return this.#seal(thread, `part ${step.pick % 3}`)
      case 'fork':
        return this.#fork(thread, step.pick % (thread.head + 1))
      case 'rewind':
        return this.#rewind(thread, step.pick % (thread.head + 1))
      case 'delete':
        return this.#delete(thread)
    }
  }

  async #create(): Promise<void> {
    const id = `t${this.threads.length}`
    await this.#start(id, 0, [], rootLineage(id), [])
  }

  async #start(
    id: string,
    base: number,
    records: LogRecord[],
    lineage: StoredLineage,
    inherited: StoredLineage,
  ): Promise<void> {
    const start = { owner: 'me', records }
    await this.#store.createStream({ kind: 'thread', info: infoOf(id), headSeq: base, start })
    const head = base + records.length
    this.threads.push({ id, head, isAlive: true, lineage, inherited, base, records, open: new Map() })
  }

  async #append(thread: ModelThread, records: readonly LogRecord[]): Promise<void> {
    const messages = records.flatMap(({ body, seq }) => {
      const [part] = body.type === 'message.added' ? body.parts : []
      return part?.type === 'text' ? [messageOf(thread.id, seq, part.text)] : []
    })
    await this.#store.append({ stream: thread.id, fence: { owner: 'me', epoch: 1 }, records, messages })
    thread.records.push(...records)
    thread.head += records.length
  }

  async #batch(thread: ModelThread, partId: string): Promise<void> {
    const seq = thread.head + 1
    const event = { type: 'text-delta', messageId: 'm', partId, text: `${seq}` } as const
    await this.#append(thread, [entry(thread.id, seq, { type: 'batch', event })])
    thread.open.set(partId, [...(thread.open.get(partId) ?? []), seq])
  }

  async #seal(thread: ModelThread, partId: string): Promise<void> {
    const batches = thread.open.get(partId)
    const first = batches?.[0]
    if (batches === undefined || first === undefined) return
    const seq = thread.head + 1
    const body: RecordBody = { type: 'text-delta', messageId: 'm', partId, text: 'whole' }
    await this.#append(thread, [{ ...entry(thread.id, seq, body), first }])
    thread.records = thread.records.filter((record) => !batches.includes(record.seq))
    thread.open.delete(partId)
  }

  /** Forks and rewinds need a boundary: none is possible while a part is open. */
  async #fork(parent: ModelThread, at: number): Promise<void> {
    if (parent.open.size > 0 || at === 0) return
    const id = `t${this.threads.length}`
    const inherited = lineageUpTo(parent.lineage, at)
    const { rules, grants } = {
      rules: { categories: {}, tools: {}, patterns: [] },
      grants: { categories: [], tools: [] },
    }
    const keep = {
      mode: null,
      model: null,
      agentId: null,
      rules,
      yolo: false,
      settings: {},
      tasks: [],
      om: null,
      grants,
    }
    const body: RecordBody = {
      type: 'fork',
      parent: parent.id,
      at,
      lineage: inherited,
      keep: { ...keep, origins: {} },
    }
    await this.#start(id, at, [entry(id, at + 1, body)], forkLineage(parent.lineage, at, id), inherited)
  }

  async #rewind(thread: ModelThread, to: number): Promise<void> {
    if (thread.open.size > 0) return
    const lineage = lineageUpTo(thread.lineage, to)
    const seq = thread.head + 1
    await this.#append(thread, [entry(thread.id, seq, { type: 'rewind', to, lineage, tasks: [], om: null })])
    thread.lineage = rewindLineage(thread.lineage, thread.id, to, seq)
  }

  async #delete(thread: ModelThread): Promise<void> {
    const result = await this.#store.deleteThread(thread.id, { owner: 'me', epoch: 1 })
    thread.isAlive = false
    assert.equal(result.deleted, true)
    const needers = this.threads.filter(
      (other) => other.isAlive && other.inherited.some(({ stream }) => stream === thread.id),
    )
    assert.deepEqual(
      [...new Set(result.retained.flatMap((range) => range.neededBy))].sort(),
      needers.map((other) => other.id).sort(),
    )
  }

  /** Returns the records of the lineage, in order. */
  seen(lineage: StoredLineage): LogRecord[] {
    return lineage.flatMap((range) => {
      const stream = this.threads.find((thread) => thread.id === range.stream)
      return (stream?.records ?? []).filter(({ seq }) => seq >= range.from && (range.to === null || seq <= range.to))
    })
  }

  /** Returns the records that have to be left of a deleted stream. */
  retained(thread: ModelThread): LogRecord[] {
    const needs = this.threads.filter((other) => other.isAlive).flatMap((other) => other.inherited)
    return thread.records.filter(({ seq }) =>
      needs.some(({ stream, from, to }) => stream === thread.id && seq >= from && (to === null || seq <= to)),
    )
  }
}

function entry(stream: string, seq: number, body: RecordBody): LogRecord {
  return { v: RECORD_VERSIONS[body.type], stream, seq, at: 1000 + seq, body }
}

async function readAll(store: Store, lineage: StoredLineage, limit: number): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<Store['readLineage']>> = await store.readLineage(lineage, {
      limit,
      ...(cursor === null ? {} : { cursor }),
    })
    records.push(...page.items)
    cursor = page.next
  } while (cursor !== null)
  return records
}

async function compare(store: Store, model: Model, limit: number): Promise<void> {
  for (const thread of model.threads) {
    if (thread.isAlive) {
      assert.equal((await store.getStream(thread.id))?.headSeq, thread.head)
      const seen = model.seen(thread.lineage)
      assert.deepEqual(await readAll(store, thread.lineage, limit), seen)
      const messages = await store.listMessages(thread.lineage, { order: 'newest', limit: 1000 })
      const said = seen.filter(({ body }) => body.type === 'message.added').map(({ seq }) => seq)
      assert.deepEqual(messages.items.map(({ order }) => order).reverse(), said)
      checkCoverage(thread, await readAll(store, [{ stream: thread.id, from: 1, to: null }], limit))
    } else {
      assert.equal(await store.getStream(thread.id), null)
      const left = model.retained(thread)
      const closed = [{ stream: thread.id, from: 1, to: thread.head }]
      const found = await readAll(store, closed, limit).catch((error: unknown) => {
        assert.ok(InspanError.is(error, 'not-found'), String(error))
        return []
      })
      assert.deepEqual(found, left)
    }
  }
}

/** Checks that every seq is a record, or is covered by a sealed part. */
function checkCoverage(thread: ModelThread, records: readonly LogRecord[]): void {
  for (let seq = thread.base + 1; seq <= thread.head; seq++) {
    assert.ok(
      records.some(
        (record) => record.seq === seq || (record.first !== undefined && record.first <= seq && seq < record.seq),
      ),
      `${thread.id} has lost ${seq}`,
    )
  }
}

describe('any sequence of appends, seals, forks, rewinds and deletions', () => {
  const stores = { MemoryStore: () => new MemoryStore(), SqliteStore: () => new SqliteStore({ url: ':memory:' }) }
  for (const [name, make] of Object.entries(stores)) {
    it(`leaves in a ${name} exactly what a plain list of records would`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(action, { maxLength: 60 }),
          fc.integer({ min: 1, max: 7 }),
          async (actions, limit) => {
            const store = make()
            try {
              const model = new Model(store)
              await model.perform({ do: 'create' })
              for (const step of actions) await model.perform(step)
              await compare(store, model, limit)
            } finally {
              await store.close()
            }
          },
        ),
        { numRuns: 150 },
      )
    })
  }
})
