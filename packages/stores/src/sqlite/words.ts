import type { Lineage } from '@inspan/protocol/log'
import type { FoundWords, NewWords, WordsIndexed } from '@inspan/protocol/store'
import { stretchesOf } from '../shared/stretches.ts'
import type { SqliteConnection } from './connection.ts'
import { IN_RANGE_SQL, keySql } from './keys.ts'
import { streamNumber } from './records.ts'
import { findStream } from './streams.ts'

/**
 * The words of messages, under the keys of these. Made by the first search: most files are never searched, and a SQLite
 * may be without FTS5. `erased` counts erasures, so that what was read before one is not added after it.
 */
const LAYOUT = `
CREATE TABLE IF NOT EXISTS words_indexed (
  no INTEGER PRIMARY KEY REFERENCES streams (no) ON DELETE CASCADE, to_seq INTEGER NOT NULL, erased INTEGER NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, tokenize = 'porter unicode61');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
`
const NOTHING: WordsIndexed = { to: 0, erased: 0 }
const ROWS = IN_RANGE_SQL.replace('key', 'rowid')

/** Returns how far a stream is indexed; `null` if this SQLite cannot search. */
export function wordsIndexed(db: SqliteConnection, stream: string): WordsIndexed | null {
  if (!hasWords(db) && !canSearch(db)) return null
  return indexedOf(db, findStream(db, stream)?.no)
}

/** Adds words, unless others were added or something was erased since `on`. */
export function addWords(db: SqliteConnection, stream: string, on: WordsIndexed, words: readonly NewWords[]): void {
  db.write(() => {
    const no = findStream(db, stream)?.no
    const { erased, to } = indexedOf(db, no)
    if (no === undefined || erased !== on.erased || to !== on.to) return
    for (const { seq, text } of words) {
      db.run(`INSERT INTO words (rowid, text) VALUES (${keySql('?1', '?2')}, ?3)`, no, seq, text)
    }
    note(db, no, { to: words.at(-1)?.seq ?? to, erased })
  })
}

/** Returns the messages that have any of the terms, the best first. */
export function searchWords(
  db: SqliteConnection,
  lineage: Lineage,
  terms: readonly string[],
  limit: number,
): readonly FoundWords[] {
  if (terms.length === 0) return []
  const ranges = stretchesOf(lineage).map((stretch) => [streamNumber(db, stretch), stretch.from, stretch.to] as const)
  const within = ranges.map(() => `words.rowid BETWEEN ${keySql('?', '?')} AND ${keySql('?', '?')}`).join(' OR ')
  return db.all<FoundWords>(
    `SELECT messages.id AS id, (words.rowid & 4294967295) AS "order" FROM words
     JOIN messages ON messages.key = words.rowid
     WHERE words MATCH ? AND (${within}) ORDER BY bm25(words), words.rowid DESC LIMIT ?`,
    terms.map((term) => `"${term}"`).join(' OR '),
    ...ranges.flatMap(([no, from, to]) => [no, from, no, to]),
    limit,
  )
}

/** Removes the words of a range. Called within a transaction. */
export function eraseWords(db: SqliteConnection, no: number, { from, to }: { from: number; to: number }): void {
  if (!hasWords(db)) return
  db.run(`DELETE FROM words WHERE ${ROWS}`, no, from, to)
  const on = indexedOf(db, no)
  note(db, no, { ...on, erased: on.erased + 1 })
}

function hasWords(db: SqliteConnection): boolean {
  return db.value(`SELECT 1 FROM sqlite_schema WHERE name = 'words'`) === 1
}

function canSearch(db: SqliteConnection): boolean {
  if (db.value(`SELECT 1 FROM pragma_module_list WHERE name = 'fts5'`) !== 1) return false
  db.write(() => db.exec(LAYOUT))
  return true
}

function indexedOf(db: SqliteConnection, no: number | undefined): WordsIndexed {
  if (no === undefined) return NOTHING
  const found = db.get('SELECT to_seq AS "to", erased FROM words_indexed WHERE no = ?', no) as WordsIndexed | undefined
  return found === undefined ? NOTHING : { ...found }
}

function note(db: SqliteConnection, no: number, { erased, to }: WordsIndexed): void {
  db.run('INSERT OR REPLACE INTO words_indexed (no, to_seq, erased) VALUES (?, ?, ?)', no, to, erased)
}
