import type { Terminal } from './command.ts'

/**
 * Returns a command line that works in the user's situation: started by npm, `inspan` needs `npx`, and a thread in a
 * separate file needs `--db`.
 */
export function suggestion(args: string, db: string | undefined, { env }: Pick<Terminal, 'env'>): string {
  // npm sets this for every program it starts.
  const call = env['npm_command'] === undefined ? 'inspan' : 'npx inspan'
  return `${call} ${args}${db === undefined ? '' : ` --db ${quoted(db)}`}`
}

/** Quotes a word for pasting into a shell. */
function quoted(word: string): string {
  return /^[\w./@%+,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
