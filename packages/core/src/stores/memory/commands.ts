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
import { commandSettled, noSuchCommand } from '../store-errors.ts'
import type { MemoryState } from './memory-state.ts'

export interface StoredCommand {
  readonly no: number
  readonly key: CommandKey
  readonly bodyHash: string
  readonly target: string
  readonly state: CommandState
  readonly seq: number | null
  readonly at: number
  readonly body: string
  readonly outcome: string | null
  readonly failures: number
}

export function admitCommand(state: MemoryState, command: NewCommand): Admission {
  const { principal, clientId, commandId } = checkCommandKey(command.key)
  checkId('A command target', command.target)
  checkTime('The time of a command', command.at)
  const body = toJsonText(`Command ${commandId}`, command.body)
  const known = findCommand(state, command.key)
  if (known !== undefined) {
    return { status: known.bodyHash === command.bodyHash ? 'duplicate' : 'conflict', command: commandOf(known) }
  }
  if (isExpired(commandId, command.at)) return { status: 'expired' }
  const stored: StoredCommand = {
    no: state.nextNumber(),
    key: { principal, clientId, commandId },
    bodyHash: command.bodyHash,
    target: command.target,
    state: 'accepted',
    seq: null,
    at: command.at,
    body,
    outcome: null,
    failures: 0,
  }
  state.commandNumbers.set(keyText(command.key), stored.no)
  state.commands.put(stored.no, stored)
  return { status: 'accepted', command: commandOf(stored) }
}

export function getCommand(state: MemoryState, key: CommandKey): CommandRow | null {
  const stored = findCommand(state, key)
  return stored === undefined ? null : commandOf(stored)
}

export function listCommands(
  state: MemoryState,
  query: PageRequest & { readonly target?: string; readonly state: CommandState },
): Page<CommandRow> {
  const limit = pageLimit(query)
  const scope = new CursorScope(['commands', query.target ?? null, query.state], [0])
  const [after] = scope.decode(query.cursor)
  const rows = state.commands
    .range(after + 1, Infinity)
    .filter(({ state: now, target }) => (query.target ?? target) === target && now === query.state)
    .slice(0, limit + 1)
  return pageOf(rows, limit, commandOf, (last) => scope.encode([last.no]))
}

/** A command that was done already fails the whole transaction, so nothing is ever done twice. */
export function checkOutcomes(state: MemoryState, outcomes: readonly PreparedOutcome[]): void {
  const seen = new Set<string>()
  for (const { key } of outcomes) {
    const stored = findCommand(state, key)
    if (stored === undefined) throw noSuchCommand(key.commandId)
    if (stored.state === 'done' || seen.has(keyText(key))) throw commandSettled(key.commandId)
    seen.add(keyText(key))
  }
}

export function writeOutcomes(state: MemoryState, outcomes: readonly PreparedOutcome[], seq: number | null): void {
  for (const { key, outcome } of outcomes) {
    const stored = findCommand(state, key)
    if (stored !== undefined) state.commands.put(stored.no, { ...stored, state: 'done', outcome, seq, body: 'null' })
  }
}

export function settleCommand(state: MemoryState, { key, outcome }: CommandOutcome): boolean {
  const stored = findCommand(state, checkCommandKey(key))
  if (stored === undefined) throw noSuchCommand(key.commandId)
  if (stored.state === 'done') return false
  writeOutcomes(state, [{ key, outcome: toJsonText('A command outcome', outcome) }], null)
  return true
}

export function failCommand(state: MemoryState, key: CommandKey): number {
  const stored = findCommand(state, checkCommandKey(key))
  if (stored === undefined || stored.state === 'done') throw noSuchCommand(key.commandId)
  const failures = stored.failures + 1
  state.commands.put(stored.no, { ...stored, failures })
  return failures
}

export function pruneCommands(state: MemoryState, before: number, now: number): number {
  checkTime('`before`', before)
  const limit = pruneLimit(before, now)
  const firstId = firstIdAt(limit)
  const isOld = ({ at, key }: StoredCommand): boolean => at < limit && key.commandId < firstId
  const pruned = state.commands.remove(0, Infinity, (stored) => stored.state === 'done' && isOld(stored))
  for (const { key } of pruned) state.commandNumbers.delete(keyText(key))
  return pruned.length
}

/** Commands for a thread that is being deleted must not keep its content. */
export function forgetCommandBodies(state: MemoryState, target: string): void {
  for (const stored of state.commands.range(0, Infinity)) {
    if (stored.target === target) state.commands.put(stored.no, { ...stored, body: 'null' })
  }
}

function findCommand(state: MemoryState, key: CommandKey): StoredCommand | undefined {
  const no = state.commandNumbers.get(keyText(key))
  return no === undefined ? undefined : state.commands.range(no, no)[0]
}

function keyText(key: CommandKey): string {
  return JSON.stringify([key.principal, key.clientId, key.commandId])
}

function commandOf(stored: StoredCommand): CommandRow {
  return {
    key: { ...stored.key },
    bodyHash: stored.bodyHash,
    target: stored.target,
    body: JSON.parse(stored.body) as JsonValue,
    state: stored.state,
    outcome: stored.outcome === null ? null : (JSON.parse(stored.outcome) as JsonValue),
    seq: stored.seq,
    at: stored.at,
  }
}
