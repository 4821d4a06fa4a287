import { createHash } from 'node:crypto'
import { InspanError, type JsonValue } from '@inspan/protocol'
import { anObject, aText, checkOptions, type OptionRules } from '@inspan/protocol/internal'
import type { NewCommand } from '@inspan/protocol/store'
import type { Command } from '@inspan/protocol/wire'

/** A command that is given to a thread again and again. */
export interface Schedule {
  readonly id: string
  readonly thread: string
  /** `minute hour day month weekday`, or a recurrence rule such as `FREQ=DAILY;BYHOUR=9;BYMINUTE=0`. */
  readonly cron: string
  /** Default: UTC. */
  readonly timeZone?: string
  readonly command: Command
}

const RULES: OptionRules<Schedule> = { id: aText, thread: aText, cron: aText, timeZone: aText, command: anObject }

/** What pg-boss allows in the key of a schedule. */
const ID = /^[\w.\-/]+$/

export function checkSchedule(schedule: Schedule): void {
  checkOptions('a schedule', schedule, RULES)
  if (ID.test(schedule.id)) return
  throw new InspanError('invalid-input', `"${schedule.id}" cannot be the id of a schedule.`, {
    hint: 'Use letters, digits, dots, hyphens, underscores and slashes.',
  })
}

/** The command of one occurrence. A second attempt makes the same one, which is then a duplicate. */
export function scheduledCommand(
  { command, id, thread }: Schedule,
  occurrence: { readonly id: string; readonly at: Date },
): NewCommand {
  const at = occurrence.at.getTime()
  const time = at.toString(16).padStart(12, '0')
  const digest = createHash('sha256').update(`${id} ${occurrence.id}`).digest('hex')
  const commandId = `${time.slice(0, 8)}-${time.slice(8)}-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`
  const body = JSON.stringify(command)
  const bodyHash = createHash('sha256').update(body).digest('hex')
  const key = { principal: 'schedule', clientId: id, commandId }
  return { key, bodyHash, target: thread, body: JSON.parse(body) as JsonValue, at }
}
