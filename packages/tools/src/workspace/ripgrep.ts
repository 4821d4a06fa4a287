import { findProgram } from '../find-program.ts'
import type { ContainedFolder } from './contained-folder.ts'
import type { GrepOptions } from './files.ts'

/**
 * Returns the files that have a match, sorted, or `undefined` if ripgrep is not there or does not know the pattern.
 * No configuration file of the user takes part.
 */
export async function ripgrepFiles(
  folder: ContainedFolder,
  path: string,
  { glob, honourIgnore, pattern, signal, source }: GrepOptions,
): Promise<readonly string[] | undefined> {
  const command = findProgram('rg', folder.root)
  if (command === undefined) return undefined
  const within = folder.visit(path, (place) => place.path)
  const { spawnRun } = await import('@inspan/shell/run')
  const run = await spawnRun({
    command,
    args: [
      '--no-config --files-with-matches --null --hidden --no-messages --max-filesize 10M --sort path'.split(' '),
      honourIgnore ? ['--no-require-git', '--no-ignore-global', '--no-ignore-parent', '--glob=!.git'] : ['--no-ignore'],
      pattern.ignoreCase ? ['--ignore-case'] : [],
      glob === undefined ? [] : [`--glob=${glob}`],
      ['--regexp', source, '--', within === '.' ? './' : `./${within}`],
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
