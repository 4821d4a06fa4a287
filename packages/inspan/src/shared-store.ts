import { InspanError } from '@inspan/protocol'
import type * as PostgresPackage from '@inspan/postgres'
import type { DatabaseStatus, PostgresStore } from '@inspan/postgres'

/**
 * Opens a store that several machines share: `postgres://user:password@host:5432/database`. `labels`: what this machine
 * has, and what threads made here need.
 */
export async function openSharedStore(url: string, labels: readonly string[] = []): Promise<PostgresStore> {
  const { PostgresStore: Made } = await postgres()
  return Made.open({ url, labels, pinTo: labels })
}

/** For commands that only read: does not create missing tables. */
export async function openPreparedStore(url: string): Promise<PostgresStore> {
  const { layout } = await sharedStatus(url)
  if (layout !== null) return openSharedStore(url)
  throw new InspanError('not-found', 'Nothing has been recorded in this database yet.', {
    hint: '"inspan db migrate" creates the tables, and so does "inspan serve".',
  })
}

/** Looks at a database and changes nothing. */
export async function sharedStatus(url: string): Promise<DatabaseStatus> {
  const { readDatabaseStatus } = await postgres()
  return readDatabaseStatus(url)
}

/** Not everybody needs it, so it is installed by those who do. */
async function postgres(): Promise<typeof PostgresPackage> {
  return import('@inspan/postgres').catch((error: unknown) => {
    throw new InspanError('not-found', 'A Postgres database needs the package @inspan/postgres.', {
      hint: 'Install it next to inspan: npm install @inspan/postgres',
      cause: error,
    })
  })
}
