import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { emptyHead, storedHead, type LogRecord } from '@inspan/protocol/log'
import type { Fence, Store } from '@inspan/protocol/store'
import { filesHolding } from '../test/files.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { infoOf, messageOf, noteOf, recordOf, saidOf, startThread } from '../test/threads.ts'
import { SqliteStore } from './sqlite-store.ts'

const SECRET = 'correct-horse-battery-staple'

/** Writes like a conversation: commands, batches that are sealed, heads that are replaced, long and short texts. */
async function converse(store: Store, id: string, say: (step: number) => string): Promise<Fence> {
  await store.createStream({ kind: 'thread', info: infoOf(id), headSeq: 0 })
  const { epoch } = await store.claim(id, 'me')
  const fence = { owner: 'me', epoch }
  let seq = 0
  for (let step = 0; step < 60; step++) {
    // Sizes around a page and far above it, so that rows move between pages and overflow them.
    const text = `${say(step)} `.repeat(1 + ((step * 7) % 23) * (step % 5 === 0 ? 40 : 3))
    const commandId = `00000000-0001-7000-8000-${String(step).padStart(12, '0')}`
    const key = { principal: 'p', clientId: id, commandId }
    await store.admitCommand({ key, bodyHash: 'h', target: id, body: { text }, at: 1 })
    const added = saidOf(id, ++seq, text)
    const messageId = `answer-${step}`
    const bytes = Buffer.from(`${text}, blob ${step}`)
    const hash = createHash('sha256').update(bytes).digest('hex')
    await store.append({
      stream: id,
      fence,
      records: [added],
      messages: [messageOf(id, seq, text)],
      outcomes: [{ key, outcome: 'ok' }],
      head: { head: { ...storedHead(emptyHead(id)), title: text }, reducerVersion: 1 },
      blobs: [{ hash, mime: 'text/plain', bytes, seq }],
    })
    const first = seq + 1
    const batches: LogRecord[] = []
    for (let piece = 0; piece < 4; piece++) {
      const event = { type: 'text-delta', messageId, partId: '0', text } as const
      batches.push(recordOf(id, ++seq, { type: 'batch', event }))
    }
    await store.append({ stream: id, fence, records: batches })
    const sealed = recordOf(id, ++seq, { type: 'text-delta', messageId, partId: '0', text })
    const wait = { id: `w${step}`, kind: 'question', subject: {}, description: text, openedAt: seq, at: 1 } as const
    await store.append({
      stream: id,
      fence,
      records: [{ ...sealed, first }],
      waits: [{ stream: id, wait, state: 'pending' }],
    })
  }
  return fence
}

describe('what was erased', () => {
  it(
    'is in no byte of the database or its log',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      const [fence] = await Promise.all([
        converse(store, 'secret', (step) => `${SECRET} ${step}`),
        converse(store, 'other', (step) => `harmless ${step}`),
      ])
      assert.notDeepEqual(await filesHolding(directory, SECRET), [])
      const head = (await store.getStream('secret'))?.headSeq ?? 0
      await store.erase('secret', fence, { from: 1, to: head })
      assert.deepEqual(await filesHolding(directory, SECRET), [])
      await store.append({ stream: 'secret', fence, records: [noteOf('secret', head + 1)] })
      assert.deepEqual(await filesHolding(directory, SECRET), [])
      const { items } = await store.readRecords('other', { limit: 1000 })
      assert.equal(items.length, 120)
      await store.close()
      assert.deepEqual(await filesHolding(directory, SECRET), [])
    }),
  )

  it(
    'is gone as well when the thread was deleted, though a fork keeps its neighbours',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      const fence = await converse(store, 'parent', (step) => (step < 30 ? `shared ${step}` : `${SECRET} ${step}`))
      // A step writes six seqs: the fork begins after the thirtieth.
      const lineage = [{ stream: 'parent', from: 1, to: 180 }]
      const keep = { ...storedHead(emptyHead('fork')), rules: { categories: {}, tools: {}, patterns: [] }, origins: {} }
      await store.createStream({
        kind: 'thread',
        info: infoOf('fork'),
        headSeq: 180,
        start: {
          owner: 'me',
          records: [recordOf('fork', 181, { type: 'fork', parent: 'parent', at: 180, lineage, keep })],
        },
      })
      const { retained } = await store.deleteThread('parent', fence)
      assert.deepEqual(retained, [{ stream: 'parent', from: 1, to: 180, neededBy: ['fork'] }])
      assert.deepEqual(await filesHolding(directory, SECRET), [])
      assert.equal((await store.readLineage(lineage, { limit: 1000 })).items.length, 60)
      await store.close()
    }),
  )

  it(
    'is overwritten also in a file that is too large to be written anew with every deletion',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      const bytes = Buffer.alloc(20 * 1024 * 1024, 'x')
      const blob = { hash: createHash('sha256').update(bytes).digest('hex'), mime: 'text/plain', bytes, seq: 1 }
      const large = await startThread(store, 'large', [noteOf('large', 1)])
      await store.append({ stream: 'large', fence: large, records: [], blobs: [blob] })
      const fence = await startThread(store, 'secret', [noteOf('secret', 1, `${SECRET} `.repeat(2000))])
      await store.deleteThread('secret', fence)
      assert.deepEqual(await filesHolding(directory, SECRET), [])
      await store.close()
    }),
  )

  it(
    'leaves the log with the next write when somebody was reading it',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const store = await SqliteStore.open({ url, busyTimeoutMs: 50 })
      const fence = await converse(store, 'secret', (step) => `${SECRET} ${step}`)
      const reader = new DatabaseSync(url)
      reader.exec('BEGIN')
      reader.prepare('SELECT count(*) FROM records').get()
      const head = (await store.getStream('secret'))?.headSeq ?? 0
      await store.erase('secret', fence, { from: 1, to: head })
      assert.ok((await filesHolding(directory, SECRET)).includes('data.db-wal'), 'a reader held the log back')
      reader.exec('COMMIT')
      reader.close()
      await store.append({ stream: 'secret', fence, records: [noteOf('secret', head + 1)] })
      assert.deepEqual(await filesHolding(directory, SECRET), [])
      await store.close()
    }),
  )
})
