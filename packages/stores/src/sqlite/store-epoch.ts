import { randomUUID } from 'node:crypto'
import type { SqliteConnection } from './connection.ts'
import { isProcessAlive, processStartTime } from '../shared/machine.ts'
import { isSameOrigin } from './open-files.ts'

export type Durability = 'process' | 'power'

export interface OpenNote {
  readonly id: string
  readonly bootId: string
  readonly durability: Durability
  /** What a copy or a restored file does not share with the original; `null` in memory. */
  readonly origin: string | null
  /** Commits are known to be gone: the log was cut off or damaged. */
  readonly isLost: boolean
}

interface OpenRow {
  id: string
  boot_id: string
  pid: number
  start_time: string
  durability: Durability
}

/**
 * Notes that the file was opened, and returns its epoch, which lasts as long as no committed record can have been lost.
 * It changes when the file is another one than before, when its log has lost commits, or when a machine went down while the file was open with less
 * than `power` durability: the last commits may be gone then, and their seqs would be handed out again.
 */
export function noteOpened(db: SqliteConnection, note: OpenNote): string {
  const known = readMeta(db, 'epoch')
  const opens = db.all<OpenRow>('SELECT id, boot_id, pid, start_time, durability FROM opens')
  const isSameFile = note.origin === null || isSameOrigin(readMeta(db, 'origin') ?? '', note.origin)
  const mayHaveLost = note.isLost || opens.some((open) => open.boot_id !== note.bootId && open.durability !== 'power')
  const epoch = known !== undefined && isSameFile && !mayHaveLost ? known : randomUUID()
  writeMeta(db, 'epoch', epoch)
  if (note.origin !== null) writeMeta(db, 'origin', note.origin)
  for (const open of opens) {
    if (!isSameFile || open.boot_id !== note.bootId || !isProcessAlive(open.pid, open.start_time)) {
      noteClosed(db, open.id)
    }
  }
  db.run(
    'INSERT INTO opens (id, boot_id, pid, start_time, durability) VALUES (?, ?, ?, ?, ?)',
    note.id,
    note.bootId,
    process.pid,
    processStartTime(process.pid),
    note.durability,
  )
  return epoch
}

export function noteClosed(db: SqliteConnection, id: string): void {
  db.run('DELETE FROM opens WHERE id = ?', id)
}

function readMeta(db: SqliteConnection, name: string): string | undefined {
  return db.value('SELECT value FROM meta WHERE name = ?', name) as string | undefined
}

function writeMeta(db: SqliteConnection, name: string, value: string): void {
  db.run('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', name, value)
}
