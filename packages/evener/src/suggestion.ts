import type { Terminal } from './command.ts'

/**
 * A command line that works where the reader is: in a clone `evener` is reached by `npx`, and what was kept in a file of
 * its own is found there only.
 */
export function suggestion(args: string, db: string | undefined, { env }: Pick<Terminal, 'env'>): string {
  // Set by npm for whatever it starts.
  const call = env['npm_command'] === undefined ? 'evener' : 'npx evener'
  return `${call} ${args}${db === undefined ? '' : ` --db ${quoted(db)}`}`
}

/** As it can be pasted into a shell. */
function quoted(word: string): string {
  return /^[\w./@%+,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
