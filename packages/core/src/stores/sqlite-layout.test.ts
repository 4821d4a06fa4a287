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

const GOLDEN_V1 = fileURLToPath(new URL('fixtures/golden-v1.db', import.meta.url))

/** In which way SQLite finds the newest record of a type. */
function planOf(path: string, type: RecordType): string {
  const db = new DatabaseSync(path)
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${latestRecordSql(type)}`).all()
  db.close()
  return rows.map((row) => String(row['detail'])).join('; ')
}

describe('records by type', () => {
  for (const origin of ['new', 'of an earlier layout']) {
    it(
      `are looked up in an index when they are rare, and otherwise from the end: a file that is ${origin}`,
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        if (origin !== 'new') await copyFile(GOLDEN_V1, path)
        await (await SqliteStore.open({ url: path })).close()
        for (const type of ['fork', 'rewind', 'erased', 'config.changed', 'tasks.changed', 'om.committed'] as const) {
          assert.match(planOf(path, type), /USING INDEX records_of_rare_types \(type=\?/, type)
        }
        for (const type of ['step.started', 'text-delta', 'batch'] as const) {
          assert.match(planOf(path, type), /USING INTEGER PRIMARY KEY/, type)
        }
      }),
    )
  }
})
