import { InspanError } from '@inspan/protocol'
import type { PostgresStore } from '@inspan/postgres'

/**
 * Opens a store that several machines share: `postgres://user:password@host:5432/database`. `labels`: what this machine
 * has, and what threads made here need.
 */
export async function openSharedStore(url: string, labels: readonly string[] = []): Promise<PostgresStore> {
  // Not everybody needs it, so it is installed by those who do.
  const postgres = await import('@inspan/postgres').catch((error: unknown) => {
    throw new InspanError('not-found', 'A Postgres database needs the package @inspan/postgres.', {
      hint: 'Install it next to inspan: npm install @inspan/postgres',
      cause: error,
    })
  })
  return postgres.PostgresStore.open({ url, labels, pinTo: labels })
}
