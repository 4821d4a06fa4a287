import { transparentWrapperNames } from '../../programs/launchers.ts'
import { shellNames } from '../shells.ts'
import { canDoMore } from '../unknowns.ts'
import { filterNames } from './filters.ts'
import { listerNames } from './listings.ts'
import { neutralNames } from './members.ts'
import { readerNames, readerOf } from './readers.ts'
import type { Select } from './readers.ts'
import { searcherNames } from './searches.ts'

/** The names that a text of file operations can begin with. */
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
 * Names that need the parser: programs that run others, fd, whose options do, and keywords that need no command (`case
 * x in esac`, `time` alone).
 */
const FOR_THE_PARSER: readonly string[] = [...shellNames, ...transparentWrapperNames, 'fd', 'fdfind', 'case', 'time']

/** A program that may occur in a text of file operations, with everything that depends on its name alone. */
export interface RelevantProgram {
  readonly name: string
  readonly needsParser: boolean
  readonly mayBegin: boolean
  /** The program may have no effect on files. */
  readonly mayBeNeutral: boolean
  /** Some arguments make it do more than its name says. */
  readonly canDoMore: boolean
  /** Selects what it prints, if it is a program that prints files. */
  readonly select: Select | undefined
}

const RELEVANT: ReadonlyMap<string, RelevantProgram> = new Map(
  [...BEGINNINGS, ...filterNames, ...FOR_THE_PARSER].map((name) => [name, describe(name)]),
)

function describe(name: string): RelevantProgram {
  const needsParser = FOR_THE_PARSER.includes(name)
  return {
    name,
    needsParser,
    mayBegin: needsParser || BEGINNINGS.includes(name),
    mayBeNeutral: neutralNames.includes(name),
    canDoMore: canDoMore(name),
    select: readerOf(name),
  }
}

export function relevantProgram(name: string): RelevantProgram | undefined {
  return RELEVANT.get(name)
}
