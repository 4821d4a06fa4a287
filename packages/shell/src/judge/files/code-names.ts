import { codeVariants, textsIn } from '../deny/code-texts.ts'
import { namesIn } from './mentioned-files.ts'
import { mayRunPrograms } from '../deny/foreign-code.ts'
import { isAwk, isSed } from '../../programs/programs.ts'

/** The files that code in another language may use, as far as its string literals tell. */
export interface CodeNames {
  readonly names: ReadonlySet<string>
  /** Names with a wildcard, which the language expands. */
  readonly globs: ReadonlySet<string>
  /** Strings from which the code may put names together. */
  readonly pieces: ReadonlySet<string>
  /** True when the code walks through folders, or makes names that cannot be read off its text. */
  readonly isOpen: boolean
}

const LONGEST_NAME = 200
/** Languages with more ways to quote than quotation marks: `q(a)`, `%q(a)`, `[[a]]`. */
const QUOTES_OTHERWISE = /^(?:perl|ruby|jruby|lua|luajit|raku|php|tclsh|expect)[\d.]*$/
const NAMES_A_FILE = /^[.~/]|[/.]/

/** The code walks through folders by itself. */
const LISTS =
  /\b(?:readdir|listdir|scandir|iterdir|opendir|walkdir|copytree|rmtree|make_archive|cpSync|cp_r|list\.files|DirectoryIterator|read_dir)|\bos\.f?walk\b|\bimport\b[^\n]{0,99}\bwalk\b|\.walk\(\)|\bDir\b|File::Find|\blfs\.dir\b/gi
/** The code copies or packs everything in a folder. */
const TAKES_FOLDERS = /\b(?:copytree|make_archive|cpSync|cp_r)\b|\btarfile\b(?=[^]{0,999}\.add\()/
const LISTS_BY_PATTERN = /glob|<[^<>\n]{0,99}\*[^<>\n]{0,99}>|\bDir\b/i
/** The result of these cannot be read off the text. */
const DECODES =
  /\b(?:chr|fromCharCode|fromCodePoint|unhexlify|fromhex|b(?:64|32|16|85)decode|decodebytes|atob|rot13|decodeURIComponent)\b|\bBuffer\.from\([^)\n]{0,200},|\bbytes(?:earray)?\(\s{0,9}\[|\bstrrev\b|["'`]\)?(?:\[\s{0,9}-?\d*\s{0,9}:|\.(?:reverse|replace|slice|substr|translate|[lr]?strip|remove|charAt|g?sub|tr|chars)|\.split\([^)\n]{0,9}\)\.reverse)/
/** Where something is inserted into a string, or a string is taken apart. */
const BETWEEN_PIECES = /%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z]|[#$]?\{[^{}]*\}|\$\w+|\s+/
const TAKES_APART = /split|\bqw\b|%w|\bwords\b/
const LOADS_SETTINGS = /loadEnvFile|dotenv/
const PACKS = /\b(?:un)?pack\b/
/** The code does something with files. */
const USES = /open|read|write|load|remove|unlink|rename|copy|cp|rm|truncate|archive|link|slurp|text\(|stat|File|Path/i

export function namesInCode(base: string, codes: readonly string[]): CodeNames {
  const names = new Set<string>()
  const globs = new Set<string>()
  const pieces = new Set<string>()
  for (const code of codes) {
    const variants = codeVariants(code)
    const mayRun = mayRunPrograms(base, code) || isAwk(base)
    const isTakenApart = mayRun || TAKES_APART.test(code)
    if (USES.test(code) || isAwk(base)) for (const piece of piecesIn(variants, isTakenApart)) pieces.add(piece)
    for (const variant of variants) {
      for (const text of textsIn(variant)) {
        names.add(text)
        if (!mayRun) continue
        for (const name of namesIn(text)) {
          names.add(name)
          if (/[*?[]/.test(name)) globs.add(name)
        }
      }
    }
    if (isSed(base)) for (const name of namesInSed(code)) names.add(name)
    if (QUOTES_OTHERWISE.test(base)) {
      for (const variant of variants) for (const name of namesIn(variant)) if (NAMES_A_FILE.test(name)) names.add(name)
    }
  }
  // These libraries know by themselves which file they load.
  if (codes.some((code) => LOADS_SETTINGS.test(code))) names.add('.env')
  const isPattern = codes.some((code) => LISTS_BY_PATTERN.test(code))
  if (isPattern) for (const name of names) if (/[*?[]/.test(name)) globs.add(name)
  return { names, globs, pieces, isOpen: codes.some((code) => hidesNames(base, code)) }
}

/** Prose, and the code between strings, contains blanks: no name is made of it, unless it is taken apart. */
function piecesIn(variants: ReadonlySet<string>, isTakenApart: boolean): string[] {
  const texts = [...variants].flatMap(textsIn)
  return texts
    .filter((text) => isTakenApart || !/\s/.test(text))
    .flatMap((text) => text.split(BETWEEN_PIECES))
    .filter((piece) => piece !== '' && piece.length <= LONGEST_NAME)
}

function hidesNames(base: string, code: string): boolean {
  if (TAKES_FOLDERS.test(code)) return true
  const rest = code.replace(LISTS, ' ')
  const isHidden = rest !== code || DECODES.test(code) || (QUOTES_OTHERWISE.test(base) && PACKS.test(code))
  return isHidden && USES.test(rest)
}

/** A file name may follow a sed command without a blank: `/a/w.env`. */
function namesInSed(code: string): string[] {
  return code.split(/[\s;{}]+/).flatMap((word) => {
    if (word.length > LONGEST_NAME) return [word]
    return [word, ...[...word.matchAll(/[rRwW]/g)].map(({ index }) => word.slice(index + 1))]
  })
}
