import { InspanError } from '@inspan/protocol'
import { COMMAND_RETENTION_MS, COMMAND_SKEW_MS, commandIdTime } from '@inspan/protocol/store'

/** Returns whether an unknown command is so old that it may have been carried out and pruned. */
export function isExpired(commandId: string, at: number): boolean {
  const made = commandIdTime(commandId)
  if (made === undefined) {
    throw new InspanError('invalid-input', `"${commandId}" is no command id.`, {
      hint: 'A command is named by a UUIDv7 in lower case: the time in it says how long it may be sent again.',
      details: { commandId },
    })
  }
  if (made - at > COMMAND_SKEW_MS) {
    throw new InspanError('invalid-input', `Command ${commandId} was made in the future.`, {
      hint: 'Set the clock of the machine that sent it: it may be ahead by a day at most.',
      details: { commandId, made, at },
    })
  }
  return at - made > COMMAND_RETENTION_MS
}

/**
 * Returns the time before which commands may be pruned: a younger one that is sent again would be carried out again.
 */
export function pruneLimit(before: number, now: number): number {
  return Math.min(before, now - COMMAND_RETENTION_MS)
}

/** Returns the beginning of the first UUIDv7 of this time: ids sort by their time. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
