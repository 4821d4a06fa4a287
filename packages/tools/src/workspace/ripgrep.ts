import { findProgram } from '../find-program.ts'
import type { ContainedFolder } from './contained-folder.ts'
import type { GrepOptions } from './files.ts'

const HONOUR_IGNORE = '--no-require-git --no-ignore-global --no-ignore-parent --no-ignore-dot --glob=!.git'.split(' ')
/** A glob that is about nothing but the names of files. */
const IS_NAME = /^[\w.*?-]+$/
/** An escape, a class of characters, or one character. */
const TOKENS = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/g
/** What ripgrep would take for the letters of all languages. */
const ASCII: Readonly<Record<string, string>> = {
  '\\w': '[0-9A-Za-z_]',
  '\\W': '[^0-9A-Za-z_]',
  '\\d': '[0-9]',
  '\\D': '[^0-9]',
}
const EDGES: Readonly<Record<string, string>> = { '\\b': '(?-u:\\b)', '\\B': '(?-u:\\B)' }

/** Returns the expression as ripgrep understands it; `undefined` where it would mean something else. */
function forRipgrep(source: string): string | undefined {
  const tokens = source.match(TOKENS) ?? []
  const written = tokens.map((token) => {
    if (!token.startsWith('[') || token === '[') return EDGES[token] ?? ASCII[token] ?? token
    // There are classes within classes, intersections and differences.
    if (/\[|&&|--|~~/.test(token.slice(1))) return undefined
    return `[${token.slice(1).replace(/\\[^]/g, (escape) => ASCII[escape] ?? escape)}`
  })
  return written.includes(undefined) ? undefined : written.join('')
}

/**
 * Returns the files that may have a match, sorted, or `undefined` if ripgrep is not there or does not know the pattern.
 * No configuration file of the user takes part.
 */
export async function ripgrepFiles(
  folder: ContainedFolder,
  path: string,
  { glob, honourIgnore, pattern, signal, source }: GrepOptions,
): Promise<readonly string[] | undefined> {
  const command = findProgram('rg', folder.root)
  const expression = forRipgrep(source)
  if (command === undefined || expression === undefined) return undefined
  const within = folder.visit(path, (place) => place.path)
  const { spawnRun } = await import('@inspan/shell/run')
  const run = await spawnRun({
    command,
    args: [
      '--no-config --files-with-matches --null --hidden --no-messages --max-filesize 10M --sort path --crlf'.split(' '),
      honourIgnore ? HONOUR_IGNORE : ['--no-ignore'],
      pattern.ignoreCase ? ['--ignore-case'] : [],
      // Not --glob, which would also find what .gitignore names.
      glob !== undefined && IS_NAME.test(glob) ? [`--type-add=wanted:${glob}`, '--type=wanted'] : [],
      ['--regexp', expression, '--', within === '.' ? './' : `./${within}`],
    ].flat(),
    cwd: folder.root,
    maxLineBytes: 64 * 1024 * 1024,
  })
  const stop = (): void => void run.kill({ graceMs: 0 })
  signal?.addEventListener('abort', stop, { once: true })
  try {
    run.stderr.discard()
    let names = ''
    for await (const line of run.stdout) names += line.text + line.ending
    const { code } = await run.exited
    // 1: no match. 2: a pattern of another dialect, or some file could not be read.
    if (code !== 0 && code !== 1) return undefined
    return names
      .split('\0')
      .filter(Boolean)
      .map((name) => name.replace(/^(\.\/)+/, ''))
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
