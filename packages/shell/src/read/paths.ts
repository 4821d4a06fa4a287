/** Lexical paths only: nothing here looks at a disk, follows a link or knows a home directory. */

/** `~/x` and `C:\x` count as absolute: where they lead does not depend on the working directory. */
export function isAbsolute(path: string): boolean {
  return /^(?:\/|~$|~\/|[A-Za-z]:[\\/])/.test(path)
}

/** `path` as seen from `directory`; as written when it is absolute or when `directory` is the unknown start ('.'). */
export function joinPath(directory: string, path: string): string {
  if (isAbsolute(path) || directory === '.') return path
  return normalize(`${directory}/${path}`)
}

function normalize(path: string): string {
  const absolute = path.startsWith('/')
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    const last = kept.at(-1)
    if (part !== '..') kept.push(part)
    else if (last !== undefined && last !== '..' && last !== '~') kept.pop()
    else if (!absolute) kept.push(part)
  }
  const joined = kept.join('/')
  if (absolute) return `/${joined}`
  return joined === '' ? '.' : joined
}
