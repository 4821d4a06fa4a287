import { randomBytes } from 'node:crypto'

/** Random, so that two scripts in one conversation, or one script after a restart, never make the same id. */
export function newToolCallId(): string {
  return newId('call')
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`
}
