import type { DeltaFrame, LogRecord, RunOutcome, ThreadState } from '@evener/protocol'
import type { Emitter } from '../log/emitter.ts'
import { recordPagesAfter } from '../log/load-state.ts'
import type { LogEntry } from '../log/thread-log.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { foldWithViews } from '../log/view-writes.ts'

/** Who is told what others make of it. */
export interface RestedThreadListeners {
  readonly entries: Emitter<LogEntry>
  readonly frames: Emitter<DeltaFrame>
  /** Somebody else has gone on with a run to its end. */
  readonly onRunEnded: (runId: string, outcome: RunOutcome) => void
}

/** What a runtime knows of its thread while the thread is not its own, and what it has told of it. */
export class RestedThread {
  readonly #options: Pick<ThreadRuntimeOptions, 'store' | 'thread'>
  readonly #listeners: RestedThreadListeners
  /** The newest seq that was told in a frame. */
  #framed: number
  state: ThreadState

  constructor(
    options: Pick<ThreadRuntimeOptions, 'store' | 'thread'>,
    state: ThreadState,
    listeners: RestedThreadListeners,
  ) {
    this.#options = options
    this.#listeners = listeners
    this.state = state
    this.#framed = state.head.seq
  }

  /** Tells what others wrote. However much it is: a page of records at a time, each with a frame of its own. */
  async catchUp(to: number): Promise<void> {
    const { store, thread } = this.#options
    if (to <= this.state.head.seq) return
    for await (const records of recordPagesAfter(store, thread, this.state.head.seq)) {
      const folded = foldWithViews(this.state, records)
      this.state = folded.state
      records.forEach((record, index) => {
        const state = folded.states[index] ?? folded.state
        this.#listeners.entries.emit({ kind: 'record', record, live: false, others: true, state })
        this.#follow(record)
      })
      this.frame({ type: 'delta', seq: folded.state.head.seq, operations: folded.ops })
    }
  }

  /** Tells what another runtime of this process tells. */
  mirror(entry: LogEntry): void {
    const isRecord = entry.kind === 'record'
    // What it finds when it takes the thread may be known here already.
    if (isRecord && entry.others === true && entry.record.seq <= this.state.head.seq) return
    this.state = entry.state
    this.#listeners.entries.emit(isRecord ? { ...entry, others: true, mirrored: true } : { ...entry, mirrored: true })
    if (isRecord) this.#follow(entry.record)
  }

  /** Once, whoever has made it. */
  frame(frame: DeltaFrame): void {
    if (frame.seq <= this.#framed) return
    this.#framed = frame.seq
    this.#listeners.frames.emit(frame)
  }

  #follow({ body }: LogRecord): void {
    if (body.type === 'run.ended') this.#listeners.onRunEnded(body.runId, body.outcome)
  }
}
