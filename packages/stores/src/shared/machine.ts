import { readFileSync, readlinkSync } from 'node:fs'
import { uptime } from 'node:os'

/** What tells one boot of this machine from the next. */
export function currentBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Without one the time of the boot serves, to the minute: a clock that is set needs some room.
    return `booted-${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}

/** Where a pid means the same process: this boot of this machine and, in a container, this container. */
export function currentPidScope(): string {
  try {
    return `${currentBootId()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return currentBootId()
  }
}

/** Tells a process from a later one with the same pid; empty where the system does not say. */
export function processStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses, in which anything may stand.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A process that only waits to be collected by its parent does nothing any more.
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

/** Whether the process that had this pid and began at that time is still there. */
export function isProcessAlive(pid: number, startTime: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  const now = processStartTime(pid)
  return process.platform === 'linux' ? now !== '' && (startTime === '' || now === startTime) : now === startTime
}
