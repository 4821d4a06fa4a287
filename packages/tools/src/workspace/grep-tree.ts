import { closeSync, constants, fstatSync, lstatSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { ContainedFolder, ContainedPlace } from './contained-folder.ts'
import { at, inFolder, openFile } from './contained-folder.ts'
import type { GrepOptions, Match } from './files.ts'
import { isOpenDatabase, openDatabases } from '../own-files.ts'
import { ripgrepFiles } from './ripgrep.ts'
import { walkTree } from './walk-tree.ts'

// A pattern that backtracks without end would stop the whole process: V8 then changes to its linear engine.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

const MAX_FILE_BYTES = 10 * 1024 * 1024
const BINARY_PROBE = 8000
/** How many files of one folder are read before their matches are passed on. */
const MAX_NEIGHBOURS = 64

/**
 * Yields matching lines. ripgrep only names the files that may match: every line comes from a file that was opened
 * inside the folder.
 */
export async function* grepTree(folder: ContainedFolder, path: string, options: GrepOptions): AsyncGenerator<Match> {
  const found = options.useRipgrep === false ? undefined : await ripgrepFiles(folder, path, options)
  const databases = openDatabases()
  for await (const { parent, names } of byFolder(found ?? filesBelow(folder, path, options))) {
    if (options.signal?.aborted === true) return
    yield* matchesIn(folder, parent, names, options.pattern, databases)
  }
}

interface Neighbours {
  readonly parent: string
  readonly names: readonly string[]
}

/** Joins files of one folder that follow each other, so that the folder is opened once for all of them. */
async function* byFolder(files: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Neighbours> {
  let parent = ''
  let names: string[] = []
  for await (const file of files) {
    const slash = file.lastIndexOf('/')
    const its = slash === -1 ? '.' : file.slice(0, slash)
    if (names.length > 0 && (its !== parent || names.length === MAX_NEIGHBOURS)) {
      yield { parent, names }
      names = []
    }
    parent = its
    names.push(file.slice(slash + 1))
  }
  if (names.length > 0) yield { parent, names }
}

/** A folder that is gone or closed to us has no matches: a search continues without it. */
function matchesIn(
  folder: ContainedFolder,
  parent: string,
  names: readonly string[],
  pattern: RegExp,
  databases: ReadonlySet<string>,
): Match[] {
  try {
    return folder.visit(parent, (place) =>
      inFolder(place, (base) =>
        names.flatMap((name) => {
          const path = place.path === '.' ? name : `${place.path}/${name}`
          const text = readText({ base, name, path }, databases)
          return text === undefined ? [] : [...matchingLines(path, text, pattern)]
        }),
      ),
    )
  } catch {
    return []
  }
}

async function* filesBelow(folder: ContainedFolder, path: string, options: GrepOptions): AsyncGenerator<string> {
  const single = folder.visit(path, (place) => (isFile(place) ? place.path : undefined))
  if (single !== undefined) {
    yield single
    return
  }
  const { glob, honourIgnore, signal } = options
  const tree = { depth: Infinity, honourIgnore, ...(signal === undefined ? {} : { signal }) }
  for await (const entry of walkTree(folder, path, tree)) {
    if (entry.type === 'file' && (glob === undefined || fits(entry.path, glob))) yield entry.path
  }
}

/** A glob without a slash is about the name of a file, wherever it is. */
function fits(path: string, glob: string): boolean {
  return matchesGlob(glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1), glob)
}

function isFile(place: ContainedPlace): boolean {
  try {
    return lstatSync(at(place)).isFile()
  } catch {
    return false
  }
}

/** Returns `undefined` for what is binary, too large, gone or closed to us: a search continues without it. */
function readText(place: ContainedPlace, databases: ReadonlySet<string>): string | undefined {
  try {
    // Closing it would drop the locks of the database.
    if (databases.size > 0 && isOpenDatabase(lstatSync(at(place), { bigint: true }), databases)) return undefined
    const fd = openFile(place, constants.O_RDONLY)
    try {
      if (fstatSync(fd).size > MAX_FILE_BYTES) return undefined
      const bytes = readFileSync(fd)
      return bytes.subarray(0, BINARY_PROBE).includes(0) ? undefined : bytes.toString('utf8')
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}

function* matchingLines(path: string, text: string, pattern: RegExp): Generator<Match> {
  // Most files have no match, and one look at the whole is much faster than one per line.
  if (!new RegExp(pattern.source, `${pattern.flags.replace('m', '')}m`).test(text)) return
  let line = 0
  for (const each of text.split('\n')) {
    line++
    const content = each.endsWith('\r') ? each.slice(0, -1) : each
    if (pattern.test(content)) yield { path, line, text: content }
  }
}
