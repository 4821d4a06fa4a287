import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { runIdsIn } from './run-tag.ts'

export interface ProcessStat {
  readonly pid: number
  /** The kernel's short name, at most 15 bytes. */
  readonly name: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Clock ticks since boot. Together with the pid it identifies a process for the whole uptime. */
  readonly startTime: number
  /** Dead, and waiting to be collected by its parent. */
  readonly zombie: boolean
  /** Its first thread has ended while others continue. The kernel shows it almost like a zombie. */
  readonly headless: boolean
  /** A kernel thread, which has no environment and no parent. */
  readonly kernel: boolean
}

/** What the kernel reports about processes. What cannot be read (gone, not ours) is left out. */
export interface ProcessTable {
  readonly available: boolean
  pids(): number[]
  stat(pid: number): ProcessStat | undefined
  /** Undefined when the environment is empty: cleared, or not yet set up by an ongoing exec. */
  runIds(process: ProcessStat): string[] | undefined
  /** The soft limit of file locks, which is the mark of a run; undefined when it is not set. */
  mark(process: ProcessStat): number | undefined
  ticksSinceBoot(): number | null
  bootId(): string | null
}

/** USER_HZ is 100 on every Linux that Node supports, whatever the kernel's own HZ is. */
const ticksPerSecond = 100
const kernelThreadFlag = 0x00200000
const scratch = Buffer.allocUnsafe(64 * 1024)

export function procfs(root = '/proc'): ProcessTable {
  const bootId = readText(`${root}/sys/kernel/random/boot_id`)?.trim() ?? null
  const available = bootId !== null && readText(`${root}/self/stat`) !== undefined
  return {
    available,
    pids: () => namesIn(root).map(Number).filter(Number.isInteger),
    stat: (pid) => parseStat(readText(`${root}/${pid}/stat`)),
    runIds: (process) => {
      const environ = environOf(root, process)
      if (environ === undefined) return []
      return environ.length === 0 ? undefined : runIdsIn(environ)
    },
    mark: ({ pid }) => parseMark(readText(`${root}/${pid}/limits`)),
    ticksSinceBoot: () => parseUptime(readText(`${root}/uptime`)),
    bootId: () => bootId,
  }
}

export function parseStat(text: string | undefined): ProcessStat | undefined {
  if (text === undefined) return undefined
  // The name may contain spaces and parentheses, so the fields begin after the last parenthesis.
  const open = text.indexOf('(')
  const close = text.lastIndexOf(')')
  const fields = text.slice(close + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  const startTime = field(22)
  if (open === -1 || close < open || !Number.isInteger(startTime)) return undefined
  const dead = fields[0] === 'Z' || fields[0] === 'X'
  return {
    pid: Number(text.slice(0, open)),
    name: text.slice(open + 1, close),
    parent: field(4),
    group: field(5),
    session: field(6),
    startTime,
    zombie: dead && field(20) <= 1,
    headless: dead && field(20) > 1,
    kernel: (field(9) & kernelThreadFlag) !== 0,
  }
}

function parseMark(text: string | undefined): number | undefined {
  const soft = /^Max file locks +(\d+) /m.exec(text ?? '')?.[1]
  return soft === undefined ? undefined : Number(soft)
}

function parseUptime(text: string | undefined): number | null {
  const seconds = Number.parseFloat(text ?? '')
  return Number.isFinite(seconds) ? Math.round(seconds * ticksPerSecond) : null
}

function environOf(root: string, { pid, headless }: ProcessStat): Buffer | undefined {
  if (!headless) return readBytes(`${root}/${pid}/environ`)
  const threads = namesIn(`${root}/${pid}/task`).map((thread) => readBytes(`${root}/${pid}/task/${thread}/environ`))
  return threads.find((environ) => environ !== undefined && environ.length > 0)
}

function readText(path: string): string | undefined {
  return readBytes(path)?.toString('utf8')
}

/** readFileSync takes three times as long for these files, which have no size, and a scan reads two per process. */
function readBytes(path: string): Buffer | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const parts: Buffer[] = []
    for (let count = -1; count !== 0;) {
      count = readSync(file, scratch, 0, scratch.length, null)
      parts.push(Buffer.from(scratch.subarray(0, count)))
    }
    return Buffer.concat(parts)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
