import type { JsonValue } from '@inspan/protocol'
import type { Admission, CommandRow, CommandState, NewCommand, Store } from '@inspan/protocol/store'
import { isExpired } from './command-age.ts'
import { CursorScope } from './cursor.ts'
import { checkId, checkTime, toJsonText } from './input-checks.ts'
import { checkCommandKey } from './prepared-append.ts'
import { parseOrDamaged } from './record-row.ts'

/** A command as it is stored. */
export interface StoredCommand {
  readonly no: number
  readonly principal: string
  readonly client_id: string
  readonly command_id: string
  readonly body_hash: string
  readonly target: string
  readonly state: CommandState
  readonly seq: number | null
  readonly at: number
  readonly body: string
  readonly outcome: string | null
}

export const NEW_COMMAND_COLUMNS = 'principal, client_id, command_id, body_hash, target, state, seq, at, body, outcome'

export const COMMAND_COLUMNS: string = `no, ${NEW_COMMAND_COLUMNS}`

/** Checks a new command and returns its row, in the order of `NEW_COMMAND_COLUMNS`. */
export function newCommandRow(command: NewCommand): Omit<StoredCommand, 'no'> {
  const { principal, clientId, commandId } = checkCommandKey(command.key)
  checkId('A command target', command.target)
  checkTime('The time of a command', command.at)
  return {
    principal,
    client_id: clientId,
    command_id: commandId,
    body_hash: command.bodyHash,
    target: command.target,
    state: 'accepted',
    seq: null,
    at: command.at,
    body: toJsonText(`Command ${commandId}`, command.body),
    outcome: null,
  }
}

export type CommandQuery = Parameters<Store['listCommands']>[0]

/** Commands are listed in the order they were admitted. */
export function commandsScope(query: CommandQuery): CursorScope<readonly [number]> {
  return new CursorScope(['commands', query.target ?? null, query.state], [0])
}

/** Says why a command is not admitted anew, if so: it is known, or too old to be told from one that was forgotten. */
export function admittedBefore(command: NewCommand, known: StoredCommand | undefined): Admission | undefined {
  if (known !== undefined) {
    return { status: known.body_hash === command.bodyHash ? 'duplicate' : 'conflict', command: commandFromRow(known) }
  }
  return isExpired(command.key.commandId, command.at) ? { status: 'expired' } : undefined
}

export function commandFromRow(row: StoredCommand): CommandRow {
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
