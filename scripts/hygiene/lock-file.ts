/** The fields of package-lock.json (version 3) that the checks read. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  /** Set when the package is installed under another name. */
  readonly name?: string
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Returns the names of the third-party packages that one of ours installs, directly or through others. */
export function runTimePackages(lock: LockFile, folder: string): string[] {
  const reached = new Set([`packages/${folder}`])
  for (const place of reached) {
    for (const name of neededBy(lock.packages[place] ?? {})) {
      const found = placeOf(lock, place, name)
      if (found !== undefined) reached.add(found)
    }
  }
  const names = [...reached].filter((place) => !place.startsWith('packages/')).map(nameOf)
  return [...new Set(names)].sort()
}

/** Returns the name of the package at a place such as `node_modules/a/node_modules/@b/c`. */
export function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** Returns every third-party version in the lock file, once. */
export function lockedVersions(lock: LockFile): { readonly name: string; readonly version: string }[] {
  const versions = new Map<string, { name: string; version: string }>()
  for (const [place, locked] of Object.entries(lock.packages)) {
    if (!place.includes('node_modules/') || locked.link === true) continue
    const name = locked.name ?? nameOf(place)
    const version = locked.version ?? ''
    versions.set(`${name}@${version}`, { name, version })
  }
  return [...versions.values()]
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Returns the versions that are younger than `days`, or whose date of publication is not recorded. */
export function tooYoung(lock: LockFile, dates: Readonly<Record<string, string>>, days: number, now: number): string[] {
  return lockedVersions(lock)
    .map(({ name, version }) => `${name}@${version}`)
    .filter((id) => {
      // A date stands for a whole day, so it counts from its end.
      const published = Date.parse(dates[id] ?? '') + DAY_MS
      return !(now - published >= days * DAY_MS)
    })
}

/** Includes optional dependencies, which npm installs where they fit, but not optional peers. */
function neededBy({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: LockedPackage): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** Returns where Node finds a package from a place: in its own node_modules, or in those of the folders above. */
function placeOf(lock: LockFile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    const found = lock.packages[place]
    if (found !== undefined) return found.link === true ? found.resolved : place
    if (folder === '') return undefined
  }
}
