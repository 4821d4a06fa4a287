import { membersOf } from './membership.ts'
import type { ProcessRef, RunTarget, Snapshot } from './membership.ts'
import type { ProcessStat, ProcessTable } from './procfs.ts'
import { SnapshotTaker } from './snapshot.ts'

export interface Sighting {
  readonly members: readonly ProcessStat[]
  readonly snapshot: Snapshot
}

/** Looks for the living processes of some runs repeatedly and remembers those it found. */
export class Hunt {
  readonly #table: ProcessTable
  readonly #targets: readonly RunTarget[]
  readonly #known = new Map<number, ProcessRef>()

  constructor(table: ProcessTable, targets: readonly RunTarget[]) {
    this.#table = table
    this.#targets = targets
  }

  /** `onTagged` is called at once for each process with the tag, because it may fork and exit a moment later. */
  async look(onTagged?: (process: ProcessStat) => void): Promise<Sighting> {
    const runIds = new Set(this.#targets.map((target) => target.runId))
    const snapshot = await new SnapshotTaker(this.#table, runIds, this.#since(), onTagged).take()
    const roots = this.#targets.flatMap((target) => target.root ?? [])
    const members = membersOf(snapshot, roots, [...this.#known.values()], process.pid)
    for (const member of members) this.#known.set(member.pid, member)
    return { members, snapshot }
  }

  /** On a machine with thousands of processes, most are older than any run. */
  #since(): number {
    return Math.min(...this.#targets.map(({ root }) => root?.startTime ?? 0))
  }

  isAlive(process: ProcessStat): boolean {
    const now = this.#table.stat(process.pid)
    return now !== undefined && now.startTime === process.startTime && !now.zombie
  }
}
