import { closeSync, existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { InspanError } from '@inspan/protocol'
import { spawnRun, type Line, type LineStream, type RunExit, type RunProcess } from '@inspan/shell/run'
import { findProgram } from '../find-program.ts'
import { isDescriptorRelative } from './contained-folder.ts'
import type { LocalFiles } from './local-files.ts'
import type { CommandOptions, RunningCommand, WorkspaceShell } from './shell.ts'

export interface LocalShellOptions {
  /** The whole environment of commands. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The program that gets `-c` and the command. Default: bash if it is there, else sh. */
  readonly program?: string
  /**
   * `bubblewrap`: commands can write only in the workspace and in a `/tmp` of their own. Default: `none`, where a command
   * can do whatever this process can.
   */
  readonly sandbox?: 'none' | 'bubblewrap'
  /** With `bubblewrap`: whether commands reach the network. Default: false. */
  readonly network?: boolean
}

/** Runs commands on this machine. */
export class LocalShell implements WorkspaceShell {
  readonly isContained: boolean
  readonly #files: LocalFiles
  readonly #options: LocalShellOptions

  constructor(files: LocalFiles, options: LocalShellOptions) {
    this.#files = files
    this.#options = options
    this.isContained = options.sandbox === 'bubblewrap'
  }

  async init(): Promise<void> {
    if (this.isContained) await bubblewrap(this.#files.folder.root)
  }

  async run({ allowed, command, cwd = '.', env, onOutput }: CommandOptions): Promise<RunningCommand> {
    const program = this.#options.program ?? (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh')
    const own = { ...(this.#options.env ?? process.env), ...env }
    const { path, release } = this.#folder(cwd, allowed)
    const root = this.#files.folder.root
    try {
      const [first, ...rest] = this.isContained
        ? [
            await bubblewrap(root),
            ...sandboxArguments(root, path, this.#options.network === true),
            program,
            '-c',
            command,
          ]
        : [program, '-c', command]
      const run = await spawnRun({ command: first, args: rest, cwd: path, env: own })
      const read = Promise.all([forward(run.stdout, 'stdout', onOutput), forward(run.stderr, 'stderr', onOutput)])
      const ended = endOf(run).then(async ({ code, signal }) => {
        await read
        return { exitCode: code, signal }
      })
      return { pid: run.pid, ended, kill: async () => void (await run.kill()) }
    } finally {
      release()
    }
  }

  /** Opens the folder, so that the command starts in the very folder that was checked. */
  #folder(cwd: string, allowed: readonly string[] | undefined): { path: string; release: () => void } {
    const opened = this.#files.openFolder(cwd, allowed)
    if (!isDescriptorRelative || this.isContained) {
      closeSync(opened.fd)
      return { path: opened.path, release: () => undefined }
    }
    return { path: `/proc/${process.pid}/fd/${opened.fd}`, release: () => closeSync(opened.fd) }
  }
}

/**
 * A process that a command left behind may hold its output open for ever. It has a moment to end by itself; whoever
 * wants it to go on runs the command in the background.
 */
async function endOf(run: RunProcess): Promise<RunExit> {
  const exit = await run.processExited
  const over = new AbortController()
  const late = pause(LEFT_BEHIND_MS, true, { signal: over.signal }).catch(() => false)
  const isLate = await Promise.race([run.exited.then(() => false), late])
  over.abort()
  if (isLate) await run.kill()
  return exit
}

const LEFT_BEHIND_MS = 1000

async function forward(
  lines: LineStream,
  stream: 'stdout' | 'stderr',
  onOutput: CommandOptions['onOutput'],
): Promise<void> {
  for await (const batch of lines.batches()) onOutput(batch.map(textOf).join(''), stream)
}

function textOf(line: Line): string {
  return line.text + line.ending
}

function sandboxArguments(root: string, cwd: string, hasNetwork: boolean): string[] {
  const paths = '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp'.split(' ')
  const rest = ['--die-with-parent', '--new-session', ...(hasNetwork ? [] : ['--unshare-net']), '--chdir', cwd]
  return [...paths, '--bind', root, root, ...rest, '--']
}

const HINT = 'Install bubblewrap (`bwrap`), or use the shell without a sandbox.'
const working = new Map<string, Promise<string>>()

/** Returns bubblewrap once it has been seen to work: a kernel may refuse it although it is installed. */
async function bubblewrap(root: string): Promise<string> {
  const command = findProgram('bwrap', root)
  if (command === undefined) {
    throw new InspanError('unsupported', 'The shell is to run in bubblewrap, which is not installed.', { hint: HINT })
  }
  const works = working.get(command) ?? tryBubblewrap(command)
  working.set(command, works)
  works.catch(() => working.delete(command))
  return works
}

async function tryBubblewrap(command: string): Promise<string> {
  const run = await spawnRun({ command, args: '--ro-bind / / --dev /dev --proc /proc true'.split(' ') })
  run.stdout.discard()
  let said = ''
  for await (const line of run.stderr) said += line.text
  const { code } = await run.exited
  if (code === 0) return command
  throw new InspanError('unsupported', `bubblewrap does not work here: ${said || `exit code ${String(code)}`}`, {
    hint: HINT,
  })
}
