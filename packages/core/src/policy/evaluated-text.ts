import type { SimpleCommand, Word } from '@inspan/shell/read'

/**
 * Arithmetic runs the substitutions in the value of a variable: after `x='a[$(id)]'` each of `((x))`, `[[ $x -eq 0 ]]`,
 * `${a[x]}`, `${!x}` and `a[x]=1` runs `id`.
 */
const EVALUATES = /\(\(|\$\[|\$\{!|\$\{\w+\[|\]\+?=|-(?:eq|ne|lt|le|gt|ge|v)\b|\b(?:let|declare|typeset|local)\b/
const MAKES_TEXT = /\$\((?!\()|`|\$['"\\]|\b(?:read|mapfile|readarray)\b/
const SUBSTITUTION = /\$\(|`/
const QUOTES = /['"\\]/

/** True when arithmetic may run text that comes from elsewhere. */
export function mayEvaluateText(text: string): boolean {
  return EVALUATES.test(text) && MAKES_TEXT.test(text)
}

/** True when a substitution that is only quoted text occurs together with arithmetic that may run it. */
export function evaluatesHiddenText(text: string, commands: readonly SimpleCommand[]): boolean {
  return EVALUATES.test(text) && commands.some(hidesSubstitution)
}

function hidesSubstitution({ args, assignments, program, source }: SimpleCommand): boolean {
  const isHidden = (word: Word): boolean => word.quoted && !word.dynamic && SUBSTITUTION.test(word.text)
  if (args.some(isHidden) || assignments.some(({ value }) => isHidden(value))) return true
  if (program !== '[[' && program !== '((') return false
  return source.includes("$'") || (QUOTES.test(source) && SUBSTITUTION.test(source))
}
