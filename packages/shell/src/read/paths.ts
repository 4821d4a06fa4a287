/** Lexical paths only: nothing here looks at a disk, follows a link or knows a home directory. */

const DOT = 0x2e
const SLASH = 0x2f

/** `~/x` and `C:\x` count as absolute: where they lead does not depend on the working directory. */
export function isAbsolute(path: string): boolean {
  return path.charCodeAt(0) === SLASH || /^(?:~$|~\/|[A-Za-z]:[\\/])/.test(path)
}

/** `path` as seen from `directory`; as written when it is absolute or when `directory` is the unknown start ('.'). */
export function joinPath(directory: string, path: string): string {
  if (isAbsolute(path) || directory === '.') return path
  if (path === '.' && directory.charCodeAt(0) === SLASH && hasOnlyNames(directory, 1)) return directory
  const joined = `${directory}/${path}`
  const isNormal = directory.charCodeAt(0) === SLASH && hasOnlyNames(directory, 1) && hasOnlyNames(path, 0)
  return isNormal ? joined : normalize(joined)
}

/** No part is empty or begins with a dot: such a path is as short as it can be. */
function hasOnlyNames(path: string, from: number): boolean {
  let isAtPart = true
  for (let at = from; at < path.length; at += 1) {
    const code = path.charCodeAt(at)
    if (isAtPart && (code === SLASH || code === DOT)) return false
    isAtPart = code === SLASH
  }
  return !isAtPart
}

function normalize(path: string): string {
  const absolute = path.charCodeAt(0) === SLASH
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
