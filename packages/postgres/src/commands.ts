import { InspanError } from '@inspan/protocol'
import type { Admission, CommandKey, CommandOutcome, CommandRow, NewCommand, Page } from '@inspan/protocol/store'
import {
  admittedBefore,
  checkCommandKey,
  checkTime,
  COMMAND_COLUMNS,
  commandFromRow,
  commandSettled,
  commandsScope,
  firstIdAt,
  NEW_COMMAND_COLUMNS,
  newCommandRow,
  noSuchCommand,
  pageLimit,
  pageOf,
  pruneLimit,
  toJsonText,
  type CommandQuery,
  type PreparedOutcome,
  type StoredCommand,
} from '@inspan/stores/shared'
import type { PostgresConnection, SqlSession } from './connection.ts'

const BY_KEY = 'principal = $1 AND client_id = $2 AND command_id = $3'
const PRUNE_CHUNK = 1000
const ATTEMPTS = 3

export async function admitCommand(db: PostgresConnection, command: NewCommand): Promise<Admission> {
  const row = newCommandRow(command)
  for (let attempt = 1; ; attempt++) {
    const before = admittedBefore(command, await findCommand(db, command.key))
    if (before !== undefined) return before
    const [admitted] = await db.all<StoredCommand>(
      `INSERT INTO harness.commands (${NEW_COMMAND_COLUMNS})
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT DO NOTHING RETURNING ${COMMAND_COLUMNS}`,
      ...Object.values(row),
    )
    // Otherwise another process has admitted it meanwhile, or it is one that this tenant does not see.
    if (admitted !== undefined) return { status: 'accepted', command: commandFromRow(admitted) }
    if (attempt === ATTEMPTS) {
      throw new InspanError('conflict', `Another tenant has a command ${command.key.commandId}.`)
    }
  }
}

export async function getCommand(db: SqlSession, key: CommandKey): Promise<CommandRow | null> {
  const row = await findCommand(db, key)
  return row === undefined ? null : commandFromRow(row)
}

export async function listCommands(db: SqlSession, query: CommandQuery): Promise<Page<CommandRow>> {
  const limit = pageLimit(query)
  const { target } = query
  const scope = commandsScope(query)
  const [after] = scope.decode(query.cursor)
  // The state is part of the SQL text, so that Postgres sees that the index of accepted commands can be used.
  const state = query.state === 'accepted' ? 'accepted' : 'done'
  const rows = await db.all<StoredCommand>(
    `SELECT ${COMMAND_COLUMNS} FROM harness.commands
     WHERE ${target === undefined ? '' : 'target = $3 AND '}state = '${state}' AND no > $1 ORDER BY no LIMIT $2`,
    after,
    limit + 1,
    ...(target === undefined ? [] : [target]),
  )
  return pageOf(rows, limit, commandFromRow, (last) => scope.encode([last.no]))
}

/** Runs within the transaction that carries the command out, and fails all of it if the command was done already. */
export async function writeOutcome(db: SqlSession, { key, outcome }: PreparedOutcome): Promise<void> {
  if (await settle(db, key, outcome)) return
  throw (await findCommand(db, key)) === undefined ? noSuchCommand(key.commandId) : commandSettled(key.commandId)
}

export async function settleCommand(db: SqlSession, { key, outcome }: CommandOutcome): Promise<boolean> {
  if (await settle(db, checkCommandKey(key), toJsonText('A command outcome', outcome))) return true
  if ((await findCommand(db, key)) === undefined) throw noSuchCommand(key.commandId)
  return false
}

export async function failCommand(db: SqlSession, key: CommandKey): Promise<number> {
  const { principal, clientId, commandId } = checkCommandKey(key)
  const [row] = await db.all<{ failures: number }>(
    `UPDATE harness.commands SET failures = failures + 1 WHERE ${BY_KEY} AND state = 'accepted' RETURNING failures`,
    principal,
    clientId,
    commandId,
  )
  if (row === undefined) throw noSuchCommand(commandId)
  return row.failures
}

async function settle(db: SqlSession, key: CommandKey, outcome: string): Promise<boolean> {
  const sql = `UPDATE harness.commands SET state = 'done', outcome = $4, seq = NULL, body = 'null'
    WHERE ${BY_KEY} AND state = 'accepted'`
  return (await db.run(sql, key.principal, key.clientId, key.commandId, outcome)) > 0
}

export async function pruneCommands(db: SqlSession, before: number, now: number): Promise<number> {
  checkTime('`before`', before)
  const limit = pruneLimit(before, now)
  let pruned = 0
  for (;;) {
    const removed = await db.run(
      `DELETE FROM harness.commands WHERE no IN
         (SELECT no FROM harness.commands WHERE state = 'done' AND at < $1 AND command_id < $2 LIMIT $3)`,
      limit,
      firstIdAt(limit),
      PRUNE_CHUNK,
    )
    pruned += removed
    if (removed < PRUNE_CHUNK) return pruned
  }
}

/** Commands for a thread that is being deleted must not keep its content. */
export async function forgetCommandBodies(db: SqlSession, target: string): Promise<void> {
  await db.run(`UPDATE harness.commands SET body = 'null' WHERE target = $1 AND state = 'accepted'`, target)
}

async function findCommand(db: SqlSession, key: CommandKey): Promise<StoredCommand | undefined> {
  const sql = `SELECT ${COMMAND_COLUMNS} FROM harness.commands WHERE ${BY_KEY}`
  const [row] = await db.all<StoredCommand>(sql, key.principal, key.clientId, key.commandId)
  return row
}
