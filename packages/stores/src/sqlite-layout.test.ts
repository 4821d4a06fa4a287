import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RecordType } from '@inspan/protocol/log'
import { inTempDir } from '../test/temp-dir.ts'
import { latestRecordSql } from './sqlite/records.ts'
import { listSql } from './sqlite/threads.ts'
import { SqliteStore } from './sqlite-store.ts'

const ORIGINS = [
  { origin: 'new', golden: null },
  { origin: 'of layout 1', golden: 'fixtures/golden-v1.db' },
] as const

async function migrated(directory: string, golden: string | null): Promise<string> {
  const path = join(directory, 'data.db')
  if (golden !== null) await copyFile(fileURLToPath(new URL(golden, import.meta.url)), path)
  await (await SqliteStore.open({ url: path })).close()
  return path
}

/** Returns the query plan for the newest record of a type. */
function planOf(path: string, type: RecordType): string {
  return planOfSql(path, latestRecordSql(type))
}

function planOfSql(path: string, sql: string): string {
  const db = new DatabaseSync(path)
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
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

describe('lists of threads', () => {
  for (const { origin, golden } of ORIGINS) {
    it(
      `are read in the order of an index, from its end: a file that is ${origin}`,
      inTempDir(async (directory) => {
        const path = await migrated(directory, golden)
        for (const [query, index] of [
          [{}, /USING INDEX threads_by_update/],
          [{ resourceId: 'r' }, /USING INDEX threads_by_resource/],
          [{ root: 'r' }, /USING INDEX threads_by_root/],
          [{ resourceId: 'r', root: 'r' }, /USING INDEX threads_by_(root|resource)/],
          [{ includeHidden: true }, /USING INDEX threads_by_update/],
        ] as const) {
          const plan = planOfSql(path, listSql(query))
          assert.match(plan, index)
          // Hidden and other threads are read in order, a page of each; only these pages are sorted together.
          if (!('includeHidden' in query)) assert.doesNotMatch(plan, /TEMP B-TREE/, JSON.stringify(query))
        }
      }),
    )

    it(
      `put the thread that was changed last at the end of each index, where there is room: a file that is ${origin}`,
      inTempDir(async (directory) => {
        const db = new DatabaseSync(await migrated(directory, golden))
        const indices = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'threads_by_%'`)
        for (const { name } of indices.all()) {
          const columns = db.prepare(`SELECT name, "desc" FROM pragma_index_xinfo(?) WHERE key`).all(String(name))
          const order = columns.map((column) => `${String(column['name'])}${column['desc'] === 1 ? ' down' : ''}`)
          assert.deepEqual(order.slice(-2), ['updated_at', 'id down'], String(name))
        }
        db.close()
      }),
    )
  }
})
