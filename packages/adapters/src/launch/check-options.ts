import {
  aDuration,
  aFlag,
  aFunction,
  anObject,
  aText,
  checkFields,
  checkNames,
  either,
  oneOf,
  type FieldRule,
  type OptionRules,
} from '@inspan/protocol/internal'
import type { LiveOptions } from '../live/live-driver.ts'

const never: FieldRule = { wanted: 'null', accepts: (value) => value === null }
const aTime = either(aDuration, never)

const OPTIONS: OptionRules<LiveOptions> = {
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

/** What only some agents take besides. */
const OF_SOME = ['transport', 'args', 'settings', 'provider', 'config', 'userConfig', 'plugins', 'cli']

const NAMES: readonly string[] = [...Object.keys(OPTIONS), ...OF_SOME, 'canAnswer']

/** Throws for wrong options when the agent is made: callers may use no types, or read the options from a file. */
export function checkDriverOptions(title: string, options: LiveOptions): void {
  checkNames(title, options, NAMES)
  checkFields(`the options of ${title}`, options, OPTIONS)
}
