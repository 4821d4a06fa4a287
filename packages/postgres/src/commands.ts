import { InspanError, type JsonValue } from '@inspan/protocol'
import type {
  Admission,
  CommandKey,
  CommandOutcome,
  CommandRow,
  CommandState,
  NewCommand,
  Page,
  PageRequest,
} from '@inspan/protocol/store'
import {
  checkCommandKey,
  checkId,
  checkTime,
  commandSettled,
  CursorScope,
  firstIdAt,
  isExpired,
  noSuchCommand,
  pageLimit,
  pageOf,
  parseOrDamaged,
  pruneLimit,
  toJsonText,
  type PreparedOutcome,
} from '@inspan/core/stores'
import type { Connection, Session } from './connection.ts'

interface StoredCommand {
  no: number
  principal: string
  client_id: string
  command_id: string
  body_hash: string
  target: string
  state: CommandState
  seq: number | null
  at: number
  body: string
  outcome: string | null
}

const COLUMNS = 'no, principal, client_id, command_id, body_hash, target, state, seq, at, body, outcome'
const BY_KEY = 'principal = $1 AND client_id = $2 AND command_id = $3'
const PRUNE_CHUNK = 1000
const ATTEMPTS = 3

export async function admitCommand(db: Connection, command: NewCommand): Promise<Admission> {
  const { principal, clientId, commandId } = checkCommandKey(command.key)
  checkId('A command target', command.target)
  checkTime('The time of a command', command.at)
  const body = toJsonText(`Command ${commandId}`, command.body)
  for (let attempt = 1; ; attempt++) {
    const known = await findCommand(db, command.key)
    if (known !== undefined) {
      const row = commandOf(known)
      return { status: row.bodyHash === command.bodyHash ? 'duplicate' : 'conflict', command: row }
    }
    if (isExpired(commandId, command.at)) return { status: 'expired' }
    const [admitted] = await db.all<StoredCommand>(
      `INSERT INTO inspan.commands (principal, client_id, command_id, body_hash, target, state, at, body)
       VALUES ($1, $2, $3, $4, $5, 'accepted', $6, $7) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      principal,
      clientId,
      commandId,
      command.bodyHash,
      command.target,
      command.at,
      body,
    )
    // Otherwise another process has admitted it meanwhile, or it is one that this tenant does not see.
    if (admitted !== undefined) return { status: 'accepted', command: commandOf(admitted) }
    if (attempt === ATTEMPTS) throw new InspanError('conflict', `Another tenant has a command ${commandId}.`)
  }
}

export async function getCommand(db: Session, key: CommandKey): Promise<CommandRow | null> {
  const row = await findCommand(db, key)
  return row === undefined ? null : commandOf(row)
}

export async function listCommands(
  db: Session,
  query: PageRequest & { readonly target?: string; readonly state: CommandState },
): Promise<Page<CommandRow>> {
  const limit = pageLimit(query)
  const { target } = query
  const scope = new CursorScope(['commands', target ?? null, query.state], [0])
  const [after] = scope.decode(query.cursor)
  // The state is part of the SQL text, so that Postgres sees that the index of accepted commands can be used.
  const state = query.state === 'accepted' ? 'accepted' : 'done'
  const rows = await db.all<StoredCommand>(
    `SELECT ${COLUMNS} FROM inspan.commands
     WHERE ${target === undefined ? '' : 'target = $3 AND '}state = '${state}' AND no > $1 ORDER BY no LIMIT $2`,
    after,
    limit + 1,
    ...(target === undefined ? [] : [target]),
  )
  return pageOf(rows, limit, commandOf, (last) => scope.encode([last.no]))
}

/** Runs within the transaction that carries the command out, and fails all of it if the command was done already. */
export async function writeOutcome(db: Session, { key, outcome }: PreparedOutcome): Promise<void> {
  if (await settle(db, key, outcome)) return
  throw (await findCommand(db, key)) === undefined ? noSuchCommand(key.commandId) : commandSettled(key.commandId)
}

export async function settleCommand(db: Session, { key, outcome }: CommandOutcome): Promise<boolean> {
  if (await settle(db, checkCommandKey(key), toJsonText('A command outcome', outcome))) return true
  if ((await findCommand(db, key)) === undefined) throw noSuchCommand(key.commandId)
  return false
}

export async function failCommand(db: Session, key: CommandKey): Promise<number> {
  const { principal, clientId, commandId } = checkCommandKey(key)
  const [row] = await db.all<{ failures: number }>(
    `UPDATE inspan.commands SET failures = failures + 1 WHERE ${BY_KEY} AND state = 'accepted' RETURNING failures`,
    principal,
    clientId,
    commandId,
  )
  if (row === undefined) throw noSuchCommand(commandId)
  return row.failures
}

async function settle(db: Session, key: CommandKey, outcome: string): Promise<boolean> {
  const sql = `UPDATE inspan.commands SET state = 'done', outcome = $4, seq = NULL, body = 'null'
    WHERE ${BY_KEY} AND state = 'accepted'`
  return (await db.run(sql, key.principal, key.clientId, key.commandId, outcome)) > 0
}

export async function pruneCommands(db: Session, before: number, now: number): Promise<number> {
  checkTime('`before`', before)
  const limit = pruneLimit(before, now)
  let pruned = 0
  for (;;) {
    const removed = await db.run(
      `DELETE FROM inspan.commands WHERE no IN
         (SELECT no FROM inspan.commands WHERE state = 'done' AND at < $1 AND command_id < $2 LIMIT $3)`,
      limit,
      firstIdAt(limit),
      PRUNE_CHUNK,
    )
    pruned += removed
    if (removed < PRUNE_CHUNK) return pruned
  }
}

/** Commands for a thread that is being deleted must not keep its content. */
export async function forgetCommandBodies(db: Session, target: string): Promise<void> {
  await db.run(`UPDATE inspan.commands SET body = 'null' WHERE target = $1 AND state = 'accepted'`, target)
}

async function findCommand(db: Session, key: CommandKey): Promise<StoredCommand | undefined> {
  const sql = `SELECT ${COLUMNS} FROM inspan.commands WHERE ${BY_KEY}`
  const [row] = await db.all<StoredCommand>(sql, key.principal, key.clientId, key.commandId)
  return row
}

function commandOf(row: StoredCommand): CommandRow {
  const what = `Command ${row.command_id}`
  const details = { command: row.command_id }
  return {
    key: { principal: row.principal, clientId: row.client_id, commandId: row.command_id },
    bodyHash: row.body_hash,
    target: row.target,
    body: parseOrDamaged(row.body, what, details) as JsonValue,
    state: row.state,
    outcome: row.outcome === null ? null : (parseOrDamaged(row.outcome, what, details) as JsonValue),
    seq: row.seq,
    at: row.at,
  }
}
