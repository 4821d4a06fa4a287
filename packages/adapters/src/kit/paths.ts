import { posix } from 'node:path'

/**
 * Returns the absolute path if it can be determined. Otherwise returns the path as written: without a working
 * directory, and for `~`, which only the shell that saw it can resolve. Does not access the disk.
 */
export function absolutePath(path: string, cwd: string | undefined): string {
  if (isAbsolute(path) || path.startsWith('~')) return path
  if (cwd === undefined || !isAbsolute(cwd)) return path
  if (!cwd.startsWith('/')) return `${cwd.replace(/[\\/]+$/, '')}\\${path}`
  const joined = posix.join(cwd, path)
  return joined.length > 1 && joined.endsWith('/') ? joined.slice(0, -1) : joined
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^(?:[A-Za-z]:[\\/]|\\\\)/.test(path)
}
