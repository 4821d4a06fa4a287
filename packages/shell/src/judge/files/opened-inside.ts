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

/** A file that is opened from inside a program's own language, or from a list, is only known at run time. */
export function openedInside(base: string, { args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  const isMeant = (table: typeof OPENS): boolean =>
    table.some(([name, opens]) => name.test(base) && args.some(({ text }) => opens.test(text)))
  if (!isMeant(OPENS) && !isMeant(LISTS)) return []
  return [{ ...PLAIN, access: 'read', path: null, from, isCertain: true, part: source }]
}
