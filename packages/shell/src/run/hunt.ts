import { setImmediate as nextTurn } from 'node:timers/promises'
import { membersOf } from './membership.ts'
import type { ProcessRef, RunTarget, Snapshot } from './membership.ts'
import type { ProcessStat, ProcessTable } from './procfs.ts'

export interface Sighting {
  readonly members: readonly ProcessStat[]
  readonly snapshot: Snapshot
}

const sliceMs = 5

/** Looks for the living processes of some runs, again and again, and remembers whom it has found. */
export class Hunt {
  readonly #table: ProcessTable
  readonly #targets: readonly RunTarget[]
  readonly #known = new Map<number, ProcessRef>()

  constructor(table: ProcessTable, targets: readonly RunTarget[]) {
    this.#table = table
    this.#targets = targets
  }

  /** `onTagged` is told at once about each process that carries the tag: a moment later it may have forked and gone. */
  async look(onTagged?: (process: ProcessStat) => void): Promise<Sighting> {
    const runIds = new Set(this.#targets.map((target) => target.runId))
    const snapshot = await takeSnapshot(this.#table, runIds, onTagged)
    const roots = this.#targets.flatMap((target) => target.root ?? [])
    const members = membersOf(snapshot, roots, [...this.#known.values()], process.pid)
    for (const member of members) this.#known.set(member.pid, member)
    return { members, snapshot }
  }

  isAlive(process: ProcessStat): boolean {
    const now = this.#table.stat(process.pid)
    return now !== undefined && now.startTime === process.startTime && !now.zombie
  }
}

/** Reads newest processes first, and lets the event loop turn on machines with thousands of them. */
async function takeSnapshot(
  table: ProcessTable,
  runIds: ReadonlySet<string>,
  onTagged?: (process: ProcessStat) => void,
): Promise<Snapshot> {
  const processes = new Map<number, ProcessStat>()
  const tagged = new Set<number>()
  let sliceEnd = performance.now() + sliceMs
  for (const pid of table.pids().sort((a, b) => b - a)) {
    if (performance.now() > sliceEnd) {
      await nextTurn()
      sliceEnd = performance.now() + sliceMs
    }
    const stat = table.stat(pid)
    if (stat === undefined) continue
    processes.set(pid, stat)
    if (stat.zombie || pid === process.pid || !table.runIds(stat).some((runId) => runIds.has(runId))) continue
    tagged.add(pid)
    onTagged?.(stat)
  }
  return { processes, tagged }
}
