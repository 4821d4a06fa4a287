import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { markOf } from './mark.ts'
import type { Snapshot } from './membership.ts'
import type { ProcessStat, ProcessTable } from './procfs.ts'

const sliceMs = 5
/** A limit for machines where unrelated processes come and go all the time. */
const mostRounds = 50
/** An empty environment is read this often, a millisecond apart, before it is accepted as empty. */
const readsOfEmpty = 4

/**
 * Takes a snapshot of the processes of runs. A single pass is not enough: a process may fork and exit before it is
 * read, or show no environment during an exec. So it reads until every process was read properly.
 */
export class SnapshotTaker {
  readonly #table: ProcessTable
  readonly #runIds: ReadonlySet<string>
  readonly #since: number
  readonly #marks: ReadonlyMap<number, string>
  readonly #onTagged: ((process: ProcessStat) => void) | undefined
  readonly #processes = new Map<number, ProcessStat>()
  readonly #tagged = new Map<number, readonly string[]>()
  readonly #done = new Set<number>()
  readonly #emptyReads = new Map<number, number>()

  /** `since`: when the first of the runs began, in clock ticks. What is older cannot belong to them. */
  constructor(
    table: ProcessTable,
    runIds: ReadonlySet<string>,
    since: number,
    onTagged?: (process: ProcessStat) => void,
  ) {
    this.#table = table
    this.#runIds = runIds
    this.#since = since
    this.#marks = new Map([...runIds].map((runId) => [markOf(runId), runId]))
    this.#onTagged = onTagged
  }

  async take(): Promise<Snapshot> {
    for (let round = 0; round < mostRounds; round += 1) {
      const pids = this.#table.pids().filter((pid) => !this.#done.has(pid))
      if (pids.length === 0) break
      await this.#readAll(pids)
      if (pids.every((pid) => this.#emptyReads.has(pid))) await pause(1)
    }
    return { processes: this.#processes, tagged: this.#tagged }
  }

  /** Yields to the event loop, because some machines have thousands of processes. */
  async #readAll(pids: readonly number[]): Promise<void> {
    let sliceEnd = performance.now() + sliceMs
    for (const pid of pids) {
      if (performance.now() > sliceEnd) {
        await nextTurn()
        sliceEnd = performance.now() + sliceMs
      }
      this.#read(pid)
    }
  }

  #read(pid: number): void {
    this.#done.add(pid)
    const stat = this.#table.stat(pid)
    if (stat === undefined) return
    this.#processes.set(pid, stat)
    if (stat.zombie || stat.kernel || pid === process.pid || stat.startTime < this.#since) return
    const runIds = this.#table.runIds(stat)
    if (runIds?.some((runId) => this.#runIds.has(runId)) === true) {
      this.#found(stat, runIds)
      return
    }
    const marked = this.#marks.get(this.#table.mark(stat) ?? 0)
    if (marked !== undefined) this.#found(stat, [marked, ...(runIds ?? [])])
    else if (runIds === undefined) {
      const emptyReads = (this.#emptyReads.get(pid) ?? 0) + 1
      this.#emptyReads.set(pid, emptyReads)
      if (emptyReads < readsOfEmpty) this.#done.delete(pid)
    }
  }

  #found(stat: ProcessStat, runIds: readonly string[]): void {
    this.#tagged.set(stat.pid, runIds)
    this.#onTagged?.(stat)
  }
}
