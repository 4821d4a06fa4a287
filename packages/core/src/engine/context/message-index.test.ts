import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { StoredMessage } from '@inspan/protocol'
import type { Embed } from '@inspan/protocol/driver'
import type { Lineage, RecordBody } from '@inspan/protocol/log'
import type { MessageQuery, Page } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { conversation } from './conversations.fixture.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { openTestThread } from '../thread.fixture.ts'
import { countingIndex, MessageIndex } from './message-index.ts'

/** Counts the messages that are read from it. */
class CountingSqlite extends SqliteStore {
  rows = 0

  override async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    const page = await super.listMessages(lineage, query)
    this.rows += page.items.length
    return page
  }
}

const SEEDS = [1, 2, 3]
const TURNS = 400
const FACTS = 40

/** The share of questions whose evidence is among the first k results. */
async function recallAt(
  ks: readonly number[],
  open: () => MemoryStore | SqliteStore,
  embed?: Embed,
): Promise<number[]> {
  const hits = ks.map(() => 0)
  for (const seed of SEEDS) {
    const { questions, turns } = conversation(seed, TURNS, FACTS)
    const store = open()
    await using thread = await openTestThread(store)
    const bodies = turns.map((text, index) => ({
      type: 'message.added' as const,
      messageId: `m${index}`,
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ id: '0', type: 'text' as const, text }],
    }))
    await thread.log.commit(bodies)
    const index = new MessageIndex(store, thread.log)
    for (const { evidence, text } of questions) {
      const found = await index.search(text, { limit: Math.max(...ks), ...(embed === undefined ? {} : { embed }) })
      const rank = found.findIndex(({ id }) => id === `m${evidence}`)
      ks.forEach((k, at) => (hits[at] = (hits[at] ?? 0) + (rank >= 0 && rank < k ? 1 : 0)))
    }
    index.close()
  }
  return hits.map((count) => count / (SEEDS.length * FACTS))
}

/** Maps words to directions, some that mean the same to one: what an embedding model does, without one. */
const MEANINGS: readonly RegExp[] = [
  /live|moved|works from/,
  /deploy/,
  /deadline|finished|have to be/,
  /avoid|not to use/,
  /password|hint/,
]
const embed: Embed = async (texts) =>
  texts.map((text) => {
    const vector = Array.from({ length: 64 }, () => 0)
    for (const name of text.match(/\b[A-Z][a-z]+\b/g) ?? []) {
      const at = 8 + (Array.from(name).reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 56)
      vector[at] = 1
    }
    MEANINGS.forEach((meaning, at) => (vector[at] = meaning.test(text.toLowerCase()) ? 1.5 : 0))
    return vector
  })

suite('retrieval of evidence turns from generated conversations', () => {
  for (const [name, open] of [
    ['in memory', () => new MemoryStore()],
    ['on SQLite', () => new SqliteStore({ url: ':memory:' })],
  ] as const) {
    test(`by keywords ${name}: recall@1, @5, @10`, async (t) => {
      const [at1 = 0, at5 = 0, at10 = 0] = await recallAt([1, 5, 10], open)
      t.diagnostic(`recall@1 ${at1}, @5 ${at5}, @10 ${at10}`)
      assert.ok(at1 <= at5 && at5 <= at10)
      // Questions that share no word with their evidence but a common name are out of its reach.
      assert.ok(at1 >= 0.5 && at5 >= 0.55 && at10 >= 0.6, `${at1} ${at5} ${at10}`)
    })
  }

  test('with an embedding model as well: better at every k', async (t) => {
    const keywords = await recallAt([1, 5, 10], () => new MemoryStore())
    const both = await recallAt([1, 5, 10], () => new MemoryStore(), embed)
    t.diagnostic(`keywords ${keywords.join(' ')}, with embeddings ${both.join(' ')}`)
    assert.ok(
      both.every((share, at) => share > (keywords[at] ?? 1)),
      `${both.join(' ')} against ${keywords.join(' ')}`,
    )
  })

  test('the same seed gives the same conversation', () => {
    assert.deepEqual(conversation(7, 50, 5), conversation(7, 50, 5))
    assert.notDeepEqual(conversation(7, 50, 5), conversation(8, 50, 5))
  })

  test('without FTS5, rare words decide', () => {
    const index = countingIndex()
    ;['the red door', 'the blue door', 'the walrus at the door'].forEach((text, row) => index.add(row, text))
    assert.deepEqual(index.search('the walrus', 2), [2, 1])
    assert.deepEqual(index.search('"* OR', 2), [])
  })

  test('nothing in a query is syntax', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const index = new MessageIndex(thread.store, thread.log)
    for (const query of ['"', 'a AND', 'NEAR(', '*', 'x:y', '', '-- ;']) {
      assert.deepEqual(await index.search(query, { limit: 3 }), [], query)
    }
  })
})

suite('the index of words in a SQLite file', () => {
  const said = (id: string, text: string): RecordBody => ({
    type: 'message.added',
    messageId: id,
    role: 'user',
    parts: [{ id: '0', type: 'text', text }],
  })
  const find = async (store: SqliteStore, log: ThreadLog, query: string): Promise<string[]> =>
    (await new MessageIndex(store, log).search(query, { limit: 5 })).map(({ id }) => id)

  test(
    'is kept: another process searches what is there, and adds only what was said since',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      {
        await using thread = await openTestThread(await SqliteStore.open({ url }))
        const store = thread.store as SqliteStore
        await thread.log.commit([said('a', 'The door is blue.'), said('b', 'The roof is red.')])
        assert.deepEqual(await store.words.indexed(thread.log.stream), { to: 0, erased: 0 })
        assert.deepEqual(await find(store, thread.log, 'doors'), ['a'])
        assert.equal((await store.words.indexed(thread.log.stream))?.to, thread.log.state.head.seq)
        await thread.log.commit([said('c', 'The windows are closed.')])
        const other = new CountingSqlite({ url })
        const rows = [{ stream: thread.log.stream, from: 1, to: null }]
        assert.deepEqual(
          (await other.words.search(rows, ['roof'], 5)).map(({ id }) => id),
          ['b'],
          'without reading a message',
        )
        assert.deepEqual(await find(other, thread.log, 'closed window'), ['c'])
        assert.equal(other.rows, 1, 'one message was new')
        await other.close()
      }
    }),
  )

  test(
    'forgets what is erased, in every byte of the file, and does not take it up again',
    inTempDir(async (directory) => {
      const url = join(directory, 'data.db')
      const word = 'Xylophonist'
      {
        await using thread = await openTestThread(await SqliteStore.open({ url }))
        const store = thread.store as SqliteStore
        const { log } = thread
        await log.commit([said('a', `It was the ${word}.`), said('b', 'The roof is red.')])
        assert.deepEqual(await find(store, log, word), ['a'])
        const stale = await store.words.indexed(log.stream)
        assert.ok(stale !== null)
        await store.erase(log.stream, thread.fence, { from: 1, to: 1 })
        assert.deepEqual(await find(store, log, word), [])
        assert.deepEqual(await find(store, log, 'roof'), ['b'])
        await store.words.add(log.stream, stale, [{ seq: 9, text: word }])
        assert.deepEqual(await store.words.search(log.state.head.lineage, [word.toLowerCase()], 5), [])
      }
      for (const name of readdirSync(directory)) {
        assert.ok(!readFileSync(join(directory, name)).toString('latin1').toLowerCase().includes('xylophon'), name)
      }
    }),
  )
})
