import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { hostGuard } from './guard.ts'
import { assertMaxLineBytes } from './line-splitter.ts'
import { LineStream } from './line-stream.ts'
import { ChildRun } from './run-process.ts'
import type { RunParts, RunProcess } from './run-process.ts'
import { marked } from './marked-command.ts'
import { assertRunId, newRunId, tagged } from './run-tag.ts'
import { explainSpawnFailure } from './spawn-error.ts'
import type { SpoolStream } from './spool-record.ts'
import type { Spool } from './spool.ts'
import { assertWatchdogOptions, Watchdog } from './watchdog.ts'
import type { WatchdogOptions } from './watchdog.ts'

export interface SpawnRunOptions extends WatchdogOptions {
  /** A program, found on the PATH of `env`, or a path. No shell is used. */
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** The whole environment of the process. Default: ours. The run tag is added. */
  readonly env?: NodeJS.ProcessEnv
  /** Processes with the same id belong to one run and are ended together. Default: a random id. */
  readonly runId?: string
  /** `close`: end of file at once. `open`: see `write`. `feed`: this data, then end of file. Default: `close`. */
  readonly stdin?: 'close' | 'open' | { readonly feed: string | Uint8Array }
  readonly maxLineBytes?: number
  /** Records every line of both streams. The caller closes it after `exited`. */
  readonly spool?: Spool
}

/**
 * Starts a command as a run of its own: in its own session, tagged, and registered with the guard before it starts.
 * Rejects with a `SpawnError` if it cannot be started.
 */
export async function spawnRun(options: SpawnRunOptions): Promise<RunProcess> {
  assertWatchdogOptions(options)
  assertMaxLineBytes(options.maxLineBytes)
  const { runId = newRunId() } = options
  assertRunId(runId)
  await hostGuard.register(runId)
  try {
    return await start(options, runId)
  } catch (error) {
    hostGuard.release(runId)
    throw error
  }
}

async function start(options: SpawnRunOptions, runId: string): Promise<RunProcess> {
  const { command, args = [], cwd, stdin = 'close' } = options
  const env = tagged(options.env ?? process.env, runId, process.env)
  const attempt = { command, args, cwd, env }
  let child: ChildProcess
  try {
    const program = (await marked(attempt, args, runId)) ?? attempt
    child = spawn(program.command, program.args, {
      cwd,
      detached: true,
      env,
      stdio: [stdin === 'close' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
  } catch (error) {
    throw await explainSpawnFailure(attempt, error)
  }
  if (!isStarted(child)) {
    const error = await new Promise((resolve) => child.once('error', resolve))
    throw await explainSpawnFailure(attempt, error)
  }
  // Once the process runs, 'error' only means that a signal could not be sent, and killTree sends its own.
  child.on('error', () => undefined)
  const run = new ChildRun(connect(child, options, runId))
  feed(child, stdin)
  return run
}

function isStarted(child: ChildProcess): child is RunParts['child'] {
  return child.pid !== undefined
}

function connect(child: RunParts['child'], options: SpawnRunOptions, runId: string): RunParts {
  const { spool, maxLineBytes } = options
  const lines = (name: SpoolStream): LineStream =>
    new LineStream(child[name], { maxLineBytes, tap: spool && ((line) => spool.write(name, line)) })
  const stdout = lines('stdout')
  const stderr = lines('stderr')
  const watchdog = new Watchdog(options, () => stdout.paused || stderr.paused)
  if (options.stallMs !== undefined) {
    child.stdout.on('data', () => watchdog.sign())
    child.stderr.on('data', () => watchdog.sign())
  }
  return { runId, child, stdout, stderr, watchdog }
}

function feed(child: ChildProcess, stdin: SpawnRunOptions['stdin']): void {
  // A process may end without reading its input. A caller of `write` gets that error there.
  child.stdin?.on('error', () => undefined)
  if (typeof stdin === 'object') child.stdin?.end(stdin.feed)
}
