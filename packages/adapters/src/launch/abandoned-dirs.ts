import { lstat, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** `evener-<process namespace>-<pid>-<start time>-…`: who made it, so that others can tell whether that one still lives. */
const NAME = /^evener-(?<namespace>\d+)-(?<pid>\d+)-(?<start>\d+)-\w+$/

/** How names of our own directories begin. */
export async function ownPrefix(): Promise<string> {
  return `evener-${await processNamespace()}-${process.pid}-${await startTime(process.pid)}-`
}

/** Removes directories whose makers are dead. What cannot be judged or removed stays. */
export async function removeAbandoned(root: string): Promise<void> {
  const namespace = await processNamespace()
  for (const name of await readdir(root).catch(() => [])) {
    const groups = NAME.exec(name)?.groups
    // In another container the same pid is somebody else.
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
  // A pid is given away again; with its start time it names one process.
  return (await startTime(pid)) === start
}

/** `0` where the system does not tell. */
async function startTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name before it may hold spaces and parentheses.
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
