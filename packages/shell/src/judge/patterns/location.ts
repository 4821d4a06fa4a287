/** Where a path leads by its text alone. Links are not followed; the tool that opens the file has to do that. */
export interface Location {
  /** `start` when the start folder's place on the disk is unknown. */
  readonly from: 'root' | 'home' | 'start'
  /** Without `.` and empty segments. `..` occurs only at the front, and never from the root. */
  readonly segments: readonly string[]
}

export interface Whereabouts {
  /** The folder that relative patterns start from. */
  readonly root: Location
  /** Where the call would run. */
  readonly start: Location
  readonly home: Location | null
}

export const START: Location = { from: 'start', segments: [] }

export function locate(path: string, directory: Location, home: Location | null): Location {
  const segments = path.split('/')
  if (path.startsWith('/')) return walk({ from: 'root', segments: [] }, segments)
  if (segments[0] === '~') return walk(home ?? { from: 'home', segments: [] }, segments.slice(1))
  return walk(directory, segments)
}

function walk(from: Location, segments: readonly string[]): Location {
  const kept = [...from.segments]
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue
    const last = kept.at(-1)
    if (segment !== '..') kept.push(segment)
    else if (last !== undefined && last !== '..') kept.pop()
    else if (from.from !== 'root') kept.push(segment)
  }
  return { from: from.from, segments: kept }
}

/** Returns the rest of a location below a folder; `undefined` when it is not below it. */
export function below(
  folder: Location,
  { from, segments }: Location,
  isSame: (a: string, b: string) => boolean = (a, b) => a === b,
): readonly string[] | undefined {
  if (from !== folder.from || segments.length < folder.segments.length) return undefined
  if (!folder.segments.every((segment, at) => isSame(segment, segments[at] ?? ''))) return undefined
  const rest = segments.slice(folder.segments.length)
  return rest[0] === '..' ? undefined : rest
}

interface Located {
  readonly path: string
  readonly directory: Location
  readonly home: Location | null
  readonly places: readonly Location[]
}

let last: Located | undefined

/** Returns every place that some system may understand by the text. A deny holds for all of them. */
export function locateWidely(path: string, directory: Location, home: Location | null): readonly Location[] {
  // Cached, since one path is compared with every rule in turn.
  if (last === undefined || last.path !== path || last.directory !== directory || last.home !== home) {
    last = { path, directory, home, places: placesOf(path, directory, home) }
  }
  return last.places
}

function placesOf(path: string, directory: Location, home: Location | null): Location[] {
  const spellings = new Set([path, path.split('\0', 1)[0] ?? '', withoutScheme(path)])
  for (const spelling of spellings) spellings.add(spelling.replaceAll('\\', '/').replace(/^[A-Za-z]:(?=\/)/, ''))
  return [...spellings].flatMap((spelling) => {
    const plain = locate(spelling, directory, home)
    const trimmed: Location = { from: plain.from, segments: plain.segments.map(trimSegment) }
    const places = [plain, trimmed, ...goThrough(spelling, directory, home)]
    return [...places, ...places.flatMap((place) => aliases(place, directory))]
  })
}

const DOOR = /^(?:proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|root)|dev\/fd)$/
const LONGEST_DOOR = 5

/**
 * Resolves a path as the system does: after a process folder such as `/proc/self/cwd`, `..` leads up from its real
 * place.
 */
function goThrough(path: string, directory: Location, home: Location | null): Location[] {
  const [first = '', ...others] = path.split('/')
  const isPlain = first !== '~' && !path.startsWith('/')
  const start = locate(isPlain ? '.' : `${first}/`, directory, home)
  if (start.from !== 'root') return []
  let from: Location['from'] = 'root'
  let kept: string[] = []
  for (const segment of [...start.segments, ...(isPlain ? [first] : []), ...others]) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') kept.push(segment)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (from !== 'root') kept.push(segment)
    if (from !== 'root' || kept.length > LONGEST_DOOR || !DOOR.test(kept.join('/'))) continue
    if (segment === 'cwd') [from, kept] = [directory.from, [...directory.segments]]
    else kept = segment === 'root' ? [] : ['proc', 'self', 'fd']
  }
  return [{ from, segments: kept }]
}

function withoutScheme(path: string): string {
  if (!/^file:/i.test(path)) return path
  const rest = path.replace(/^file:(?:\/\/[^/]*)?/i, '')
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}

/** Windows drops trailing dots and spaces, and reads `name:stream` as the file. */
function trimSegment(segment: string): string {
  if (segment === '..') return segment
  return segment.replace(/(?<=.):.*$/, '').replace(/(?<=[^. ])[. ]+$/, '')
}

/** Returns other paths to the same files. */
function aliases({ from, segments }: Location, directory: Location): Location[] {
  if (from !== 'root') return []
  if (segments[0] === 'private') return [{ from, segments: segments.slice(1) }]
  if (segments[0] !== 'proc') return []
  const [door, , ...rest] = segments.slice(segments[2] === 'task' ? 4 : 2)
  // Which folder was opened is not known; these two are likely.
  return door === 'fd' ? [{ from, segments: rest }, walk(directory, rest)] : []
}
