import { execFile } from 'node:child_process'
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { capabilities, hostTable } from './capabilities.ts'
import { firstMark, limitProgram, markOf } from './mark.ts'
import { candidatesFor, type SpawnAttempt } from './spawn-error.ts'

/** Enough bytes to find the interpreter: in the first line of a script, or in the headers of a program. */
const headBytes = 4096

export interface MarkedCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** Returns the command to start instead, which sets the mark and then replaces itself with the given command. */
export async function marked(
  attempt: SpawnAttempt,
  args: readonly string[],
  runId: string,
): Promise<MarkedCommand | undefined> {
  const prlimit = await findPrlimit()
  // What cannot be started is started directly, so that the kernel reports why.
  if (prlimit === undefined || !canStart(attempt)) return undefined
  return { command: prlimit, args: [`--locks=${markOf(runId)}:`, '--', attempt.command, ...args] }
}

/** Describes for people what may outlive a run on this machine; undefined where every process is found. */
export async function whatEscapes(): Promise<string | undefined> {
  if (capabilities.reach === 'group')
    return 'Only the process group of a run is ended on this system: what leaves it stays.'
  if (capabilities.reach === 'process')
    return 'Only the program of a run is ended on this system: what it started stays.'
  if (isMarked() || (await findPrlimit()) !== undefined) return undefined
  return 'prlimit (util-linux) is missing or may not set limits: a daemon that has cleared its environment outlives its run.'
}

let prlimitHere: Promise<string | undefined> | undefined

/** Returns the path of prlimit if it is installed and this process may set the limit. */
async function findPrlimit(): Promise<string | undefined> {
  prlimitHere ??= lookForPrlimit()
  return prlimitHere
}

async function lookForPrlimit(): Promise<string | undefined> {
  if (capabilities.reach !== 'tree' || isMarked()) return undefined
  // We must not run a program from the working directory.
  const places = [...(process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute), '/usr/bin', '/bin']
  for (const place of places) {
    const file = join(place, limitProgram)
    if (isExecutable(file)) return (await works(file)) ? file : undefined
  }
  return undefined
}

/** True if we are part of a run. A process has only one mark, so what we start keeps that of the run around us. */
function isMarked(): boolean {
  const self = hostTable.stat(process.pid)
  return self !== undefined && (hostTable.mark(self) ?? 0) >= firstMark
}

async function works(prlimit: string): Promise<boolean> {
  const args = [`--locks=${firstMark}:`, '--', prlimit, '--version']
  return new Promise<boolean>((done) => {
    // Without our environment, which may be too large for a program.
    execFile(prlimit, args, { env: {} }, (error) => done(error === null))
  }).catch(() => false)
}

/** True if the first executable found has what it needs to run. */
function canStart(attempt: SpawnAttempt): boolean {
  const file = candidatesFor(attempt).find(isExecutable)
  return file !== undefined && hasInterpreter(file)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

function hasInterpreter(file: string): boolean {
  let handle: number | undefined
  try {
    handle = openSync(file, 'r')
    const head = Buffer.alloc(headBytes)
    const interpreter = interpreterIn(head.subarray(0, readSync(handle, head)))
    return interpreter !== undefined && (interpreter === '' || isExecutable(interpreter))
  } catch {
    // The file may be executable but not readable.
    return false
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

/** Returns the path of the interpreter, '' when none is needed, undefined when it cannot be determined. */
export function interpreterIn(head: Buffer): string | undefined {
  if (head.toString('latin1', 0, 2) === '#!') {
    return /^#![ \t]*(\/[^ \t\n]+)[ \t\n]/.exec(head.toString('utf8'))?.[1]
  }
  const is64BitLittleEndian = head.toString('latin1', 0, 6) === '\x7fELF\x02\x01'
  if (!is64BitLittleEndian || head.length < 64) return undefined
  const start = Number(head.readBigUInt64LE(32))
  const size = head.readUInt16LE(54)
  const count = head.readUInt16LE(56)
  if (start + size * count > head.length || size < 56) return undefined
  for (let at = start; at < start + size * count; at += size) {
    if (head.readUInt32LE(at) !== 3) continue
    const from = Number(head.readBigUInt64LE(at + 8))
    const to = from + Number(head.readBigUInt64LE(at + 32)) - 1
    return to > from && to < head.length ? head.toString('utf8', from, to) : undefined
  }
  return ''
}
