import type { ProcessStat } from './procfs.ts'

/** One process, identified safely even if its pid is reused. */
export interface ProcessRef {
  readonly pid: number
  /** Clock ticks since boot; null where the platform does not provide it. */
  readonly startTime: number | null
  readonly name: string
}

/** The process a run was started with. It leads its own session and group, whose number is its pid. */
export interface RunRoot {
  readonly pid: number
  readonly startTime: number | null
  /** Clock ticks since boot at which it was seen to end. */
  readonly exitedAt?: number
}

export interface RunTarget {
  readonly runId: string
  readonly root?: RunRoot
}

export interface Snapshot {
  readonly processes: ReadonlyMap<number, ProcessStat>
  /** Processes with the tag of a requested run, and all runs each of them is tagged with. */
  readonly tagged: ReadonlyMap<number, readonly string[]>
}

/**
 * Returns the processes of the runs: those with the tag, those in the session of a root, those that belonged before,
 * and all descendants of these. The last three find processes that have cleared their environment.
 */
export function membersOf(
  snapshot: Snapshot,
  roots: readonly RunRoot[],
  known: readonly ProcessRef[],
  self: number,
): ProcessStat[] {
  const members = new Map<number, ProcessStat>()
  const add = (process: ProcessStat): boolean => {
    if (process.zombie || process.pid === self || process.pid <= 1 || members.has(process.pid)) return false
    members.set(process.pid, process)
    return true
  }
  for (const process of snapshot.processes.values()) {
    if (snapshot.tagged.has(process.pid) || roots.some((root) => inSessionOf(root, process, snapshot))) add(process)
  }
  for (const ref of known) {
    const process = snapshot.processes.get(ref.pid)
    if (process?.startTime === ref.startTime) add(process)
  }
  addDescendants(snapshot, members, add)
  return [...members.values()]
}

/** True if the group number still belongs to this root, and not to a group that got the number later. */
export function isGroupOfRoot(root: RunRoot, snapshot: Snapshot, members: readonly ProcessStat[]): boolean {
  return isRoot(root, snapshot.processes.get(root.pid)) || members.some((member) => member.group === root.pid)
}

function addDescendants(
  snapshot: Snapshot,
  members: ReadonlyMap<number, ProcessStat>,
  add: (process: ProcessStat) => boolean,
): void {
  const children = Map.groupBy(snapshot.processes.values(), (process) => process.parent)
  const toVisit = [...members.keys()]
  for (let pid = toVisit.pop(); pid !== undefined; pid = toVisit.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (add(child)) toVisit.push(child.pid)
    }
  }
}

/**
 * A session number cannot be reused while its leader exists, dead or alive, nor while a member does. So a process in
 * the session that started before the leader ended has inherited it from our root.
 */
function inSessionOf(root: RunRoot, process: ProcessStat, snapshot: Snapshot): boolean {
  if (process.session !== root.pid) return false
  if (isRoot(root, snapshot.processes.get(root.pid))) return true
  return root.exitedAt !== undefined && process.pid !== root.pid && process.startTime <= root.exitedAt
}

function isRoot(root: RunRoot, process: ProcessStat | undefined): boolean {
  return process !== undefined && root.startTime !== null && process.startTime === root.startTime
}
