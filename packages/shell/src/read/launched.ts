import type { Assignment, Launcher, Redirection, SimpleCommand, Word } from './reading.ts'

export interface LaunchedCommand {
  readonly words: readonly Word[]
  readonly assignments: readonly Assignment[]
  readonly appended: boolean
  /** Its directory, if it differs from that of its launcher; null when not known. */
  readonly directory: Word | null | 'same'
}

/** What a simple command runs in addition to itself. */
export interface Launch {
  readonly launcher: Launcher | null
  readonly commands: readonly LaunchedCommand[]
  /** Texts that it passes to a shell. */
  readonly scripts: readonly string[]
  /** The scripts run in the current shell (eval, trap). */
  readonly here: boolean
  /** What reads the scripts: `sh`, bash or similar, or the current shell. */
  readonly dialect: 'sh' | 'bash' | 'same'
  readonly runs: SimpleCommand['runs']
  readonly unknown: string | null
}

export interface LaunchInvocation {
  readonly base: string
  readonly args: readonly Word[]
  readonly appended: boolean
  /** Redirections of its standard input: its own, or those of what runs it. */
  readonly stdin: readonly Redirection[]
}

export const NOTHING: Launch = {
  launcher: null,
  commands: [],
  scripts: [],
  here: false,
  dialect: 'sh',
  runs: null,
  unknown: null,
}

export function notKnown(launcher: Launcher, unknown: string): Launch {
  return { ...NOTHING, launcher, unknown }
}

export function fixedScript(launcher: Launcher, script: Word, appended = false): Launch {
  if (script.dynamic) return notKnown(launcher, 'its script is only known when it runs')
  const unknown = appended && script.text.includes('{}') ? 'its script is completed from input' : null
  return { ...NOTHING, launcher, scripts: [script.text], unknown }
}

export function launched(launcher: Launcher, words: readonly Word[], given: Partial<LaunchedCommand> = {}): Launch {
  return { ...NOTHING, launcher, commands: [{ words, assignments: [], appended: false, directory: 'same', ...given }] }
}
