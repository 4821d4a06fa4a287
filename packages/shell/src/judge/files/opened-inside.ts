import type { SimpleCommand } from '../../read/index.ts'
import { PLAIN, type Touch } from './touch.ts'
import type { Location } from '../patterns/location.ts'

/** Programs with a small language of their own, and what opens files in it: a name may be put together there. */
const OPENS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:jq|gojq|jaq)$/, /(?:^|[;\s])(?:import|include)\s*["#]/],
  [/^yq$/, /\bload/],
  [
    /^(?:sqlite3?|duckdb|psql|mysql|mariadb)$/i,
    /\b(?:readfile|writefile|edit|fsdir|lsdir|zipfile|attach|read_\w+|glob|load_file|load_extension|pg_read_\w+|pg_ls_\w+|lo_import)\b/i,
  ],
  // A range in brackets is many addresses.
  [/^curl$/, /^file:.*\[/i],
]

/** Options that name a file with the names of other files. */
const LISTS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:g?sort|g?wc|g?du)$/, /^--fi/],
  [/^curl$/, /^(?:-[a-zA-Z#0-9]*K|--conf)/],
]

/** Programs that unpack files under the names in an archive or a mail, unless an option lets them only look. */
const UNPACKS = /^(?:unzip|uudecode|unar)$/
const ONLY_LOOKS = /^-[qaCLM]*[lptvZz]/
/** With it, a server names the file. */
const NAMED_BY_SERVER = /^(?:-[a-zA-Z#0-9]*J|--remote-head.*|--content-disp.*)$/

/** Files that are opened from inside a program's own language, or named in a list or an archive, are not known before. */
export function openedInside(base: string, { args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  const has = (option: RegExp): boolean => args.some(({ text }) => option.test(text))
  const isMeant = (table: typeof OPENS): boolean => table.some(([name, opens]) => name.test(base) && has(opens))
  const isWritten = (UNPACKS.test(base) && !has(ONLY_LOOKS)) || (/^(?:curl|wget)$/.test(base) && has(NAMED_BY_SERVER))
  const access = isMeant(OPENS) ? 'either' : isMeant(LISTS) ? 'read' : isWritten ? 'edit' : null
  return access === null ? [] : [{ ...PLAIN, access, path: null, from, isCertain: true, part: source }]
}
