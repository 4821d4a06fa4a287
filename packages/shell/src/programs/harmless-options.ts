import { GIT_OPTIONS, OTHER_GIT_COMMANDS } from './git-options.ts'
import { optionTable, type OptionTable } from './options.ts'
import { TOOL_OPTIONS } from './tool-options.ts'
import { UNIX_OPTIONS } from './unix-options.ts'

/** Programs that take a number as an option: `head -20`. */
const TAKES_DIGITS =
  /^(?:g?head|g?tail|fold|[efg]?grep|git (?:grep|log|show|diff|shortlog|reflog|rev-list|format-patch|tag))$/

/**
 * The options of programs that are known to be harmless: with them, a program still reads, prints or changes only what
 * its name and its operands say. Options that take code, settings, another folder or a file to write are left out on
 * purpose, and so are abbreviations: an option that is not here asks. `:` takes a value, `?` takes one only if attached.
 * Classifying what a command reads uses the same tables.
 */
const TABLES: ReadonlyMap<string, OptionTable> = new Map(
  `${UNIX_OPTIONS}${TOOL_OPTIONS}${GIT_OPTIONS}`
    .split(/\n(?=\S)/)
    .filter((entry) => entry.trim() !== '')
    .flatMap((entry) => {
      const [names = '', options = ''] = entry.split('|')
      const list = names.trim().split(', ')
      return list.map((name) => [name, optionTable(options.trim(), { digits: TAKES_DIGITS.test(name) })] as const)
    }),
)

/** Returns the harmless options of a program, or of a program and its subcommand; `undefined` when it is not known. */
export function harmlessOptions(name: string): OptionTable | undefined {
  return TABLES.get(name)
}

/** False for a word that may be an alias in git's settings, or a program that git does not bring along. */
export function isGitCommand(subcommand: string): boolean {
  return TABLES.has(`git ${subcommand}`) || OTHER_GIT_COMMANDS.has(subcommand)
}

const NO_OPTIONS = optionTable('')

/** Returns the harmless options of a program that is known to be in the table. */
export function tableOf(name: string): OptionTable {
  return TABLES.get(name) ?? NO_OPTIONS
}
