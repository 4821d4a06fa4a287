import type { JsonValue } from '@inspan/protocol'
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
import { firstIdAt, isExpired, pruneLimit } from '../command-age.ts'
import { CursorScope } from '../cursor.ts'
import { checkId, checkTime, pageLimit, toJsonText } from '../input-checks.ts'
import { pageOf } from '../paging.ts'
import { checkCommandKey, type PreparedOutcome } from '../prepared-append.ts'
import { parseOrDamaged } from '../record-row.ts'
import { commandSettled, noSuchCommand } from '../store-errors.ts'
import type { Connection } from './connection.ts'

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
const BY_KEY = 'principal = ? AND client_id = ? AND command_id = ?'
const PRUNE_CHUNK = 1000

export function admitCommand(db: Connection, command: NewCommand): Admission {
  const { principal, clientId, commandId } = checkCommandKey(command.key)
  checkId('A command target', command.target)
  checkTime('The time of a command', command.at)
  const body = toJsonText(`Command ${commandId}`, command.body)
  return db.write(() => {
    const known = findCommand(db, command.key)
    if (known !== undefined) {
      const row = commandOf(known)
      return { status: row.bodyHash === command.bodyHash ? 'duplicate' : 'conflict', command: row }
    }
    if (isExpired(commandId, command.at)) return { status: 'expired' }
    db.run(
      `INSERT INTO commands (principal, client_id, command_id, body_hash, target, state, at, body)
       VALUES (?, ?, ?, ?, ?, 'accepted', ?, ?)`,
      principal,
      clientId,
      commandId,
      command.bodyHash,
      command.target,
      command.at,
      body,
    )
    return { status: 'accepted', command: commandOf(findCommand(db, command.key) as StoredCommand) }
  })
}

export function getCommand(db: Connection, key: CommandKey): CommandRow | null {
  const row = findCommand(db, key)
  return row === undefined ? null : commandOf(row)
}

export function listCommands(
  db: Connection,
  query: PageRequest & { readonly target?: string; readonly state: CommandState },
): Page<CommandRow> {
  const limit = pageLimit(query)
  const { target } = query
  const scope = new CursorScope(['commands', target ?? null, query.state], [0])
  const [after] = scope.decode(query.cursor)
  // The state is part of the SQL text, so that SQLite sees that the index of accepted commands can be used.
  const state = query.state === 'accepted' ? 'accepted' : 'done'
  const rows = db.all<StoredCommand>(
    `SELECT ${COLUMNS} FROM commands
     WHERE ${target === undefined ? '' : 'target = ? AND '}state = '${state}' AND no > ? ORDER BY no LIMIT ?`,
    ...(target === undefined ? [] : [target]),
    after,
    limit + 1,
  )
  return pageOf(rows, limit, commandOf, (last) => scope.encode([last.no]))
}

/**
 * Runs within the transaction that carries the command out. A command that was done already fails the whole
 * transaction, so nothing is ever done twice.
 */
export function writeOutcome(db: Connection, { key, outcome }: PreparedOutcome, seq: number | null): void {
  if (settle(db, key, outcome, seq)) return
  throw findCommand(db, key) === undefined ? noSuchCommand(key.commandId) : commandSettled(key.commandId)
}

export function settleCommand(db: Connection, { key, outcome }: CommandOutcome): boolean {
  const text = toJsonText('A command outcome', outcome)
  return db.write(() => {
    if (settle(db, checkCommandKey(key), text, null)) return true
    if (findCommand(db, key) === undefined) throw noSuchCommand(key.commandId)
    return false
  })
}

export function failCommand(db: Connection, key: CommandKey): number {
  const { principal, clientId, commandId } = checkCommandKey(key)
  return db.write(() => {
    const sql = `UPDATE commands SET failures = failures + 1 WHERE ${BY_KEY} AND state = 'accepted' RETURNING failures`
    const row = db.get(sql, principal, clientId, commandId) as { failures: number } | undefined
    if (row === undefined) throw noSuchCommand(commandId)
    return row.failures
  })
}

const SETTLE = `UPDATE commands SET state = 'done', outcome = ?, seq = ?, body = 'null'
  WHERE ${BY_KEY} AND state = 'accepted'`

function settle(db: Connection, key: CommandKey, outcome: string, seq: number | null): boolean {
  return db.run(SETTLE, outcome, seq, key.principal, key.clientId, key.commandId) > 0
}

export function pruneCommands(db: Connection, before: number, now: number): number {
  checkTime('`before`', before)
  const limit = pruneLimit(before, now)
  let pruned = 0
  for (;;) {
    const removed = db.write(() =>
      db.run(
        `DELETE FROM commands WHERE no IN
           (SELECT no FROM commands WHERE state = 'done' AND at < ? AND command_id < ? LIMIT ?)`,
        limit,
        firstIdAt(limit),
        PRUNE_CHUNK,
      ),
    )
    pruned += removed
    if (removed < PRUNE_CHUNK) return pruned
  }
}

/** Commands for a thread that is being deleted must not keep its content. */
export function forgetCommandBodies(db: Connection, target: string): void {
  db.run(`UPDATE commands SET body = 'null' WHERE target = ? AND state = 'accepted'`, target)
}

function findCommand(db: Connection, key: CommandKey): StoredCommand | undefined {
  const sql = `SELECT ${COLUMNS} FROM commands WHERE ${BY_KEY}`
  return db.get(sql, key.principal, key.clientId, key.commandId) as StoredCommand | undefined
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
