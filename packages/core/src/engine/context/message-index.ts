import type { DatabaseSync } from 'node:sqlite'
import type { StoredMessage } from '@inspan/protocol'
import type { Embed, MessageSearch } from '@inspan/protocol/driver'
import type { NewWords, Store, WordIndex as StoredWords } from '@inspan/protocol/store'
import { inflateMessage } from '../log/blobs.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { textOf } from './message-size.ts'
import { allItems } from '../../common/all-items.ts'

/** A message that a search found. */
export interface FoundMessage {
  readonly id: string
  readonly order: number
}

const PAGE = 500

/** Of several rankings, those low in a list count little: the usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60

/**
 * Finds messages of a thread by their words and, with an embedding model, by their meaning. Words are looked up in the
 * index of the store, if it has one. Otherwise, and for meanings, an index is made on the first search and kept in the
 * process.
 */
export class MessageIndex {
  readonly #store: Store
  readonly #log: ThreadLog
  #words: OpenWordIndex | undefined
  #vectors = new Map<number, readonly number[]>()
  #known: FoundMessage[] = []
  #work: Promise<unknown> = Promise.resolve()

  constructor(store: Store, log: ThreadLog) {
    this.#store = store
    this.#log = log
    log.onEntry((entry) => {
      if (entry.kind === 'record' && /^(rewind|erased|fork)$/.test(entry.record.body.type)) this.close()
    })
  }

  /** Returns the messages that fit the query best, the best first. */
  search(query: string, options: MessageSearch): Promise<readonly FoundMessage[]> {
    const found = this.#work.then(() => this.#search(query, options))
    this.#work = found.catch(() => undefined)
    return found
  }

  /** Forgets the index. The next search makes it again. */
  close(): void {
    this.#words?.close()
    this.#words = undefined
    this.#vectors = new Map()
    this.#known = []
  }

