import { readPlainScript } from './classify/plain-script.ts'
import { isAbsolute, joinPath } from './paths.ts'
import { readOnce } from './read-command.ts'
import type { SimpleCommand } from './reading.ts'

const MOVES = /\b(?:cd|pushd|popd)\b/
/** The usual way to change the directory, recognised without the parser, which would take longer than the rest. */
const GOES_FIRST = /^cd ([\p{L}\p{N}_./][\p{L}\p{N}_./-]*)(?:$| && | ?; )/u
/** What may follow without a closer look: no change of directory, no exit, no hidden failure, no background job. */
const STAYS = /^(?!.*(?:\b(?:cd|pushd|popd|exit|exec)\b|\|\||!|(?<![&>])&(?![&>]))).*$/s
/** Or all that follows is the exit of the shell. */
const ENDS = /^exit(?: [\w.-]+)*$/
/** A sequence of statements in which only variables are quoted. */
const STATEMENTS = /^(?:[\w./=:@%+, $;-]|&&|"\$\w+")*$/
/** With these, the rest does not run, or does not run in this shell. */
const ELSEWHERE = /\b(?:exit|exec|coproc)\b/
const GOES_BY_VARIABLE = /^\s*cd (?:\$\w+|"\$\w+")\s*$/

/**
 * Returns the directory a shell is in after this command, given that the command succeeded. For programs that keep one
 * shell, or its directory, from call to call. Null when the text does not tell. As everywhere, a `cd` is assumed to
 * succeed unless something speaks against it.
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
  // A text that ends with a backslash is incomplete.
  if (!reading.ok || reading.suspicious.length > 0 || text.endsWith('\\')) return null
  const own = reading.commands.filter((command) => command.origin === 'text')
  // The shell ends before it can be asked for its directory.
  const leaving = own.filter(({ program }) => program === 'exit' || program === 'exec')
  if (leaving.length > 0) return leaving.some(({ nesting }) => nesting.length === 0) ? start : null
  if (own.some(hidesFailure)) return null
  return known(end)
}

/** True for a subshell that moves only itself and hides no failure. */
function isPlainSubshell(text: string): boolean {
  if (!text.startsWith('(') || !text.endsWith(')')) return false
  const commands = readPlainScript(text.slice(1, -1))
  return commands !== null && commands !== 'other' && !commands.some(({ joined }) => joined === '||')
}

/** True if the last move goes to the value of a variable, which is unknown here. */
function goesByVariable(text: string): boolean {
  if (!text.includes('cd $') && !text.includes('cd "$')) return false
  if (!STATEMENTS.test(text) || ELSEWHERE.test(text)) return false
  const last = text.split(/;|&&/).findLast((statement) => MOVES.test(statement))
  return last !== undefined && GOES_BY_VARIABLE.test(last)
}

function known(path: string | null): string | null {
  return path !== null && isAbsolute(path) && !path.startsWith('~') ? path : null
}

/** `cd a || true` succeeds even if its `cd` failed. */
function hidesFailure({ joined, negated }: SimpleCommand): boolean {
  return joined === '||' || negated
}
