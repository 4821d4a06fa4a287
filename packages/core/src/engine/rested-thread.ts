import type { DeltaFrame, Store, ThreadState } from '@evener/protocol'
import type { Emitter } from './emitter.ts'
import { recordPagesAfter } from './load-state.ts'
import type { LogEntry } from './thread-log.ts'
import { foldWithViews } from './view-writes.ts'

export interface RestedThreadOptions {
  readonly store: Store
  readonly thread: string
  readonly entries: Emitter<LogEntry>
  readonly frames: Emitter<DeltaFrame>
}

/** What a runtime knows of its thread while the thread is not its own, and what it has told of it. */
export class RestedThread {
  readonly #options: RestedThreadOptions
  /** The newest seq that was told in a frame. */
  #framed: number
  state: ThreadState

  constructor(options: RestedThreadOptions, state: ThreadState) {
    this.#options = options
    this.state = state
    this.#framed = state.head.seq
  }

  /** Tells what others wrote. However much it is: a page of records at a time, each with a frame of its own. */
  async catchUp(to: number): Promise<void> {
    const { entries, store, thread } = this.#options
    if (to <= this.state.head.seq) return
    for await (const records of recordPagesAfter(store, thread, this.state.head.seq)) {
      const folded = foldWithViews(this.state, records)
      this.state = folded.state
      records.forEach((record, index) => {
        const state = folded.states[index] ?? folded.state
        entries.emit({ kind: 'record', record, live: false, others: true, state })
      })
      this.frame({ type: 'delta', seq: folded.state.head.seq, operations: folded.ops })
    }
  }

  /** Tells what another runtime of this process tells. */
  mirror(entry: LogEntry): void {
    const { entries } = this.#options
    const isRecord = entry.kind === 'record'
    // What it finds when it takes the thread may be known here already.
    if (isRecord && entry.others === true && entry.record.seq <= this.state.head.seq) return
    this.state = entry.state
    entries.emit(isRecord ? { ...entry, others: true, mirrored: true } : { ...entry, mirrored: true })
  }

  /** Once, whoever has made it. */
  frame(frame: DeltaFrame): void {
    if (frame.seq <= this.#framed) return
    this.#framed = frame.seq
    this.#options.frames.emit(frame)
  }
}