  async #search(query: string, { embed, limit, signal }: MessageSearch): Promise<readonly FoundMessage[]> {
    if (embed === undefined) {
      const stored = await this.#searchStore(query, limit)
      if (stored !== undefined) return stored
    }
    const words = (this.#words ??= await openWordIndex())
    await this.#update(words, embed, signal)
    // What the open run says is before the model's eyes, and the search itself is among it.
    const now = this.#log.state.head.run?.startedSeq ?? Infinity
    const candidates = limit * 2 + this.#known.filter(({ order }) => order >= now).length
    const byWords = words.search(query, candidates)
    const [vector] = embed === undefined ? [] : await embed([query], signal)
    const rankings = vector === undefined ? [byWords] : [byWords, this.#nearest(vector, candidates)]
    return fused(rankings)
      .flatMap((row) => this.#known[row] ?? [])
      .filter(({ order }) => order < now)
      .slice(0, limit)
  }

  /** Searches the index of the store, after adding what it lacks. `undefined` if there is none. */
  async #searchStore(query: string, limit: number): Promise<readonly FoundMessage[] | undefined> {
    const { words } = this.#store
    const { head } = this.#log.state
    const lineage = [...head.lineage]
    if (words === undefined) return undefined
    const streams = new Map(lineage.map(({ stream, to }) => [stream, to]))
    for (const [stream, to] of streams) if (!(await this.#index(words, stream, to))) return undefined
    // What the open run says is before the model's eyes.
    const now = head.run?.startedSeq ?? Infinity
    const before = lineage.flatMap(({ from, stream, to }) =>
      from >= now ? [] : [{ stream, from, to: to === null || to >= now ? (now === Infinity ? to : now - 1) : to }],
    )
    return words.search(before, termsOf(query), limit)
  }

  /** Adds the messages of a stream, also those that are not in the lineage now: a rewind may be undone. */
  async #index(words: StoredWords, stream: string, to: number | null): Promise<boolean> {
    for (;;) {
      const on = await words.indexed(stream)
      if (on === null) return false
      if (to !== null && on.to >= to) return true
      const range = [{ stream, from: on.to + 1, to }]
      const { items } = await this.#store.listMessages(range, { order: 'oldest', limit: PAGE })
      const open = items.findIndex(({ state }) => state === 'open')
      const ended = open === -1 ? items : items.slice(0, open)
      if (ended.length === 0) return true
      const texts: NewWords[] = []
      for (const message of ended) {
        const { parts } = await inflateMessage(this.#store, [{ stream, from: 1, to: null }], message)
        texts.push({ seq: message.order, text: parts.map(textOf).join('\n') })
      }
      await words.add(stream, on, texts)
    }
  }

  /** Adds the messages since the last search. */
  async #update(words: OpenWordIndex, embed: Embed | undefined, signal: AbortSignal | undefined): Promise<void> {
    const upTo = this.#known.at(-1)?.order ?? 0
    const fresh: StoredMessage[] = []
    const { lineage } = this.#log.state.head
    const query = { order: 'newest', limit: PAGE } as const
    for await (const message of allItems((from) => this.#store.listMessages(lineage, { ...query, ...from }))) {
      if (message.order <= upTo) break
      if (message.state !== 'open') fresh.push(await inflateMessage(this.#store, lineage, message))
    }
    const texts = fresh.reverse().map(({ parts }) => parts.map(textOf).join('\n'))
    const vectors = texts.length === 0 ? [] : ((await embed?.(texts, signal)) ?? [])
    fresh.forEach(({ id, order }, index) => {
      const row = this.#known.push({ id, order }) - 1
      words.add(row, texts[index] ?? '')
      const vector = vectors[index]
      if (vector !== undefined) this.#vectors.set(row, vector)
    })
  }

  #nearest(vector: readonly number[], limit: number): number[] {
    return [...this.#vectors]
      .map(([row, other]) => [row, cosine(vector, other)] as const)
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([row]) => row)
  }
}

interface OpenWordIndex {
  add(row: number, text: string): void
  search(query: string, limit: number): number[]
  close(): void
}

/** Loaded on the first search: most threads are never searched. */
async function openWordIndex(): Promise<OpenWordIndex> {
  const { DatabaseSync: Database } = await import('node:sqlite')
  const database = new Database(':memory:')
  try {
    database.exec(`create virtual table words using fts5(text, content='', tokenize='porter unicode61')`)
    return ftsIndex(database)
  } catch {
    // A SQLite without FTS5.
    database.close()
    return countingIndex()
  }
}

function ftsIndex(database: DatabaseSync): OpenWordIndex {
  const insert = database.prepare('insert into words(rowid, text) values (?, ?)')
  const select = database.prepare(
    'select rowid from words where words match ? order by bm25(words), rowid desc limit ?',
  )
  return {
    add: (row, text) => void insert.run(row + 1, text),
    search: (query, limit) => {
      const terms = termsOf(query)
      if (terms.length === 0) return []
      const match = terms.map((term) => `"${term}"`).join(' OR ')
      return select.all(match, limit).map(({ rowid }) => Number(rowid) - 1)
    },
    close: () => database.close(),
  }
}

/** Counts the terms of the query in each text. Rare terms count more. */
export function countingIndex(): OpenWordIndex {
  const texts: (readonly [row: number, terms: ReadonlySet<string>])[] = []
  const frequency = new Map<string, number>()
  return {
    add: (row, text) => {
      const terms = new Set(termsOf(text))
      for (const term of terms) frequency.set(term, (frequency.get(term) ?? 0) + 1)
      texts.push([row, terms])
    },
    search: (query, limit) => {
      const terms = termsOf(query)
      const weight = (term: string): number => Math.log(1 + texts.length / (frequency.get(term) ?? Infinity))
      return texts
        .map(
          ([row, words]) => [row, terms.reduce((sum, term) => sum + (words.has(term) ? weight(term) : 0), 0)] as const,
        )
        .filter(([, score]) => score > 0)
        .sort(([row, score], [otherRow, other]) => other - score || otherRow - row)
        .slice(0, limit)
        .map(([row]) => row)
    },
    close: () => undefined,
  }
}

/** Letters and digits only, so that nothing in a query is syntax. */
function termsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
}

function fused(rankings: readonly (readonly number[])[]): number[] {
  const scores = new Map<number, number>()
  for (const ranking of rankings) {
    ranking.forEach((row, rank) => scores.set(row, (scores.get(row) ?? 0) + 1 / (RANK_OFFSET + rank)))
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([row]) => row)
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, ofA, ofB] = [0, 0, 0]
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0]
    dot += x * y
    ofA += x * x
    ofB += y * y
  }
  return ofA === 0 || ofB === 0 ? 0 : dot / Math.sqrt(ofA * ofB)
}
