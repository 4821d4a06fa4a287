import { readdirSync, type Dirent } from 'node:fs'
import { setImmediate as nextTask } from 'node:timers/promises'
import { inFolder, type ContainedFolder, type ContainedPlace } from './contained-folder.ts'
import type { ListedFile, ListOptions } from './files.ts'
import { isIgnored, loadIgnore, rulesOf, type IgnoreRules } from './ignore-rules.ts'

interface Pending extends ListedFile {
  readonly depth: number
  readonly rules: IgnoreRules | undefined
}

/** How long other work may wait for a large tree. */
const YIELD_AFTER_MS = 8

/** Yields what is below a folder, each folder before what is in it, sorted by name. Links are not followed. */
export async function* walkTree(
  folder: ContainedFolder,
  path: string,
  { depth, honourIgnore, signal }: ListOptions,
): AsyncGenerator<ListedFile> {
  const make = honourIgnore ? await loadIgnore() : undefined
  const read = (at: string, level: number, above: IgnoreRules | undefined): Pending[] =>
    folder.visit(at, (place) =>
      inFolder(place, (base) => {
        const rules = make === undefined ? undefined : rulesOf(base, place.path, above, make)
        return children(place, readdirSync(base, { withFileTypes: true }), level, rules, honourIgnore)
      }),
    )
  const first = make === undefined ? undefined : rulesAbove(folder, path, make)
  const todo = read(path, depth, first)
  let since = performance.now()
  for (;;) {
    const next = todo.pop()
    if (next === undefined) return
    yield { path: next.path, type: next.type }
    if (next.type === 'folder' && next.depth > 1) todo.push(...readAgain(next, read))
    if (performance.now() - since > YIELD_AFTER_MS) {
      await nextTask()
      signal?.throwIfAborted()
      since = performance.now()
    }
  }
}

/** A folder may be gone, closed to us or replaced since it was listed; the rest is still listed. */
function readAgain(
  { depth, path, rules }: Pending,
  read: (path: string, depth: number, rules: IgnoreRules | undefined) => Pending[],
): Pending[] {
  try {
    return read(path, depth - 1, rules)
  } catch {
    return []
  }
}

/** Returned in reverse, because the last one is taken first. */
function children(
  { path }: ContainedPlace,
  entries: readonly Dirent[],
  depth: number,
  rules: IgnoreRules | undefined,
  honourIgnore: boolean,
): Pending[] {
  const under = path === '.' ? '' : `${path}/`
  return entries
    .map((entry): Pending => ({ path: under + entry.name, type: typeOf(entry), depth, rules }))
    .filter((entry) => !honourIgnore || !isIgnored(entry.path, entry.type === 'folder', rules))
    .sort((a, b) => (a.path < b.path ? 1 : -1))
}

function typeOf(entry: Dirent): ListedFile['type'] {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
}

/** Returns the rules of the folders above a path; its own are read with it. */
function rulesAbove(
  folder: ContainedFolder,
  path: string,
  make: Parameters<typeof rulesOf>[3],
): IgnoreRules | undefined {
  const names = folder.visit(path, (place) => (place.path === '.' ? [] : place.path.split('/')))
  let rules: IgnoreRules | undefined
  for (let count = 0; count < names.length; count++) {
    const above = names.slice(0, count).join('/') || '.'
    rules = folder.visit(above, (place) => inFolder(place, (base) => rulesOf(base, place.path, rules, make)))
  }
  return rules
}
