import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from './find-cli.ts'

interface KeptVersion {
  readonly version: string
  /** When the program was asked, in milliseconds since 1970. */
  readonly at: number
}

/** A program may only start another one, and then does not change with it. */
const DAY_MS = 24 * 60 * 60 * 1000

const MOST = 100

/** Returns the version that is known for the key, or asks for it. Failures to read or write the file do not matter. */
export async function keptVersion(
  key: string,
  env: Environment,
  ask: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const file = fileOf(env)
  const now = Date.now()
  const known = file === undefined ? undefined : (await read(file)).get(key)
  if (known !== undefined && known.at <= now && now - known.at < DAY_MS) return known.version
  const version = await ask()
  if (file !== undefined && version !== undefined) await keep(file, key, { version, at: now })
  return version
}

/** `undefined` without a home: nothing is written into the current folder. */
function fileOf(env: Environment): string | undefined {
  const { HOME: home = '', XDG_CACHE_HOME: cache = '' } = env
  const folder = cache.startsWith('/') ? cache : home === '' ? undefined : join(home, '.cache')
  return folder === undefined ? undefined : join(folder, 'inspan', 'versions.json')
}

async function read(file: string): Promise<Map<string, KeptVersion>> {
  try {
    const entries = Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>)
    return new Map(entries.filter((entry): entry is [string, KeptVersion] => isKept(entry[1])))
  } catch {
    return new Map()
  }
}

function isKept(value: unknown): value is KeptVersion {
  if (typeof value !== 'object' || value === null) return false
  const { at, version } = value as Partial<Record<keyof KeptVersion, unknown>>
  return typeof at === 'number' && typeof version === 'string'
}

async function keep(file: string, key: string, kept: KeptVersion): Promise<void> {
  try {
    const all = await read(file)
    all.set(key, kept)
    const newest = [...all].toSorted(([, a], [, b]) => b.at - a.at).slice(0, MOST)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    // Replaced as a whole: another process may be reading it.
    const draft = `${file}.${process.pid}`
    await writeFile(draft, JSON.stringify(Object.fromEntries(newest)), { mode: 0o600 })
    await rename(draft, file)
  } catch {
    // Then the next process asks again.
  }
}
