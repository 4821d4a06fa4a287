import { spawn } from 'node:child_process'
import { access, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CliProfile } from '../../src/launch/profile.ts'
import { RECIPES, type Recipe } from './recipes.ts'

const ATTEMPTS = 5
/** Many times what the largest CLI takes: the machine may be busy, the network slow. A hanging attempt is repeated. */
const ATTEMPT_MS = 15 * 60_000

/** What has to be known of a CLI to install it. */
export type InstallableCli = Pick<CliProfile, 'id' | 'title' | 'command' | 'npm' | 'otherCommands'>

/** Returns the path of a CLI in its pinned version, which is installed once. Pauses between attempts double. */
export async function installedCli(profile: InstallableCli, firstPauseMs = 5_000): Promise<string> {
  const modules = await installedModules(profile, firstPauseMs)
  for (const name of [profile.command, ...(profile.otherCommands ?? [])]) {
    const program = join(modules, '.bin', name)
    if (await exists(program)) return program
  }
  throw new Error(`The package of ${profile.title} brings no program called ${profile.command}.`)
}

/** Returns the `node_modules` folder that the package of a CLI is installed in. */
export async function installedModules(profile: InstallableCli, firstPauseMs = 5_000): Promise<string> {
  const { id, command, npm } = profile
  if (npm === undefined) throw new Error(`${profile.title} is not on npm.`)
  const dir = join(cacheRoot(), 'inspan', 'clis', `${id}@${npm.version}`)
  if (!(await exists(dir))) {
    await withLock(`${dir}.lock`, async () => {
      if (await exists(dir)) return
      const recipe = RECIPES[`${id}@${npm.version}`]
      await install(dir, recipe?.packages ?? [`${npm.package}@${npm.version}`], firstPauseMs, async (partial) => {
        if (recipe !== undefined) await complete(partial, recipe, command)
      })
    })
  }
  return join(dir, 'node_modules')
}

function cacheRoot(): string {
  const { XDG_CACHE_HOME } = process.env
  return XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
}

/** Installs into a folder beside it, which is renamed when complete, so that no partial installation is ever found. */
async function install(
  dir: string,
  what: readonly string[],
  firstPauseMs: number,
  finish: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${dir}.partial`
  for (let attempt = 1; ; attempt++) {
    await rm(partial, { recursive: true, force: true })
    await mkdir(partial, { recursive: true })
    await writeFile(join(partial, 'package.json'), '{"private":true}')
    const failure = await npmInstall(partial, what)
    if (failure === undefined) break
    if (attempt === ATTEMPTS) throw new Error(`npm could not install ${what.join(' ')}: ${failure}`)
    console.error(`npm could not install ${what.join(' ')}, and is asked again: ${failure}`)
    await pause(firstPauseMs * 2 ** (attempt - 1))
  }
  await finish(partial)
  await rename(partial, dir)
}

/** Does what npm did not do: unpacks the package that cannot be installed, and links the program. */
async function complete(dir: string, { unpacked, program }: Recipe, command: string): Promise<void> {
  const modules = join(dir, 'node_modules')
  if (unpacked !== undefined) {
    const folder = join(modules, unpacked.slice(0, unpacked.lastIndexOf('@')))
    await mkdir(folder, { recursive: true })
    const failure =
      (await execute('npm', ['pack', '--silent', '--pack-destination', folder, unpacked], folder)) ??
      (await execute('sh', ['-c', 'tar -xzf *.tgz --strip-components=1 && rm *.tgz'], folder))
    if (failure !== undefined) throw new Error(`${unpacked} could not be unpacked: ${failure}`)
  }
  await mkdir(join(modules, '.bin'), { recursive: true })
  await symlink(join('..', program), join(modules, '.bin', command))
}

async function npmInstall(dir: string, what: readonly string[]): Promise<string | undefined> {
  const args = ['install', '--prefix', dir, '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=4', ...what]
  return execute('npm', args, dir)
}

/** Returns what went wrong. */
async function execute(command: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: ATTEMPT_MS })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal))
  })
  return code === 0 ? undefined : `${code} ${output.slice(-2_000)}`
}

/** Several test files may need the same CLI at once. */
async function withLock(lock: string, work: () => Promise<void>): Promise<void> {
  await mkdir(join(lock, '..'), { recursive: true })
  const owner = join(lock, 'pid')
  for (;;) {
    try {
      await mkdir(lock)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (await isAbandoned(lock, owner)) await rm(lock, { recursive: true, force: true })
    else await pause(500)
  }
  try {
    await writeFile(owner, String(process.pid))
    await work()
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

/** Whether the owner of the lock has died, possibly before it wrote its pid. */
async function isAbandoned(lock: string, owner: string): Promise<boolean> {
  const pid = Number(await readFile(owner, 'utf8').catch(() => ''))
  if (pid > 0) return !isAlive(pid)
  const madeAt = (await stat(lock).catch(() => undefined))?.mtimeMs
  return madeAt !== undefined && Date.now() - madeAt > 60_000
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
