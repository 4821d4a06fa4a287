import pg from 'pg'
import type { StoredHead } from '@inspan/protocol/log'
import type { Append } from '@inspan/protocol/store'
import { PostgresConnection } from './connection.ts'
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { APPEND_SQL } from './schema/append-function.ts'
import { migrate, MIGRATIONS, type PostgresMigration } from './schema/migrate.ts'

const LAYOUT = Math.max(...MIGRATIONS.map(({ layout }) => layout))

/** A layout as the release after this one may have it: it only adds, and this release goes on working on it. */
export const NEXT: PostgresMigration = {
  layout: LAYOUT + 1,
  oldest: LAYOUT,
  sql: `ALTER TABLE harness.streams ADD COLUMN archived_at float8;
    ALTER TABLE harness.records ADD COLUMN size integer NOT NULL DEFAULT 0;
    ALTER TABLE harness.waits ADD COLUMN asked_of text COLLATE "C";
    CREATE TABLE harness.archives (stream_no bigint PRIMARY KEY REFERENCES harness.streams ON DELETE CASCADE);
    CREATE INDEX streams_by_archive ON harness.streams (archived_at) WHERE archived_at IS NOT NULL;
    ${APPEND_SQL.replace('harness.append_1(', 'harness.append_2(')}`,
}

/** The layout after that: what only the release before needed goes. */
export const AFTER_NEXT: PostgresMigration = {
  layout: LAYOUT + 2,
  oldest: LAYOUT + 1,
  sql: 'ALTER TABLE harness.records DROP COLUMN size',
}

/** Brings a database to the layout of a later release. */
export async function migrateTo(url: string, ...later: readonly PostgresMigration[]): Promise<void> {
  const db = new PostgresConnection(new pg.Pool({ connectionString: url, max: 1 }))
  try {
    await db.write((session) => migrate(session, [...MIGRATIONS, ...later]))
  } finally {
    await db.close()
  }
}

/** A store as the next release has it: a higher format of streams, and another version of the reducer. */
class NextStore extends PostgresStore {
  override append(request: Append): Promise<number> {
    const { head } = request
    if (head === undefined) return super.append(request)
    return super.append({ ...request, head: { ...head, reducerVersion: head.reducerVersion + 1 } })
  }

  override readHead(stream: string, reducerVersion: number): Promise<StoredHead | null> {
    return super.readHead(stream, reducerVersion + 1)
  }
}

/** Opens a database as the next release does: it migrates it first. */
export async function openNextRelease(options: PostgresStoreOptions): Promise<PostgresStore> {
  await migrateTo(options.url, NEXT)
  const store = new NextStore({ ...options, streamFormat: 2 })
  await store.open()
  return store
}
