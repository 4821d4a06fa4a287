import type { PlainWord } from './grammar.ts'
import { isFreeVariable, isShellVariable } from './variables.ts'

export interface ReadWord extends PlainWord {
  /** The word with each quoted part replaced by a backquote, which cannot stand there otherwise. */
  readonly skeleton: string
  readonly hasBraces: boolean
}

/** Constructs outside the grammar, and builtins after which later words mean something else. */
export const REFUSED: ReadonlySet<string> = new Set(
  (
    'case esac select function coproc in [[ ]] let declare typeset local readonly eval exec alias unalias trap enable ' +
    'builtin hash mapfile readarray getopts shopt unset bind complete compgen compopt fc history setopt emulate'
  ).split(' '),
)
const SHELL_OPTIONS = /^(?:[-+](?:[eu]+|[eu]*o)|pipefail|errexit|nounset)$/

/**
 * Returns why a simple command is outside the grammar: it sets variables or options that later commands or the shell
 * itself depend on. Null when it does not.
 */
export function findRefused(assigned: readonly string[], [program, ...args]: readonly ReadWord[]): string | null {
  const name = program?.text ?? ''
  const isBad = program === undefined ? (each: string): boolean => !isFreeVariable(each) : isShellVariable
  const bad = assigned.find((each) => isBad(each) && !(name === 'read' && each === 'IFS'))
  if (bad !== undefined) return `a value for ${bad}`
  if (program === undefined) return null
  if (name.includes('=') || (program.skeleton.startsWith('!') && name !== '!')) return 'an unusual program name'
  if (program.expands || REFUSED.has(name)) return `\`${name}\` as a program`
  if (program.skeleton !== name && /^(?:set|export|read|time)$/.test(name)) return `a quoted \`${name}\``
  if (name === 'set' && !(args.length > 0 && args.every((arg) => SHELL_OPTIONS.test(arg.skeleton)))) {
    return '`set` with more than -e, -u and -o pipefail'
  }
  if (name === 'export' && !args.every(({ skeleton }) => isFreeVariable(/^(\w+)(?:=|$)/.exec(skeleton)?.[1] ?? ''))) {
    return 'an export of a variable that programs or shells read'
  }
  if (name === 'read' && !args.every(({ skeleton }) => skeleton === '-r' || isFreeVariable(skeleton))) {
    return 'an unusual `read`'
  }
  if (name === 'time') {
    if (/^(?:[-!]|\w+=|(?:if|for|while|until)$)/.test(args[0]?.skeleton ?? '-')) return 'an unusual `time`'
    // To bash it is a keyword: a builtin behind it acts on this shell.
    return findRefused([], args)
  }
  if ((name === 'test' || name === '[') && args.some(({ text }) => /^-[vR]$/.test(text))) return 'a test of a variable'
  return null
}
