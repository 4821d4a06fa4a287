import { baseName } from '../programs.ts'
import type { Redirection, SimpleCommand, Word } from '../reading.ts'
import { isShell } from '../shells.ts'

/** A simple command with the wrappers that change nothing (env, timeout, nice) looked through. */
export interface Member {
  readonly command: SimpleCommand
  readonly stdin: Word | null
}

/** Null when the command stands in a place, or has a redirection, assignment or wrapper, that makes it more than itself. */
export function readMember(command: SimpleCommand, commands: readonly SimpleCommand[]): Member | null {
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

/** The file that becomes standard input, 'none' for what only moves or drops output, null for anything else. */
function redirectionEffect({ kind, fd, target }: Redirection): Word | 'none' | null {
  if (target === null || target.dynamic) return null
  if (kind === 'duplicate') return 'none'
  if (kind === 'write' || kind === 'append') return target.text === '/dev/null' ? 'none' : null
  return kind === 'read' && fd === 0 ? target : null
}

/** A shell with its script; harnesses name it by whatever absolute path it has on the machine. */
export function isShellCommand({ name, program }: SimpleCommand): boolean {
  const base = baseName(name)
  return base !== null && isShell(base) && (program !== null || name?.text.startsWith('/') === true)
}

const SILENT = new Set(['cd', 'pwd', 'true', ':'])

/** What can be neutral with no operation before it. */
export const neutralNames: readonly string[] = [...SILENT, 'set']
/** What can be neutral after one. */
export const separatorNames: readonly string[] = ['echo', 'printf']

/** Members that say nothing about files: where we are, options of the shell, and literal text between outputs. */
export function isNeutral(program: string, args: readonly Word[], afterOperation: boolean): boolean {
  if (SILENT.has(program)) return true
  if (program === 'set')
    return args.length > 0 && args.every((arg) => /^(?:[-+][a-zA-Z]+|pipefail|posix)$/.test(arg.text))
  return afterOperation && separatorNames.includes(program) && args.every((arg) => !arg.dynamic)
}
