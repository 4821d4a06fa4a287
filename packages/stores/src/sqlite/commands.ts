import type { Admission, CommandKey, CommandOutcome, CommandRow, NewCommand, Page } from '@inspan/protocol/store'
import { firstIdAt, pruneLimit } from '../shared/command-age.ts'
import {
  admittedBefore,
  COMMAND_COLUMNS,
  commandFromRow,
  commandsScope,
  NEW_COMMAND_COLUMNS,
  newCommandRow,
  type CommandQuery,
  type StoredCommand,
} from '../shared/command-row.ts'
import { checkTime, toJsonText } from '../shared/input-checks.ts'
import { checkCommandKey, type PreparedOutcome } from '../shared/prepared-append.ts'
import { commandSettled, noSuchCommand } from '../shared/store-errors.ts'
import type { SqliteConnection } from './connection.ts'

const BY_KEY = 'principal = ? AND client_id = ? AND command_id = ?'
const INSERT = `INSERT INTO commands (${NEW_COMMAND_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const PRUNE_CHUNK = 1000

export function admitCommand(db: SqliteConnection, command: NewCommand): Admission {
  const row = newCommandRow(command)
  return db.write(() => {
    const before = admittedBefore(command, findCommand(db, command.key))
    if (before !== undefined) return before
    db.run(INSERT, ...Object.values(row))
    return { status: 'accepted', command: commandFromRow(findCommand(db, command.key) as StoredCommand) }
  })
}

export function getCommand(db: SqliteConnection, key: CommandKey): CommandRow | null {
  const row = findCommand(db, key)
  return row === undefined ? null : commandFromRow(row)
}

export function listCommands(db: SqliteConnection, query: CommandQuery): Page<CommandRow> {
  const { target } = query
  // The state is part of the SQL text, so that SQLite sees that the index of accepted commands can be used.
  const state = query.state === 'accepted' ? 'accepted' : 'done'
  const sql = `SELECT ${COMMAND_COLUMNS} FROM commands
    WHERE ${target === undefined ? '' : 'target = ? AND '}state = '${state}' AND no > ? ORDER BY no LIMIT ?`
  return commandsScope(query).page(
    query,
    ([after], count) => db.all<StoredCommand>(sql, ...(target === undefined ? [] : [target]), after, count),
    commandFromRow,
    (last) => [last.no],
  )
}

/**
 * Runs within the transaction that carries the command out. A command that was done already fails the whole
 * transaction, so nothing is ever done twice.
 */
export function writeOutcome(db: SqliteConnection, { key, outcome }: PreparedOutcome, seq: number | null): void {
  if (settle(db, key, outcome, seq)) return
  throw findCommand(db, key) === undefined ? noSuchCommand(key.commandId) : commandSettled(key.commandId)
}

export function settleCommand(db: SqliteConnection, { key, outcome }: CommandOutcome): boolean {
  const text = toJsonText('A command outcome', outcome)
  return db.write(() => {
    if (settle(db, checkCommandKey(key), text, null)) return true
    if (findCommand(db, key) === undefined) throw noSuchCommand(key.commandId)
    return false
  })
}

export function failCommand(db: SqliteConnection, key: CommandKey): number {
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

function settle(db: SqliteConnection, key: CommandKey, outcome: string, seq: number | null): boolean {
  return db.run(SETTLE, outcome, seq, key.principal, key.clientId, key.commandId) > 0
}

export function pruneCommands(db: SqliteConnection, before: number, now: number): number {
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
export function forgetCommandBodies(db: SqliteConnection, target: string): void {
  db.run(`UPDATE commands SET body = 'null' WHERE target = ? AND state = 'accepted'`, target)
}

function findCommand(db: SqliteConnection, key: CommandKey): StoredCommand | undefined {
  const sql = `SELECT ${COMMAND_COLUMNS} FROM commands WHERE ${BY_KEY}`
  return db.get(sql, key.principal, key.clientId, key.commandId) as StoredCommand | undefined
}
