import { lstat, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** `inspan-<pid namespace>-<pid>-<start time>-…`: names the process that made it, to tell whether that still runs. */
const NAME = /^inspan-(?<namespace>\d+)-(?<pid>\d+)-(?<start>\d+)-\w+$/

/** Returns the prefix for the names of directories that this process makes. */
export async function ownPrefix(): Promise<string> {
  return `inspan-${await processNamespace()}-${process.pid}-${await startTime(process.pid)}-`
}

/** Removes directories whose process is dead. Keeps those that cannot be judged or removed. */
export async function removeAbandoned(root: string): Promise<void> {
  const namespace = await processNamespace()
  for (const name of await readdir(root).catch(() => [])) {
    const groups = NAME.exec(name)?.groups
    // In another container the same pid is another process.
    if (groups === undefined || groups['namespace'] !== namespace) continue
    if (await isRunning(Number(groups['pid']), groups['start'])) continue
    const path = join(root, name)
    if (await isOurs(path)) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid())
}

async function isRunning(pid: number, start: string | undefined): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
  // The system reuses pids; only pid and start time together name one process.
  return (await startTime(pid)) === start
}

/** Returns `0` where the system does not tell the start time. */
async function startTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The process name before the fields may contain spaces and parentheses.
  return (
    stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .at(19) ?? '0'
  )
}

async function processNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '')
  return /\d+/.exec(link)?.[0] ?? '0'
}
