import { baseName } from '../programs.ts'
import type { Redirection, SimpleCommand, Word } from '../reading.ts'
import { isShell } from '../shells.ts'

/** A simple command without the wrappers that change nothing (env, timeout, nice). */
export interface GroupMember {
  readonly command: SimpleCommand
  readonly stdin: Word | null
}

/** Null when position, redirection, assignment or wrapper make it do more than the command alone. */
export function readMember(command: SimpleCommand, commands: readonly SimpleCommand[]): GroupMember | null {
  if (command.nesting.length > 0 || command.background || command.negated) return null
  let stdin: Word | null = null
  for (const redirection of command.redirections) {
    const effect = redirectionEffect(redirection)
    if (effect === null) return null
    if (effect !== 'none') stdin = effect
  }
  let inner = command
  while (inner.launcher === 'transparent') {
    const launched = inner.unknown === null ? launchedBy(inner, commands) : undefined
    if (launched === undefined) return null
    inner = launched
  }
  return inner.unknown !== null || inner.appended ? null : { command: inner, stdin }
}

function launchedBy(command: SimpleCommand, commands: readonly SimpleCommand[]): SimpleCommand | undefined {
  return commands.find((other) => other.parent === command.index && other.origin === 'argument')
}

/** Returns the file that becomes standard input, 'none' when only output is moved or dropped, else null. */
function redirectionEffect({ kind, fd, target }: Redirection): Word | 'none' | null {
  if (target === null || target.dynamic) return null
  if (kind === 'duplicate') return 'none'
  if (kind === 'write' || kind === 'append') return target.text === '/dev/null' ? 'none' : null
  return kind === 'read' && fd === 0 ? target : null
}

/** True for a shell with its script. CLIs use whatever absolute path it has on the machine. */
export function isShellCommand({ name, program }: SimpleCommand): boolean {
  const base = baseName(name)
  return base !== null && isShell(base) && (program !== null || name?.text.startsWith('/') === true)
}

const SILENT = new Set(['cd', 'true', ':'])

/** Programs that can be neutral. */
export const neutralNames: readonly string[] = [...SILENT, 'set']

/** True for commands without an effect on files: `cd`, `true`, shell options. Programs that print are never neutral. */
export function isNeutral(program: string, args: readonly Word[]): boolean {
  if (SILENT.has(program)) return true
  return args.length > 0 && args.every((arg) => /^(?:[-+][a-zA-Z]+|pipefail|posix)$/.test(arg.text))
}
