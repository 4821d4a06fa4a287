/** Lexical paths only: nothing here looks at a disk, follows a link or knows a home directory. */

const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const TILDE = 0x7e

/** `~/x` and `C:\x` count as absolute, because they do not depend on the working directory. */
export function isAbsolute(path: string): boolean {
  const first = path.charCodeAt(0)
  if (first === SLASH) return true
  return (first === TILDE || path.charCodeAt(1) === COLON) && /^(?:~$|~\/|[A-Za-z]:[\\/])/.test(path)
}

/** Resolves `path` against `directory`. Unchanged if it is absolute or `directory` is the unknown start ('.'). */
export function joinPath(directory: string, path: string): string {
  if (isAbsolute(path) || directory === '.') return path
  if (path === '.' && isNormal(directory)) return directory
  const joined = `${directory}/${path}`
  return hasOnlyNames(path) && isNormal(directory) ? joined : normalize(joined)
}

/** The directory that was checked last. A run has only few of them. */
let normalDirectory: string | undefined

function isNormal(directory: string): boolean {
  if (directory === normalDirectory) return true
  if (directory.charCodeAt(0) !== SLASH || !hasOnlyNames(directory.slice(1))) return false
  normalDirectory = directory
  return true
}

/** True if no part is empty or begins with a dot. Such a path is already normal. */
function hasOnlyNames(path: string): boolean {
  for (let part = 0; ;) {
    const first = path.charCodeAt(part)
    // `NaN` at the end of the path: there is no name.
    if (first === DOT || first === SLASH || Number.isNaN(first)) return false
    const slash = path.indexOf('/', part)
    if (slash === -1) return true
    part = slash + 1
  }
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
