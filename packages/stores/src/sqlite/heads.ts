import type { StoredHead } from '@inspan/protocol/log'
import { tryParse } from '../shared/record-row.ts'
import type { SqliteConnection } from './connection.ts'

export function putHead(db: SqliteConnection, streamNo: number, head: { version: number; json: string }): void {
  db.run(
    `INSERT INTO heads (no, version, json) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET version = excluded.version, json = excluded.json`,
    streamNo,
    head.version,
    head.json,
  )
}

/** A head is a cache: one of another version, or a damaged one, counts as none and will be rebuilt. */
export function readHead(db: SqliteConnection, stream: string, reducerVersion: number): StoredHead | null {
  const json = db.value(
    'SELECT json FROM heads WHERE no = (SELECT no FROM streams WHERE id = ? AND deleted = 0) AND version = ?',
    stream,
    reducerVersion,
  )
  return (tryParse(json) as StoredHead | undefined) ?? null
}

export function dropHead(db: SqliteConnection, streamNo: number): void {
  db.run('DELETE FROM heads WHERE no = ?', streamNo)
}
