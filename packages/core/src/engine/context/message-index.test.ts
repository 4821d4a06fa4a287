import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Embed } from '@inspan/protocol/driver'
import { conversation } from './conversations.fixture.ts'
import { MemoryStore } from '../../stores/memory-store.ts'
import { SqliteStore } from '../../stores/sqlite-store.ts'
import { openTestThread } from '../thread.fixture.ts'
import { countingIndex, MessageIndex } from './message-index.ts'

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

  test('with an embedding model besides: better at every k', async (t) => {
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
