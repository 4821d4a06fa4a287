import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { whyLeftOut } from './left-out.ts'

export interface Selection {
  readonly files: readonly string[]
  readonly leftOut: ReadonlyMap<string, string>
}

/** Separates the test files that a system can run from those that it cannot, with the reason for each. */
export function selectFor(platform: string, files: readonly string[], root: string): Selection {
  const leftOut = new Map<string, string>()
  for (const file of files) {
    const why = whyLeftOut(platform, file, withHelpers(root, file))
    if (why !== undefined) leftOut.set(file, why)
  }
  return { files: files.filter((file) => !leftOut.has(file)), leftOut }
}

/** Returns the text of a test file and of the fixtures and test helpers that it imports. */
function withHelpers(root: string, file: string, seen: Set<string> = new Set()): string {
  if (seen.has(file)) return ''
  seen.add(file)
  const text = readFileSync(resolve(root, file), 'utf8')
  const imported = [...text.matchAll(/\bfrom '(\.[^']+\.tsx?)'/g)]
    .map(([, path = '']) => relative(root, resolve(root, dirname(file), path)))
    .filter((path) => /\.fixture\.tsx?$|[\\/]test[\\/]/.test(path) && existsSync(resolve(root, path)))
  return [text, ...imported.map((path) => withHelpers(root, path, seen))].join('\n')
}

/** Returns the left-out files as text, grouped by reason. */
export function describeLeftOut(leftOut: ReadonlyMap<string, string>): string {
  const byReason = Map.groupBy(leftOut, ([, why]) => why)
  return [...byReason]
    .map(([why, files]) => [`Not run, because it ${why}:`, ...files.map(([file]) => `  ${file}`)].join('\n'))
    .join('\n')
}
