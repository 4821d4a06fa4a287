/** Where a path leads, by its text alone. Links are not followed: the tool that opens the file has to. */
export interface Location {
  /** `start` when it is not known where on the disk the start folder lies. */
  readonly from: 'root' | 'home' | 'start'
  /** Without `.` and empty ones; `..` only in front, and never from the root. */
  readonly segments: readonly string[]
}

export interface Whereabouts {
  /** The folder that relative patterns are about. */
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

/** What is left of a location below a folder; `undefined` when it is not below it. */
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

/** Every place that some system may take the text for. A deny holds for all of them. */
export function locateWidely(path: string, directory: Location, home: Location | null): Location[] {
  const spellings = new Set([path, path.split('\0', 1)[0] ?? '', withoutScheme(path)])
  for (const spelling of spellings) spellings.add(spelling.replaceAll('\\', '/').replace(/^[A-Za-z]:(?=\/)/, ''))
  return [...spellings].flatMap((spelling) => {
    const plain = locate(spelling, directory, home)
    const trimmed: Location = { from: plain.from, segments: plain.segments.map(trimSegment) }
    return [plain, trimmed, ...aliases(plain, directory)]
  })
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

/** Windows drops dots and spaces at the end, and reads `name:stream` as the file. */
function trimSegment(segment: string): string {
  if (segment === '..') return segment
  return segment.replace(/(?<=.):.*$/, '').replace(/(?<=[^. ])[. ]+$/, '')
}

/** Other doors to the same files. */
function aliases({ from, segments }: Location, directory: Location): Location[] {
  if (from !== 'root') return []
  if (segments[0] === 'private') return [{ from, segments: segments.slice(1) }]
  if (segments[0] !== 'proc') return []
  const [door, ...rest] = segments.slice(segments[2] === 'task' ? 4 : 2)
  if (door === 'root') return [{ from, segments: rest }, ...aliases({ from, segments: rest }, directory)]
  if (door === 'cwd') return [walk(directory, rest)]
  // Which folder was opened is not known; those two are likely.
  return door === 'fd' ? [{ from, segments: rest.slice(1) }, walk(directory, rest.slice(1))] : []
}
