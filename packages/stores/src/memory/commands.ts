import type { Admission, CommandKey, CommandOutcome, CommandRow, NewCommand, Page } from '@inspan/protocol/store'
import { firstIdAt, pruneLimit } from '../shared/command-age.ts'
import {
  admittedBefore,
  commandFromRow,
  commandsScope,
  newCommandRow,
  type CommandQuery,
  type StoredCommand,
} from '../shared/command-row.ts'
import { checkTime, toJsonText } from '../shared/input-checks.ts'
import { checkCommandKey, type PreparedOutcome } from '../shared/prepared-append.ts'
import { commandSettled, noSuchCommand } from '../shared/store-errors.ts'
import type { MemoryState } from './memory-state.ts'

export interface MemoryCommand extends StoredCommand {
  readonly failures: number
}

export function admitCommand(state: MemoryState, command: NewCommand): Admission {
  const row = newCommandRow(command)
  const before = admittedBefore(command, findCommand(state, command.key))
  if (before !== undefined) return before
  const stored: MemoryCommand = { ...row, no: state.nextNumber(), failures: 0 }
  state.commandNumbers.set(keyText(command.key), stored.no)
  state.commands.put(stored.no, stored)
  return { status: 'accepted', command: commandFromRow(stored) }
}

export function getCommand(state: MemoryState, key: CommandKey): CommandRow | null {
  const stored = findCommand(state, key)
  return stored === undefined ? null : commandFromRow(stored)
}

export function listCommands(state: MemoryState, query: CommandQuery): Page<CommandRow> {
  return commandsScope(query).page(
    query,
    ([after], count) =>
      state.commands
        .range(after + 1, Infinity)
        .filter(({ state: now, target }) => (query.target ?? target) === target && now === query.state)
        .slice(0, count),
    commandFromRow,
    (last) => [last.no],
  )
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
  const isOld = ({ at, command_id: id }: MemoryCommand): boolean => at < limit && id < firstId
  const pruned = state.commands.remove(0, Infinity, (stored) => stored.state === 'done' && isOld(stored))
  for (const row of pruned) state.commandNumbers.delete(keyText(commandFromRow(row).key))
  return pruned.length
}

/** Commands for a thread that is being deleted must not keep its content. */
export function forgetCommandBodies(state: MemoryState, target: string): void {
  for (const stored of state.commands.range(0, Infinity)) {
    if (stored.target === target) state.commands.put(stored.no, { ...stored, body: 'null' })
  }
}

function findCommand(state: MemoryState, key: CommandKey): MemoryCommand | undefined {
  const no = state.commandNumbers.get(keyText(key))
  return no === undefined ? undefined : state.commands.range(no, no)[0]
}

function keyText(key: CommandKey): string {
  return JSON.stringify([key.principal, key.clientId, key.commandId])
}
