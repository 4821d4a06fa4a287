import { spawn } from 'node:child_process'
import { InspanError } from '@inspan/protocol'
import { findProgram } from '../find-program.ts'

/** The user's settings, hooks and filters take no part: a checkpoint is about bytes. */
const ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
}

const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.fsmonitor=false',
  'core.untrackedCache=true',
  'core.quotePath=false',
  'core.excludesFile=/dev/null',
  'core.bare=false',
  'gc.auto=0',
  'advice.addEmbeddedRepo=false',
  'safe.directory=*',
].flatMap((setting) => ['-c', setting])

export interface GitPlace {
  readonly gitDir: string
  readonly root: string
}

const HINT = 'Install git, or switch checkpoints off with `checkpoints: false`.'

function programFor(root: string): string {
  const program = findProgram('git', root)
  if (program !== undefined) return program
  throw new InspanError('unsupported', 'Checkpoints need git, which is not installed.', { hint: HINT })
}

/** No command of ours takes so long. One that waits for a pipe, which may be called `.gitignore`, would for ever. */
export const MOST_MS: number = 10 * 60_000

export interface GitOptions {
  readonly input?: string | Buffer
  /** The exit codes that are no failure. Default: 0. */
  readonly allowed?: readonly number[]
  /** A folder of objects that it may read besides. */
  readonly objects?: string
  /** Default: the index of the repository. */
  readonly index?: string
}

/** Runs git on a repository of ours. Resolves with what it prints. */
export async function git(
  { gitDir, root }: GitPlace,
  args: readonly string[],
  { allowed = [0], index, input, objects }: GitOptions = {},
): Promise<Buffer> {
  // None of the user's variables may lead to another repository.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  const env = {
    ...Object.fromEntries(inherited),
    ...ENVIRONMENT,
    GIT_DIR: gitDir,
    GIT_WORK_TREE: root,
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    // Quoted, because a path may contain what separates two of them.
    ...(objects === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objects) }),
  }
  const child = spawn(programFor(root), [...SETTINGS, ...args], {
    cwd: root,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
  })
  const output: Buffer[] = []
  const errors: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => void output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => void errors.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).catch((cause: unknown) => {
    throw new InspanError('unsupported', 'Checkpoints need git, which cannot be started.', { hint: HINT, cause })
  })
  if (code !== null && allowed.includes(code)) return Buffer.concat(output)
  throw new InspanError('io', `git ${args[0] ?? ''} failed: ${Buffer.concat(errors).toString().trim()}`)
}

/** Whether the user's own settings have git change contents on their way in. */
export async function convertsText(root: string): Promise<boolean> {
  const child = spawn(programFor(root), ['config', '--get-regexp', '^core\\.(autocrlf|eol|attributesfile)$'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  // 1: none is set.
  return code !== 1 && !said.split('\n').every((line) => line === '' || line === 'core.autocrlf false')
}
