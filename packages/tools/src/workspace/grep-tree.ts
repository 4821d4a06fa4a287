import { closeSync, constants, fstatSync, lstatSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { InspanError } from '@inspan/protocol'
import type { ContainedFolder, ContainedPlace } from './contained-folder.ts'
import { at, inFolder, openFile } from './contained-folder.ts'
import type { GrepOptions, Match } from './files.ts'
import { isOpenDatabase, openDatabases } from '../own-files.ts'
import { withinTime } from '../time-limit.ts'
import { ripgrepFiles } from './ripgrep.ts'
import { walkTree } from './walk-tree.ts'

// Many patterns that backtrack without end are no problem for the linear engine, which V8 then changes to.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

const MAX_FILE_BYTES = 10 * 1024 * 1024
const BINARY_PROBE = 8000
/** How much is searched at once, in characters and milliseconds. Nothing else happens in this process meanwhile. */
const MOST_TEXT = 4 * 1024 * 1024
const MOST_MS = 2_000
/** How many files of one folder are read before their matches are passed on. */
const MAX_NEIGHBOURS = 64

/**
 * Yields matching lines. ripgrep only names the files that may match: every line comes from a file that was opened
 * inside the folder.
 */
export async function* grepTree(folder: ContainedFolder, path: string, options: GrepOptions): AsyncGenerator<Match> {
  const listed = options.useRipgrep === false ? undefined : await ripgrepFiles(folder, path, options)
  const named = folder.visit(path, (place) => place.path)
  const files = chosen(listed ?? filesBelow(folder, path, options), named, options.glob)
  const databases = openDatabases()
  for await (const { parent, names } of byFolder(files)) {
    if (options.signal?.aborted === true) return
    yield* matchesIn(folder, parent, names, options.pattern, databases)
  }
}

/** A file that was named is searched in any case. */
async function* chosen(
  files: AsyncIterable<string> | Iterable<string>,
  named: string,
  glob: string | undefined,
): AsyncGenerator<string> {
  for await (const file of files) if (glob === undefined || file === named || fits(file, glob)) yield file
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
  const found: Match[] = []
  let texts: { readonly path: string; readonly text: string }[] = []
  let length = 0
  const search = (): void => {
    const match = (): Match[] => texts.flatMap(({ path, text }) => [...matchingLines(path, text, pattern)])
    // Without a quantifier there is one way to match, and the limit would cost more than the search.
    found.push(...(/[*+?{]/.test(pattern.source) ? withinTime(MOST_MS, match) : match()))
    texts = []
    length = 0
  }
  try {
    folder.visit(parent, (place) =>
      inFolder(place, (base) => {
        for (const name of names) {
          const path = place.path === '.' ? name : `${place.path}/${name}`
          const text = readText({ base, name, path }, databases)
          if (text === undefined) continue
          texts.push({ path, text })
          length += text.length
          if (length > MOST_TEXT) search()
        }
      }),
    )
    search()
  } catch (error) {
    if (InspanError.is(error, 'expired')) throw tooSlow(error)
  }
  return found
}

function tooSlow(cause: Error): InspanError {
  return new InspanError('invalid-input', 'The pattern takes too long: it tries too many ways to match.', {
    hint: 'Repeat nothing within a repetition, as `(a+)+` does.',
    cause,
  })
}

async function* filesBelow(folder: ContainedFolder, path: string, options: GrepOptions): AsyncGenerator<string> {
  const single = folder.visit(path, (place) => (isFile(place) ? place.path : undefined))
  if (single !== undefined) {
    yield single
    return
  }
  const { honourIgnore, signal } = options
  const tree = { depth: Infinity, honourIgnore, ...(signal === undefined ? {} : { signal }) }
  for await (const entry of walkTree(folder, path, tree)) {
    if (entry.type === 'file') yield entry.path
  }
}

/** A glob without a slash is about the name of a file, wherever it is. A star stands for a dot, too. */
function fits(path: string, glob: string): boolean {
  if (glob.startsWith('!')) return !fits(path, glob.slice(1))
  if (!glob.includes('/')) return matches(path.slice(path.lastIndexOf('/') + 1), glob)
  return matches(path, glob.replace(/^(?:\.?\/)+/, ''))
}

function matches(path: string, glob: string): boolean {
  return matchesGlob(path, glob) || matchesGlob(path.replace(/(^|\/)\./g, '$1_'), glob)
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
  // Most files have no match, and one look at the whole is much faster than one per line. What must not follow a match
  // may be in the next line, though.
  const isAboutLines = /\(\?<?!/.test(pattern.source)
  if (!isAboutLines && !new RegExp(pattern.source, `${pattern.flags.replace('m', '')}m`).test(text)) return
  let line = 0
  for (const each of text.split('\n')) {
    line++
    const content = each.endsWith('\r') ? each.slice(0, -1) : each
    if (pattern.test(content)) yield { path, line, text: content }
  }
}
