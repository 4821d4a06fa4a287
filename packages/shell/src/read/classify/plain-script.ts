import { isSystemDirectory } from '../programs.ts'
import type { Word } from '../reading.ts'
import { shellNames } from '../shells.ts'
import { literalWord } from '../words.ts'
import type { Invocation } from './invocation.ts'
import { relevantProgram } from './relevant.ts'
import type { RelevantProgram } from './relevant.ts'

/** A simple command of fixed words. The reader of the whole script sets where it runs. */
export interface ClassifiedCommand extends Invocation {
  cwd: string | null
  moved: boolean
  /** The operator before it; a semicolon for the first. */
  readonly joined: string
  /** True for the shell's own `cd`, which changes its directory. */
  readonly isCd: boolean
}

/** `'other'`: the script does more than file operations, whatever the rest is. Null: only the parser can tell. */
export type ClassifiedScript = readonly ClassifiedCommand[] | 'other' | null

/** Longer texts are rare and can simply be parsed. */
const MAX_LENGTH = 4_096

/** The letters of all scripts, which a shell treats alike, without invisible and space-like characters. */
const LETTERS = '\\u00a1-\\u00ac\\u00ae-\\u061b\\u061d-\\u167f\\u1681-\\u180d\\u180f-\\u1fff\\u3001-\\ud7ff'
const PLAIN = `\\w./,:@%+${LETTERS}-`
const SINGLE_QUOTED = `'[\\t\\n -&(-~${LETTERS}]*'`
/** Without expansions, and without a newline that is escaped. */
const DOUBLE_QUOTED = `"(?:[\\t\\n !#%-[\\]-_a-~${LETTERS}]|\\\\[\\t -#%-_a-~${LETTERS}])*"`
/** Expansions, patterns, escapes, comments and the like are left to the parser. */
const WORD = new RegExp(`(?:[=${PLAIN}]+|${SINGLE_QUOTED}|${DOUBLE_QUOTED})+`, 'y')
const QUOTED = /'([^']*)'|"((?:[^"\\]|\\.)*)"/gs
/** A word that certainly ends there. Not before `<` and `>`: a number there is a descriptor. */
const WHOLE_WORD = new RegExp(`(?![-+])[${PLAIN}]+(?=[ \\n;|&])`, 'y')
const ASSIGNS = /^[\w\u0080-\uffff][^=]*=/
const COMMAND_ENDS = /^ *(?:$|;|&&)/
const DIGITS = /^\d+$/
const BETWEEN = ' |&;<>\n'

const OPERATOR = /\|[|&]|&[&>]|;[;&]|>[>&|]|<[<>&]|[|&;<>]/y
const ARROWS = new Set(['>', '>>', '>&', '<'])
/** A background job, an input that is part of the command, a file that is opened for writing too. */
const MORE = new Set(['&', '<<', '<>'])
const UNREAD = new Set(['|&', '&>', ';;', ';&', '>|', '<&'])

const SHELL_CALL = new RegExp(`(?:/(?:[^ ]*/)?)?(?:${shellNames.join('|')}) -l?c `, 'y')

/** Returns the script of `bash -lc 'script'`; null unless the text is one word for a shell and nothing else. */
export function plainShellScript(text: string): { readonly script: string } | 'other' | null {
  const call = matchAt(SHELL_CALL, text, 0)
  if (call === '') return null
  const word = text.slice(call.length)
  if (beginsOtherwise(word)) return 'other'
  if (word.length > MAX_LENGTH || matchAt(WORD, word, 0) !== word) return null
  const script = unquoted(word)
  // Further options may follow `-c`.
  return script.startsWith('-') || script.startsWith('+') ? null : { script }
}

/**
 * Reads a text of fixed words joined by `|`, `&&`, `||` and `;`, with the most usual redirections. Most commands of
 * agents are like that, and for them this returns what the parser would, in a fraction of its time.
 */
