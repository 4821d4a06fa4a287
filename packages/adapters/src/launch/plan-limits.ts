import { InspanError } from '@inspan/protocol'
import type { LaunchPlan } from './launch-plan.ts'

/** The longest argument or variable that Linux takes: its limit of 128 KiB includes the terminating NUL. */
export const MAX_ARGUMENT_BYTES = 131_071

/** Throws `unsupported` for arguments and variables that no process can be started with, and names them. */
export function refuseUnstartable({ args, env = {} }: Pick<LaunchPlan, 'args' | 'env'>, title: string): void {
  for (const [index, arg] of args.entries()) refuse(title, () => nameOf(arg, args[index - 1]), arg)
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined) refuse(title, () => `the variable ${name}`, `${name}=${value}`)
  }
}

function refuse(title: string, name: () => string, text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_ARGUMENT_BYTES) {
    throw tooLong(title, name(), bytes)
  }
  if (text.includes('\0')) {
    throw new InspanError('unsupported', `${title} cannot be given a NUL character in ${name()}.`, {
      hint: 'Take it out: the arguments and variables of a process end there.',
    })
  }
}

export function tooLong(title: string, name: string, bytes: number): InspanError {
  return new InspanError(
    'unsupported',
    `${title} cannot be given ${name} of ${bytes} bytes: a process takes at most ${MAX_ARGUMENT_BYTES} in one place.`,
    {
      hint: 'Shorten it, or write it to a file that the agent can read.',
      details: { bytes, limit: MAX_ARGUMENT_BYTES },
    },
  )
}

/** Names an argument by the option before it and the setting that it begins with. */
function nameOf(arg: string, before = ''): string {
  const setting = /^[\w.]{1,40}(?==)/.exec(arg)?.[0]
  if (/^--?\w/.test(before)) return setting === undefined ? before : `${before} ${setting}`
  return 'a text'
}
