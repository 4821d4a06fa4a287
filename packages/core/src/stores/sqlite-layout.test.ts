import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RecordType } from '@evener/protocol'
import { inTempDir } from '../../test/stores/temp-dir.ts'
import { latestRecordSql } from './sqlite/records.ts'
import { SqliteStore } from './sqlite-store.ts'

const ORIGINS = [
  { origin: 'new', golden: null },
  { origin: 'of layout 1', golden: 'fixtures/golden-v1.db' },
  { origin: 'of layout 2', golden: 'fixtures/golden-v2.db' },
  { origin: 'of layout 3', golden: 'fixtures/golden-v3.db' },
] as const

async function migrated(directory: string, golden: string | null): Promise<string> {
  const path = join(directory, 'data.db')
  if (golden !== null) await copyFile(fileURLToPath(new URL(golden, import.meta.url)), path)
  await (await SqliteStore.open({ url: path })).close()
  return path
}

/** In which way SQLite finds the newest record of a type. */
function planOf(path: string, type: RecordType): string {
  const db = new DatabaseSync(path)
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${latestRecordSql(type)}`).all()
  db.close()
  return rows.map((row) => String(row['detail'])).join('; ')
}

describe('records by type', () => {
  for (const { origin, golden } of ORIGINS) {
    it(
      `are looked up in an index when they are rare, and otherwise from the end: a file that is ${origin}`,
      inTempDir(async (directory) => {
        const path = await migrated(directory, golden)
        for (const type of ['fork', 'rewind', 'erased', 'config.changed', 'tasks.changed', 'om.committed'] as const) {
          assert.match(planOf(path, type), /USING INDEX records_of_rare_types \(type=\?/, type)
        }
        for (const type of ['step.started', 'text-delta', 'batch'] as const) {
          assert.match(planOf(path, type), /USING INTEGER PRIMARY KEY/, type)
        }
      }),
    )

    it(
      `are written without filling a table to tell which are rare: a file that is ${origin}`,
      inTempDir(async (directory) => {
        const db = new DatabaseSync(await migrated(directory, golden))
        const explained = db
          .prepare('EXPLAIN INSERT INTO records (key, type, v, at, body) VALUES (?, ?, ?, ?, ?)')
          .all()
        db.close()
        const steps = new Set(explained.map((row) => row['opcode']))
        assert.ok(steps.has('IdxInsert'))
        assert.ok(!steps.has('OpenEphemeral'))
      }),
    )
  }
})
