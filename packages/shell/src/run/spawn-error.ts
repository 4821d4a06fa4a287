import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

export type SpawnErrorCode =
  | 'command-not-found'
  | 'interpreter-not-found'
  | 'not-executable'
  | 'cwd-not-found'
  | 'cwd-not-usable'
  | 'arguments-too-long'
  | 'out-of-resources'
  | 'invalid-options'
  | 'guard-failed'
  | 'failed'

/** A run could not be started. The message says why and what to do, without arguments or environment values. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError'
  readonly code: SpawnErrorCode
  readonly command: string

  constructor(code: SpawnErrorCode, command: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.command = command
  }
}

export interface SpawnAttempt {
  readonly command: string
  readonly cwd: string | undefined
  readonly env: NodeJS.ProcessEnv
}

/** The kernel reports ENOENT for a missing program, directory or interpreter alike, so this finds out which it was. */
export async function explainSpawnFailure(attempt: SpawnAttempt, cause: unknown): Promise<SpawnError> {
  const { command } = attempt
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? ''
  const failure = (kind: SpawnErrorCode, message: string): SpawnError => new SpawnError(kind, command, message, cause)
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EACCES':
      return (await explainCwd(attempt, failure)) ?? (await explainCommand(attempt, code, failure))
    case 'E2BIG':
      return failure(
        'arguments-too-long',
        `"${command}" was not started: its arguments and environment are larger than the system allows (on Linux 128 KiB for one argument). Pass long text through stdin or a file.`,
      )
    case 'EAGAIN':
    case 'ENOMEM':
    case 'EMFILE':
    case 'ENFILE':
      return failure(
        'out-of-resources',
        `"${command}" was not started: the system is out of processes, memory or open files (${code}). End some, or raise the limits (ulimit -u, ulimit -n), and try again.`,
      )
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_INVALID_ARG_TYPE':
      return failure(
        'invalid-options',
        `"${command}" was not started: the command is empty, or an argument or a variable holds a NUL character or is no string. Check what is passed.`,
      )
    default:
      return failure('failed', `"${command}" was not started: ${messageOf(cause)}`)
  }
}

type MakeError = (kind: SpawnErrorCode, message: string) => SpawnError

async function explainCwd({ cwd }: SpawnAttempt, failure: MakeError): Promise<SpawnError | undefined> {
  if (cwd === undefined) return undefined
  const found = await stat(cwd).catch(() => undefined)
  if (found === undefined) {
    return failure('cwd-not-found', `The working directory ${cwd} does not exist. Create it or choose another one.`)
  }
  if (!found.isDirectory() || !(await isAccessible(cwd, constants.X_OK))) {
    const why = found.isDirectory() ? 'may not be entered by this user' : 'is not a directory'
    return failure('cwd-not-usable', `The working directory ${cwd} ${why}. Choose another one.`)
  }
  return undefined
}

/** Returns the paths where the system looks for the program, in its order. */
export function candidatesFor({ command, cwd, env }: SpawnAttempt): string[] {
  if (command.includes('/')) return [placed(cwd, command)]
  return (env['PATH'] ?? '').split(delimiter).map((place) => join(placed(cwd, place), command))
}

function placed(cwd: string | undefined, path: string): string {
  try {
    return resolve(cwd ?? '.', path)
  } catch {
    // Our working directory is gone, and with it all relative paths.
    return path
  }
}

async function explainCommand(attempt: SpawnAttempt, code: string, failure: MakeError): Promise<SpawnError> {
  const { command, env } = attempt
  const isPath = command.includes('/')
  const path = env['PATH'] ?? ''
  const candidates = candidatesFor(attempt)
  const existing: string[] = []
  for (const candidate of candidates) if (await isAccessible(candidate, constants.F_OK)) existing.push(candidate)
  const [file] = existing
  if (file === undefined) {
    return failure(
      'command-not-found',
      isPath
        ? `There is no program at ${candidates.join('')}. Check the path.`
        : `"${command}" was not found on PATH (${path === '' ? 'which is empty' : path}). Install it, add its directory to PATH, or give its full path.`,
    )
  }
  if (code === 'EACCES') {
    return failure('not-executable', `${file} may not be executed. Make it executable (chmod +x) or check its owner.`)
  }
  return failure(
    'interpreter-not-found',
    `${file} is there, but what should run it is not: look at the interpreter in its first line (#!), or at the system it was built for.`,
  )
}

async function isAccessible(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
