import { readPlainScript } from './classify/plain-script.ts'
import { isAbsolute, joinPath } from './paths.ts'
import { readOnce } from './read-command.ts'
import type { SimpleCommand } from './reading.ts'

const MOVES = /\b(?:cd|pushd|popd)\b/
/** The usual way to go somewhere: told without the parser, which takes longer than all the rest. */
const GOES_FIRST = /^cd ([\p{L}\p{N}_./][\p{L}\p{N}_./-]*)(?:$| && | ?; )/u
/** What may come after that without a look at it: it neither moves nor leaves, hides no failure and is waited for. */
const STAYS = /^(?!.*(?:\b(?:cd|pushd|popd|exit|exec)\b|\|\||!|(?<![&>])&(?![&>]))).*$/s
/** Or all that comes is the end of the shell. */
const ENDS = /^exit(?: [\w.-]+)*$/
/** Statements one after the other, in which nothing but a variable is quoted. */
const STATEMENTS = /^(?:[\w./=:@%+, $;-]|&&|"\$\w+")*$/
/** With these it is not the shell itself, or not to the end, that does what comes. */
const ELSEWHERE = /\b(?:exit|exec|coproc)\b/
const GOES_BY_VARIABLE = /^\s*cd (?:\$\w+|"\$\w+")\s*$/

/**
 * Where a shell that goes on after this command stands, given that the command has succeeded: for programs that keep one
 * shell, or its directory, from call to call. Null when the text does not tell. As everywhere, a `cd` that nothing speaks
 * against is taken to have succeeded.
 */
export function directoryAfter(text: string, cwd: string | undefined): string | null {
  const start = cwd ?? null
  if (!MOVES.test(text)) return start
  const [lead, target] = GOES_FIRST.exec(text) ?? []
  if (lead !== undefined && target !== undefined) {
    const rest = text.slice(lead.length)
    if (STAYS.test(rest)) return known(joinPath(cwd ?? '.', target))
    if (ENDS.test(rest)) return start
  }
  if (isPlainSubshell(text)) return known(cwd ?? '.')
  if (goesByVariable(text)) return null
  const { reading, end } = readOnce(text, cwd)
  // A text that ends in a backslash is half a text.
  if (!reading.ok || reading.suspicious.length > 0 || text.endsWith('\\')) return null
  const own = reading.commands.filter((command) => command.origin === 'text')
  // It ends before anybody can ask it where it is.
  const leaving = own.filter(({ program }) => program === 'exit' || program === 'exec')
  if (leaving.length > 0) return leaving.some(({ nesting }) => nesting.length === 0) ? start : null
  if (own.some(hidesFailure)) return null
  return known(end)
}

/** It moves nobody but itself, and hides no failure. */
function isPlainSubshell(text: string): boolean {
  if (!text.startsWith('(') || !text.endsWith(')')) return false
  const commands = readPlainScript({ text, from: 1, to: text.length - 1 })
  return commands !== null && commands !== 'other' && !commands.some(({ joined }) => joined === '||')
}

/** Its last move is to where a variable says, which nobody here knows. */
function goesByVariable(text: string): boolean {
  if (!text.includes('cd $') && !text.includes('cd "$')) return false
  if (!STATEMENTS.test(text) || ELSEWHERE.test(text)) return false
  const last = text.split(/;|&&/).findLast((statement) => MOVES.test(statement))
  return last !== undefined && GOES_BY_VARIABLE.test(last)
}

function known(path: string | null): string | null {
  return path !== null && isAbsolute(path) && !path.startsWith('~') ? path : null
}

/** `cd a || true` succeeds wherever it ends. */
function hidesFailure({ joined, negated }: SimpleCommand): boolean {
  return joined === '||' || negated
}
