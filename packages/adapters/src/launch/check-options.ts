import {
  aDuration,
  aFlag,
  aFunction,
  anObject,
  aText,
  checkFields,
  either,
  oneOf,
  type FieldRule,
  type FieldRules,
} from '@evener/protocol'
import type { LiveOptions } from '../live/live-driver.ts'

const never: FieldRule = { wanted: 'null', accepts: (value) => value === null }
const aTime = either(aDuration, never)

const OPTIONS: FieldRules<LiveOptions> = {
  id: aText,
  bin: aText,
  env: anObject,
  cwd: aText,
  model: aText,
  permissions: oneOf('read-only', 'edit', 'full'),
  allowUngoverned: aFlag,
  strict: aFlag,
  mcp: anObject,
  deadlineMs: aTime,
  stallMs: aTime,
  onStall: oneOf('warn', 'abort'),
  room: aFunction,
  record: aFunction,
  idleMs: aTime,
  interruptMs: aDuration,
}

/** Throws for wrong options when the agent is made: callers may use no types, or read the options from a file. */
export function checkDriverOptions(title: string, options: LiveOptions): void {
  checkFields(`the options of ${title}`, options, OPTIONS)
}
