import { setTimeout as pause } from 'node:timers/promises'
import { capabilities, hostTable } from './capabilities.ts'
import { Hunt } from './hunt.ts'
import type { Sighting } from './hunt.ts'
import { killGroups } from './kill-group.ts'
import { defaultGraceMs, giveUpMs, receipt, toRef } from './kill-receipt.ts'
import type { KillOptions, KillReceipt } from './kill-receipt.ts'
import { isGroupOfRoot, membersOf } from './membership.ts'
import type { ProcessRef, RunRoot, RunTarget } from './membership.ts'
import type { ProcessStat } from './procfs.ts'
import { assertRunId } from './run-tag.ts'
import { send } from './signals.ts'

export interface KillTreeOptions extends KillOptions {
  readonly runId: string
  readonly root?: RunRoot
}

const freezeRounds = 20

/** Returns the living processes with the tag of the run, wherever they are in the process tree. Never this process. */
export async function findTagged(runId: string): Promise<ProcessRef[]> {
  assertRunId(runId)
  const { members, snapshot } = await new Hunt(hostTable, [{ runId }]).look()
  return members.filter((member) => snapshot.tagged.has(member.pid)).map(toRef)
}

/** Returns the runs that have a living process, by one look at the process table. */
export async function findLiving<T extends RunTarget>(targets: readonly T[]): Promise<T[]> {
  const { snapshot } = await new Hunt(hostTable, targets).look()
  return targets.filter(({ runId, root }) => {
    const tagged = new Map([...snapshot.tagged].filter(([, runIds]) => runIds.includes(runId)))
    return membersOf({ ...snapshot, tagged }, root === undefined ? [] : [root], [], process.pid).length > 0
  })
}

/** Ends every process of a run. */
export async function killTree({ runId, root, ...options }: KillTreeOptions): Promise<KillReceipt> {
  assertRunId(runId)
  return killRuns([root === undefined ? { runId } : { runId, root }], options)
}

/** Ends every process of several runs together, because the guard may hold hundreds. */
export async function killRuns(targets: readonly RunTarget[], options: KillOptions = {}): Promise<KillReceipt> {
  const { signal = 'SIGTERM', graceMs = defaultGraceMs } = options
  if (capabilities.reach !== 'tree') return killGroups(targets, signal, graceMs, capabilities.reach)
  const hunt = new Hunt(hostTable, targets)
  const first = await hunt.look()
  if (first.members.length === 0) return { how: 'gone', killed: [], left: [] }
  if (graceMs > 0) {
    const asked = askGroups(first, targets, signal)
    if (await leaveInTime(hunt, first.members, asked, signal, graceMs)) return receipt([], [])
  }
  return killAll(hunt)
}

function askGroups(
  { members, snapshot }: Sighting,
  targets: readonly RunTarget[],
  signal: NodeJS.Signals,
): Set<string> {
  const asked = new Set<string>()
  for (const { root } of targets) {
    if (root === undefined || !isGroupOfRoot(root, snapshot, members)) continue
    ask(-root.pid, signal)
    for (const member of members) if (member.group === root.pid) asked.add(key(member))
  }
  return asked
}

/** Signals processes outside the roots' groups after the groups are gone, so that a CLI can end its tools in order. */
async function leaveInTime(
  hunt: Hunt,
  found: readonly ProcessStat[],
  asked: Set<string>,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<boolean> {
  const deadline = performance.now() + graceMs
  let members = found
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, 50)) {
    if (!members.some((member) => asked.has(key(member)))) {
      members = (await hunt.look()).members
      if (members.length === 0) return true
      for (const member of members) {
        asked.add(key(member))
        ask(member.pid, signal)
      }
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await pause(Math.min(waitMs, leftMs))
    members = members.filter((member) => hunt.isAlive(member))
  }
}

/** A stopped process gets a signal only when it is continued. */
function ask(pid: number, signal: NodeJS.Signals): void {
  send(pid, signal)
  send(pid, 'SIGCONT')
}

/** Repeats until no process is found, because one may be forked between the last look and the kill. */
async function killAll(hunt: Hunt): Promise<KillReceipt> {
  const killed = new Map<string, ProcessStat>()
  const deadline = performance.now() + giveUpMs
  for (;;) {
    const alive = (await freeze(hunt)).filter((member) => hunt.isAlive(member))
    const reached = alive.filter((member) => send(member.pid, 'SIGKILL') !== 'refused')
    for (const member of reached) killed.set(key(member), member)
    if (reached.length === 0 || performance.now() > deadline) return receipt([...killed.values()], alive)
    await waitUntilGone(hunt, reached, deadline)
  }
}

/**
 * Stops all processes before any is killed. A stopped process cannot fork, and its children cannot be re-parented out
 * of sight.
 */
async function freeze(hunt: Hunt): Promise<readonly ProcessStat[]> {
  const frozen = new Set<string>()
  const stop = (process: ProcessStat): void => {
    if (frozen.has(key(process))) return
    frozen.add(key(process))
    send(process.pid, 'SIGSTOP')
  }
  for (let round = 1; ; round += 1) {
    const before = frozen.size
    const { members } = await hunt.look(stop)
    for (const member of members) stop(member)
    if (frozen.size === before || round === freezeRounds) return members
  }
}

async function waitUntilGone(hunt: Hunt, members: readonly ProcessStat[], deadline: number): Promise<void> {
  let alive = members
  for (let waitMs = 1; alive.length > 0 && performance.now() < deadline; waitMs = Math.min(waitMs * 2, 50)) {
    await pause(waitMs)
    alive = alive.filter((member) => hunt.isAlive(member))
  }
}

function key(process: ProcessStat): string {
  return `${process.pid}:${process.startTime}`
}
