import { shellNames } from '../shells.ts'
import { transparentWrapperNames } from '../wrappers.ts'
import { filterNames } from './filters.ts'
import { listerNames } from './listings.ts'
import { neutralNames, separatorNames } from './members.ts'
import { readerNames } from './readers.ts'
import { searcherNames } from './searches.ts'

/** The names a text of file operations can begin with. */
const BEGINNINGS: readonly string[] = [
  ...readerNames,
  ...searcherNames,
  ...listerNames,
  ...neutralNames,
  'git',
  'find',
  'gfind',
]

/**
 * What takes the parser: programs that run others, fd, whose options do, and keywords that can stand for no command at
 * all (`case x in esac`, `time` alone).
 */
const FOR_THE_PARSER: readonly string[] = [...shellNames, ...transparentWrapperNames, 'fd', 'fdfind', 'case', 'time']
const MAY_BEGIN: ReadonlySet<string> = new Set([...BEGINNINGS, ...FOR_THE_PARSER])

/** A program that has a place in such a text. */
export interface RelevantProgram {
  /** As the very string the tables hold: those compare fast. */
  readonly name: string
  readonly needsParser: boolean
}

const RELEVANT: ReadonlyMap<string, RelevantProgram> = new Map<string, RelevantProgram>([
  ...[...BEGINNINGS, ...separatorNames, ...filterNames].map((name) => [name, { name, needsParser: false }] as const),
  ...FOR_THE_PARSER.map((name) => [name, { name, needsParser: true }] as const),
])

export function relevantProgram(base: string): RelevantProgram | undefined {
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
