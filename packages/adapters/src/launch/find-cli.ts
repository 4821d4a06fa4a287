import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { InspanError } from '@inspan/protocol'
import { spawnRun, SpawnError } from '@inspan/shell/run'
import { endRest } from './ask-program.ts'
import { keptVersion } from './kept-versions.ts'
import type { CliProfile, LoginFile } from './profile.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface FoundCli {
  readonly path: string
  /** Absent if the CLI prints none that can be read. */
  readonly version?: string
  /** Whether the output of this version is known to be understood. Other versions run with a warning. */
  readonly isKnown: boolean
}

export interface FindOptions {
  readonly env?: Environment
  /** Path of the executable, if the caller knows it. */
  readonly bin?: string
}

/** Long enough even for a CLI that takes seconds to load on a busy machine. */
const VERSION_DEADLINE_MS = 60_000
const MAX_OUTPUT = 4_000
const versions = new Map<string, Promise<string | undefined>>()

/** Returns where the CLI is and which version it has. Rejects with a hint what to install or set. */
export async function findCli(profile: CliProfile, options: FindOptions = {}): Promise<FoundCli> {
  const env = options.env ?? process.env
  const path = await locate(profile, env, options.bin)
  const version = await versionOf(profile, path, env)
  return {
    path,
    ...(version === undefined ? {} : { version }),
    isKnown: version !== undefined && profile.knownVersions.includes(version),
  }
}

async function locate(profile: CliProfile, env: Environment, bin: string | undefined): Promise<string> {
  const { title, command, binVariable } = profile
  const fromVariable = env[binVariable]
  const given = bin ?? (fromVariable === '' ? undefined : fromVariable)
  if (given !== undefined) {
    const path = resolve(given)
    if (await isProgram(path)) return path
    const source = bin === undefined ? binVariable : 'The path given'
    const isThere = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isThere)
      throw notExecutable(profile, `${source} says that ${title} is ${path}, which may not be executed.`, path)
    throw missing(profile, 'wrong-path', `${source} says that ${title} is ${path}, but there is no program there.`)
  }
  const directories = (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')
  for (const name of [command, ...(profile.otherCommands ?? [])]) {
    for (const directory of directories) {
      const path = resolve(directory, name)
      if (await isProgram(path)) return path
    }
  }
  throw missing(profile, 'not-installed', `${title} was not found: there is no "${command}" on PATH.`)
}

function missing(profile: CliProfile, reason: string, message: string): InspanError {
  const { id, binVariable, install } = profile
  return new InspanError('not-found', message, {
    hint: `Install it (${install}) or set ${binVariable} to its path.`,
    details: { cli: id, reason, install, variable: binVariable },
  })
}

function notExecutable({ id, binVariable, install }: CliProfile, message: string, path: string): InspanError {
  return new InspanError('not-found', message, {
    hint: `Make it executable (chmod +x ${path}), or install it again (${install}).`,
    details: { cli: id, reason: 'not-executable', install, variable: binVariable },
  })
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/**
 * Returns the version. Asking takes up to seconds, so the answer is kept by path, size and time of change, also for
 * later processes.
 */
async function versionOf(profile: CliProfile, path: string, env: Environment): Promise<string | undefined> {
  const { ctimeMs, mtimeMs, size } = await stat(path)
  const key = [path, size, mtimeMs, ctimeMs].join('\0')
  let version = versions.get(key)
  if (version === undefined) {
    version = keptVersion(key, env, () => askVersion(profile, path, env))
    versions.set(key, version)
    version.catch(() => versions.delete(key))
  }
  return version
}

async function askVersion(profile: CliProfile, path: string, env: Environment): Promise<string | undefined> {
  const args = profile.versionArgs ?? ['--version']
  const asked = await ask(path, args, env)
  const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(asked.output)?.[0]
  if (asked.failure === undefined) return version
  throw new InspanError('unsupported', `${profile.title} is at ${path} and does not work: ${asked.failure}`, {
    hint: `Run "${path} ${args.join(' ')}" to see for yourself, or install it again (${profile.install}).`,
    details: { cli: profile.id, reason: 'broken', output: asked.output },
  })
}

interface VersionAnswer {
  readonly output: string
  readonly failure?: string
}

async function ask(path: string, args: readonly string[], env: Environment): Promise<VersionAnswer> {
  let late = false
  try {
    const run = await spawnRun({
      command: path,
      args,
      env,
      deadlineMs: VERSION_DEADLINE_MS,
      onDeadline: () => {
        late = true
        void run.kill({ graceMs: 0 })
      },
    })
    let output = ''
    const read = async (lines: typeof run.stdout): Promise<void> => {
      for await (const line of lines) if (output.length < MAX_OUTPUT) output += `${line.text}\n`
    }
    await Promise.all([read(run.stdout), read(run.stderr), endRest(run)])
    const { code, signal } = await run.exited
    if (late) return { output, failure: 'it did not tell its version in time.' }
    if (code !== 0) return { output, failure: `it ended with ${signal ?? `code ${code}`}. ${output.trim()}` }
    return { output }
  } catch (error) {
    if (error instanceof SpawnError) return { output: '', failure: error.message }
    throw error
  }
}

/** Returns whether there is a key or a login. Does not check that the provider accepts it. */
export async function hasKey(profile: CliProfile, env: Environment = process.env): Promise<boolean> {
  return (await keySource(profile, env)) !== undefined
}

/** Returns where the key of a CLI is: the name of a variable, or the file of its login. Never the key. */
export async function keySource(profile: CliProfile, env: Environment = process.env): Promise<string | undefined> {
  const { variables, logins = [] } = profile.key
  const set = variables.find((name) => (env[name] ?? '') !== '')
  if (set !== undefined) return `environment variable ${set}`
  for (const login of logins) {
    const { variable, directory, file } = login
    const root = variable === undefined ? undefined : env[variable]
    const home = env['HOME'] ?? env['USERPROFILE']
    const folder = root !== undefined && root !== '' ? root : home === undefined ? undefined : join(home, directory)
    if (folder !== undefined && (await holdsLogin(join(folder, file), login))) return `login in ${join(folder, file)}`
  }
  return undefined
}

async function holdsLogin(path: string, { isLogin = isFilled }: LoginFile): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return found !== undefined
  // A file that we may not read counts as a login.
  const content = await readFile(path, 'utf8').catch(() => undefined)
  return content === undefined || isLogin(content)
}

/** CLIs create the file on first use and leave it, empty or as `{}`, after a logout. */
function isFilled(content: string): boolean {
  return !/^\s*(?:\{\s*\})?\s*$/.test(content)
}