export function readPlainScript(text: string): ClassifiedScript {
  // A subshell is more than the commands in it.
  if (text.startsWith('(')) return 'other'
  if (text.length > MAX_LENGTH) return beginsOtherwise(text) ? 'other' : null
  const commands: ClassifiedCommand[] = []
  let program: RelevantProgram | undefined
  let isCd = false
  let args: Word[] = []
  let stdin: Word | null = null
  let isRedirected = false
  let joined = ';'
  let arrow: string | null = null
  for (let at = 0; at < text.length;) {
    if (text.startsWith(' ', at)) {
      at += 1
      continue
    }
    const source = matchAt(WORD, text, at)
    if (source === '') {
      const operator = matchAt(OPERATOR, text, at)
      if (operator === '' || arrow !== null || UNREAD.has(operator)) return null
      if (MORE.has(operator)) return 'other'
      at += operator.length
      if (ARROWS.has(operator)) {
        arrow = operator
        continue
      }
      if (program === undefined) return null
      commands.push({ program, args, stdin, cwd: null, moved: false, joined, isCd })
      program = undefined
      args = []
      stdin = null
      isRedirected = false
      joined = operator
      continue
    }
    at += source.length
    if (source.includes('=') && ASSIGNS.test(source)) {
      // A command that only sets a variable is no file operation.
      return program === undefined && arrow === null && COMMAND_ENDS.test(text.slice(at)) ? 'other' : null
    }
    const next = text.charAt(at)
    if (!BETWEEN.includes(next)) return null
    if ((next === '<' || next === '>') && DIGITS.test(source)) {
      // A descriptor. Which one only matters for input.
      if (next === '<' || arrow !== null) return null
      continue
    }
    const word = unquoted(source)
    if (arrow !== null) {
      if (arrow === '<') stdin = literalWord(word)
      // With a name as its target, `>&` writes both outputs to a file.
      else if (arrow === '>&' && !DIGITS.test(word)) return null
      else if (arrow !== '>&' && word !== '/dev/null') return 'other'
      isRedirected = true
      arrow = null
    } else if (program !== undefined) args.push(literalWord(word))
    else {
      const slash = word.lastIndexOf('/')
      const found = relevantProgram(word.slice(slash + 1))
      if (found === undefined || (commands.length === 0 && !found.mayBegin)) return 'other'
      if (found.needsParser) return null
      if (slash !== -1 && !isSystemDirectory(word.slice(0, slash))) return 'other'
      program = found
      isCd = word === 'cd'
    }
    if (next === '\n') return null
  }
  if (arrow !== null) return null
  if (program !== undefined) commands.push({ program, args, stdin, cwd: null, moved: false, joined, isCd })
  // A list may end with a semicolon, but with no other operator.
  else if (commands.length === 0 || joined !== ';' || isRedirected) return null
  return commands
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.test(text) ? text.slice(at, pattern.lastIndex) : ''
}

/** Returns the value of a word. Between double quotes, a backslash escapes only itself and the quote. */
function unquoted(source: string): string {
  const quote = source.charAt(0)
  if (quote !== "'" && quote !== '"' && !source.includes("'") && !source.includes('"')) return source
  // Nearly always a word is one pair of quotes.
  const close = source.indexOf(quote, 1)
  if (close === source.length - 1 && (quote === "'" || (quote === '"' && !source.includes('\\'))))
    return source.slice(1, -1)
  return source.replace(
    QUOTED,
    (_whole, single?: string, double?: string) => single ?? (double ?? '').replace(/\\(["\\])/g, '$1'),
  )
}

/** True if the first word shows that the text is not just file operations, whatever follows. */
function beginsOtherwise(text: string): boolean {
  const word = matchAt(WHOLE_WORD, text, text.startsWith("'") || text.startsWith('"') ? 1 : 0)
  return word !== '' && relevantProgram(word.slice(word.lastIndexOf('/') + 1))?.mayBegin !== true
}
