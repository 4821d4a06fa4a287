import type { DeltaFrame, LogRecord, RunOutcome, ThreadState } from '@inspan/protocol/log'
import type { Emitter } from '../../common/emitter.ts'
import { recordPagesAfter } from '../log/load-state.ts'
import type { LogEntry } from '../log/thread-log.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { foldWithViews } from '../log/view-writes.ts'

/** The listeners of a rested thread. */
export interface RestedThreadListeners {
  readonly entries: Emitter<LogEntry>
  readonly frames: Emitter<DeltaFrame>
  /** Called when another runtime or process has ended a run. */
  readonly onRunEnded: (runId: string, outcome: RunOutcome) => void
}

/** Follows a thread while its runtime does not hold it: the last known state, and what listeners have got. */
export class RestedThread {
  readonly #options: Pick<ThreadRuntimeOptions, 'store' | 'thread'>
  readonly #listeners: RestedThreadListeners
  /** The newest seq that was emitted in a frame. */
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

  /**
   * Emits what others wrote since, unless this process holds the thread and hears everything anyway. `to`: where the
   * thread is known to be, e.g. by a signal.
   */
  async follow(isHeld: boolean, to?: number): Promise<void> {
    if (isHeld) return
    const { store, thread } = this.#options
    await this.catchUp(to ?? (await store.getStream(thread))?.headSeq ?? 0)
  }

  /** Emits what others wrote, however much: a page of records at a time, each with its own frame. */
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

  /** Emits a frame once, whoever made it. */
  frame(frame: DeltaFrame): void {
    if (frame.seq <= this.#framed) return
    this.#framed = frame.seq
    this.#listeners.frames.emit(frame)
  }

  #follow({ body }: LogRecord): void {
    if (body.type === 'run.ended') this.#listeners.onRunEnded(body.runId, body.outcome)
  }
}
