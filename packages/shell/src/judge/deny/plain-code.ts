import type { SimpleCommand } from '../../read/index.ts'
import { baseOf, isOption, isReadable, mayBecomeOption } from './argument.ts'
import { wordList } from '../../programs/word-list.ts'

/**
 * The little code in other languages that is understood: known words, variables of one letter, strings, calls. With it
 * a program runs nothing, and the names of the files it opens stand in its strings as they are. Any other code may do
 * anything, so rules about programs and files ask about it.
 */
interface Language {
  readonly name: RegExp
  /** The option before the code. */
  readonly option: RegExp
  readonly words: ReadonlySet<string>
  /** What loads a module that is known to be harmless. */
  readonly loads?: RegExp
  /** After the code come options of the program, too. */
  readonly goesOn: boolean
  /** A text in brackets finds anything that an object has, its constructor too. */
  readonly findsByName: boolean
}

const LANGUAGES: readonly Language[] = [
  {
    name: /^(?:python|pypy)[\d.]*$/,
    option: /^-c$/,
    words: wordList(
      'import from as for in if else not and or is None True False print len str int float list dict set sorted sum min max ' +
        'range enumerate json load loads dump dumps indent sort_keys ensure_ascii sys stdin stdout argv read readlines write ' +
        'open pathlib Path read_text write_text exists encoding get keys values items append re data text line',
    ),
    goesOn: false,
    findsByName: false,
  },
  {
    name: /^(?:node|nodejs|bun|tsx|ts-node)$/,
    option: /^(?:-e|-p|-pe|--eval|--print)$/,
    words: wordList(
      'const let var of in for if else true false null undefined console log error JSON parse stringify process argv env ' +
        'stdout write exit exitCode cwd version versions platform fs readFileSync writeFileSync existsSync length ' +
        'Math round max min name scripts dependencies devDependencies data text',
    ),
    goesOn: true,
    findsByName: true,
    loads: /\brequire\((['"])(?:(?:node:)?(?:fs|path)|[\w./@-]+\.json)\1\)/g,
  },
]

const TEXT = /(?<![\w\\])r?(?:'([^'\\\n]|\\[nt])*'|"([^"\\\n]|\\[nt])*")/g
/** Stands for a string. No language reads this sign outside of one. */
const SOME = '§'
/** Without operators that make one text of several. */
const SIGNS = /^[\w\s()[\].,;:=<>!§]*$/
/**
 * Two strings side by side are one, a part of a text may be any name, and what is called has to stand there by its name.
 */
const MAKES_MORE = /§\s*§|§\s*[.[]|[\])]\s*\(|\[[^\]]*:|(?<![.\w])[a-z]\s*\(/
const FINDS_BY_NAME = /[\w)\]]\s*\[(?!\d+\])/
/** What is written is no name, whatever becomes of it before. */
const WRITTEN = /\.write(?:_text)?\((?:re\.sub\(§, ?§, ?)?[a-z](?:\.read(?:_text)?\(\))?(?:\.replace\(§, ?§\))*\)?\)/g
const VARIABLE = /^(?:[a-z]|\d+)$/

const found = new WeakMap<SimpleCommand, readonly string[] | null>()

/** Returns the strings in the code that a command gives to a language; null if the code may do more than is known. */
export function plainCode(command: SimpleCommand): readonly string[] | null {
  const known = found.get(command)
  if (known !== undefined) return known
  const texts = textsOf(command)
  found.set(command, texts)
  return texts
}

function textsOf(command: SimpleCommand): readonly string[] | null {
  const { appended, args, redirections, runs } = command
  const language = LANGUAGES.find(({ name }) => name.test(baseOf(command)))
  if (language === undefined || appended) return null
  if (runs === 'inline-code') {
    const [option, code, ...rest] = args
    if (option === undefined || !language.option.test(option.text)) return null
    if (language.goesOn && rest.some((word) => mayBecomeOption(word) || isOption(word.text))) return null
    return code !== undefined && isReadable(code) ? textsIn(language, code.text) : null
  }
  const body = redirections.findLast(({ fd }) => fd === 0)?.body ?? null
  return body !== null && args.every(({ text }) => text === '-') ? textsIn(language, body) : null
}

function textsIn({ findsByName, loads, words }: Language, code: string): readonly string[] | null {
  const texts = code.match(TEXT) ?? []
  const plain = (loads === undefined ? code : code.replace(loads, 'JSON'))
    .replace(TEXT, SOME)
    .replace(WRITTEN, '.write()')
  if (!SIGNS.test(plain) || MAKES_MORE.test(plain) || (findsByName && FINDS_BY_NAME.test(plain))) return null
  const isKnown = (word: string): boolean => words.has(word) || VARIABLE.test(word)
  if (!(plain.match(/\w+/g) ?? []).every(isKnown)) return null
  return texts.map((text) => text.replace(/^r/, '').slice(1, -1))
}
