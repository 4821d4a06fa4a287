import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { InspanError } from '@inspan/protocol'
import { didYouMean } from '@inspan/protocol/internal'
import { COMMANDS } from './command-list.ts'
import type { InspanCommand, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { note } from './log-file.ts'
import { version } from './version.ts'

/** Exit codes above this one tell which signal ended the command. */
const ENDED_BY_SIGNAL = 128
/** How long pending output may remain unread. */
const UNTAKEN_MS = 5_000

/** Runs one command of `inspan` and returns the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const [name, ...args] = argv
  if (name === undefined) {
    terminal.out(overview())
    return 2
  }
  if (name === 'help' || name === '--help' || name === '-h') return help(args[0], terminal)
  if (name === 'version' || name === '--version' || name === '-v') {
    terminal.out(version())
    return 0
  }
  const command = await find(name)
  if (command === undefined) return noSuchCommand(name, terminal)
  if (args.includes('--help') || args.includes('-h')) {
    terminal.out(command.help)
    return 0
  }
  try {
    const code = await command.run(args, terminal)
    if (code > ENDED_BY_SIGNAL) terminal.hurry?.(code)
    note(terminal, `${version()} ${name} ended with ${code}`)
    return code === 0 && terminal.isIncomplete?.() === true ? 1 : code
  } catch (error) {
    note(terminal, `${version()} ${name} failed: ${loggedError(error)}`)
    return explain(error, command, terminal)
  }
}

async function find(name: string): Promise<InspanCommand | undefined> {
  return COMMANDS.find((command) => command.name === name)?.load()
}

async function help(topic: string | undefined, terminal: Terminal): Promise<number> {
  const command = topic === undefined ? undefined : await find(topic)
  if (command === undefined && topic !== undefined) return noSuchCommand(topic, terminal)
  terminal.out(command?.help ?? overview())
  return 0
}

function noSuchCommand(name: string, terminal: Terminal): number {
  const names = COMMANDS.map((command) => command.name)
  // The whole overview would push the error off the screen.
  terminal.err(`inspan: there is no command "${name}". ${didYouMean(name, names)}\n\n"inspan help" lists the commands.`)
  return 2
}

function explain(error: unknown, command: InspanCommand, terminal: Terminal): number {
  if (error instanceof UsageError || isParseError(error)) {
    // The whole help would push the error off the screen.
    const [usage] = command.help.split('\n')
    terminal.err(`inspan ${command.name}: ${error.message}\n\n${usage}\n"inspan help ${command.name}" explains it.`)
    return 2
  }
  terminal.err(`inspan ${command.name}: ${error instanceof Error ? error.message : String(error)}`)
  // Any other error is a defect, and a report needs its stack.
  if (error instanceof Error && !InspanError.is(error)) terminal.err(error.stack ?? '')
  return 1
}

/** A message of ours may quote what the user typed, so only its code is logged. */
function loggedError(error: unknown): string {
  if (InspanError.is(error)) return error.code
  if (error instanceof UsageError || isParseError(error)) return 'wrong usage'
  return error instanceof Error ? (error.stack ?? error.name) : 'not an error'
}

function isParseError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length))
  return [
    'inspan: one harness layer for AI agents',
    '',
    'Usage: inspan <command> [options]',
    '',
    ...COMMANDS.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'To begin with:',
    '  inspan run "What is in this folder?"    the built-in demo agent: no key, no network',
    '  inspan doctor                          which coding agents can be used here',
    '  inspan serve                           the web page',
    '  inspan chat --harness claude-code      the same in the terminal, with a coding agent',
    '',
    '"inspan help <command>" explains a command, "inspan --version" prints the version.',
  ].join('\n')
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch (error) {
    throw new InspanError('not-found', 'The current folder no longer exists.', {
      hint: 'Change to another one.',
      cause: error,
    })
  }
}

/** Node reads a folder as empty input. */
function standardInput(): NodeJS.ReadStream {
  if (fstatSync(0).isDirectory()) {
    throw new InspanError('misuse', 'Standard input is a folder.', { hint: 'Give it a file: … < file' })
  }
  return process.stdin
}

/** EIO means that the terminal was closed. */
function isGone(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'EIO'
}

/** Ends the process if its output is not read, because a full pipe would keep it alive forever. */
function endUnlessTaken(code: number): void {
  for (const stream of [process.stdout, process.stderr]) {
    // A file takes all output at once.
    if (!(stream instanceof Socket)) continue
    // The timeout also restarts when a part of a pending write is taken.
    stream.setTimeout(UNTAKEN_MS, () => {
      if (stream.writableLength === 0) return
      process.stderr.write('inspan: Nobody has taken the rest of the output. It is left out.\n')
      process.exit(code)
    })
  }
}

function processTerminal(): Terminal {
  // When the reader has gone (`inspan run … | head`), the output ends but not the run: what was started is completed.
  let hasReader = true
  let isIncomplete = false
  process.stdout.on('error', (error) => {
    hasReader = false
    if (isGone(error) || isIncomplete) return
    isIncomplete = true
    process.stderr.write(`inspan: The output could not be written (${error.message}). The rest of it is left out.\n`)
  })
  // There is nowhere left to report it.
  process.stderr.on('error', () => undefined)
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    write: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(`${text}\n`),
    taken: async () => {
      if (!process.stdout.writableNeedDrain) return
      // Fails when the reader has gone.
      await once(process.stdout, 'drain').catch(() => undefined)
    },
    hasNoReader: () => !hasReader,
    isIncomplete: () => isIncomplete,
    hurry: endUnlessTaken,
    get input() {
      return standardInput()
    },
    isTty: process.stdout.isTTY,
    get cwd() {
      return currentFolder()
    },
    env: process.env,
  }
}
