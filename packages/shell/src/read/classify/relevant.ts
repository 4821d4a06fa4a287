import { shellNames } from '../shells.ts'
import { transparentWrapperNames } from '../wrappers.ts'
import { filterNames } from './filters.ts'
import { listerNames } from './listings.ts'
import { neutralNames, separatorNames } from './members.ts'
import { readerNames } from './readers.ts'
import { searcherNames } from './searches.ts'

/** Keywords that can stand for no command at all: `case x in esac`, `time` alone. */
export const emptyKeywords: readonly string[] = ['case', 'time']

/** The names a text of file operations can begin with. */
const BEGINNINGS: readonly string[] = [
  ...readerNames,
  ...searcherNames,
  ...listerNames,
  ...neutralNames,
  ...shellNames,
  ...transparentWrapperNames,
  'git',
  'find',
  'gfind',
  'fd',
  'fdfind',
  ...emptyKeywords,
]
const MAY_BEGIN: ReadonlySet<string> = new Set(BEGINNINGS)

/** All programs that have a place in such a text. */
const RELEVANT: ReadonlyMap<string, string> = new Map(
  [...BEGINNINGS, ...separatorNames, ...filterNames].map((name) => [name, name]),
)

/** The name of a program that can be a part of file operations, as the very string the tables hold: those compare fast. */
export function relevantName(base: string): string | undefined {
  return RELEVANT.get(base)
}

const SLASH = 0x2f
const NAME_CHARACTERS = new Uint8Array(0x1_0000)
for (let code = 0; code < 128; code += 1) if (/[\w./-]/.test(String.fromCharCode(code))) NAME_CHARACTERS[code] = 1
/** What ends a word that is then surely one. Not `<` and `>`: a number before them is a descriptor. */
const ENDS = ' \n;|&'

/** Its first word settles that the text is more, or other, than file operations, whatever follows. */
export function beginsOtherwise(text: string): boolean {
  let start = 0
  let end = 0
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (NAME_CHARACTERS[code] !== 1) break
    if (code === SLASH) start = end + 1
  }
  const isWord = end > start && (end === text.length || ENDS.includes(text.charAt(end)))
  return isWord && !MAY_BEGIN.has(text.slice(start, end))
}
