import { randomUUID } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import { aCount, aPositiveCount, aText, checkOptions, type OptionRules } from '@inspan/protocol/internal'
import { claim, release } from './claims.ts'
import { hideThread } from './delete-thread.ts'
import type { PostgresConnection } from './connection.ts'
import { grantSql, revokeSql } from './schema/tenancy.ts'
import type { Tenant } from './tenant.ts'

const RULES: OptionRules<Tenant> = {
  resourceId: aText,
  role: aText,
  maxThreads: aCount,
  maxCommands: aCount,
  maxBytes: aCount,
  keepMs: aPositiveCount,
}

interface TenantRow {
  resource_id: string
  role: string | null
  max_threads: number | null
  max_commands: number | null
  max_bytes: number | null
  keep_ms: number | null
}

/** Roles that see all rows, or can get at them past the tables. */
const MIGHTY_ROLES = `SELECT FROM pg_roles AS m WHERE (rolsuper OR rolbypassrls OR rolreplication OR rolcreaterole
  OR rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
  OR oid = current_user::regrole OR oid = (SELECT relowner FROM pg_class WHERE oid = 'harness.records'::regclass))`

export async function setTenant(db: PostgresConnection, tenant: Tenant): Promise<void> {
  checkOptions('a tenant', tenant, RULES)
  const { resourceId, role = null, maxThreads, maxCommands, maxBytes, keepMs } = tenant
  await db.write(async (session) => {
    const before = await session.all<{ role: string }>(
      'SELECT quote_ident(role) AS role FROM harness.tenants WHERE resource_id = $1 AND role IS DISTINCT FROM $2 FOR UPDATE',
      resourceId,
      role,
    )
    for (const { role: old } of before) if (old !== null) await session.exec(revokeSql(old))
    await session.run(
      `INSERT INTO harness.tenants (resource_id, role, max_threads, max_commands, max_bytes, keep_ms)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (resource_id) DO UPDATE SET role = excluded.role,
         max_threads = excluded.max_threads, max_commands = excluded.max_commands, max_bytes = excluded.max_bytes,
         keep_ms = excluded.keep_ms`,
      resourceId,
      role,
      maxThreads ?? null,
      maxCommands ?? null,
      maxBytes ?? null,
      keepMs ?? null,
    )
    if (role === null) return
    const [found] = await session.all<{ name: string; isMighty: boolean }>(
      `SELECT quote_ident(rolname) AS name, EXISTS (${MIGHTY_ROLES} AND pg_has_role(pg_roles.oid, m.oid, 'MEMBER'))
         AS "isMighty" FROM pg_roles WHERE rolname = $1`,
      role,
    )
    if (found === undefined) {
      throw new InspanError('not-found', `There is no role ${role} in this database.`, {
        hint: `Create it first: CREATE ROLE "${role}" LOGIN PASSWORD '…'.`,
      })
    }
    if (found.isMighty) {
      throw new InspanError(
        'invalid-input',
        `The role ${role} sees all rows or can become a role that does, so it cannot belong to a tenant.`,
        {
          hint: 'Take one that is no superuser, does not own the tables, and may neither become such a role nor read files.',
        },
      )
    }
    await session.exec(grantSql(found.name))
  })
}

export async function listTenants(db: PostgresConnection): Promise<readonly Tenant[]> {
  const rows = await db.all<TenantRow>(
    'SELECT resource_id, role, max_threads, max_commands, max_bytes, keep_ms FROM harness.tenants ORDER BY resource_id',
  )
  return rows.map((row) => ({
    resourceId: row.resource_id,
    ...(row.role === null ? {} : { role: row.role }),
    ...(row.max_threads === null ? {} : { maxThreads: row.max_threads }),
    ...(row.max_commands === null ? {} : { maxCommands: row.max_commands }),
    ...(row.max_bytes === null ? {} : { maxBytes: row.max_bytes }),
    ...(row.keep_ms === null ? {} : { keepMs: row.keep_ms }),
  }))
}

/** Threads hidden per look, so that a long list does not keep a job busy for minutes. */
const CHUNK = 100

/** Deletes threads that were kept for as long as their tenant wants. Returns their ids. The caller purges. */
export async function expireThreads(
  db: PostgresConnection,
  claiming: { format: number; labels: readonly string[] },
): Promise<string[]> {
  const expired = await db.all<{ id: string }>(
    `SELECT threads.id FROM harness.tenants JOIN harness.threads USING (resource_id)
       JOIN harness.streams ON streams.no = threads.stream_no
     WHERE keep_ms IS NOT NULL AND owner IS NULL AND format <= $1
       AND threads.updated_at < extract(epoch FROM clock_timestamp()) * 1000 - keep_ms
       AND NOT EXISTS (SELECT FROM harness.commands WHERE target = threads.id AND state = 'accepted')
     ORDER BY threads.updated_at LIMIT ${CHUNK}`,
    claiming.format,
  )
  const owner = `retention-${randomUUID()}`
  const deleted: string[] = []
  for (const { id } of expired) {
    // Somebody may have begun to work on it meanwhile.
    const claimed = await claim(db, { ...claiming, stream: id, owner }, Date.now()).catch(() => undefined)
    if (claimed?.status !== 'owned') continue
    const fence = { owner, epoch: claimed.epoch }
    try {
      await hideThread(db, id, fence, Date.now())
      deleted.push(id)
    } catch (error) {
      await release(db, id, fence)
      throw error
    }
  }
  return deleted
}
