import { InspanError } from '@inspan/protocol'
import type { DeltaFrame, ThreadState } from '@inspan/protocol/log'
import type { Emitter } from '../../common/emitter.ts'
import type { Mailbox } from '../../common/mailbox.ts'
import { timerMs } from '../checks/check-options.ts'
import type { Redactor } from '../log/redactor.ts'
import type { LogEntry, ThreadLoss } from '../log/thread-log.ts'
import type { Runs } from '../runs/runs.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import type { ActiveTurn } from '../turns/active-run.ts'
import { canRest } from '../turns/can-rest.ts'
import type { WarmSessions } from '../turns/warm-sessions.ts'
import type { DueClock } from '../waits/due-clock.ts'
import type { Doors } from './doors.ts'
import { RestedThread } from './rested-thread.ts'
import { ThreadHold } from './thread-hold.ts'

const DEFAULT_PASSIVATE_AFTER_MS = 10_000

export interface LeasePorts {
  readonly options: ThreadRuntimeOptions
  readonly mailbox: Mailbox
  readonly doors: Doors
  readonly runs: Runs
  readonly warm: WarmSessions
  readonly clock: DueClock
  readonly entries: Emitter<LogEntry>
  readonly frames: Emitter<DeltaFrame>
  readonly losses: Emitter<ThreadLoss>
  /** Called when the thread was taken again: other processes may have left commands for it meanwhile. */
  readonly onWoken: () => void
}

/**
 * Owns a thread for its runtime while something goes on in it. An idle thread is released (passivated), and taken again
 * for the next command; meanwhile other processes may write to it.
 */
export class ThreadLease {
  readonly #ports: LeasePorts
  readonly #rested: RestedThread
  #hold: ThreadHold | undefined
  #restTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(ports: LeasePorts, state: ThreadState) {
    this.#ports = ports
    const { entries, frames, options, runs } = ports
    const onRunEnded = runs.settle.bind(runs)
    this.#rested = new RestedThread(options, state, { entries, frames, onRunEnded })
  }

  /** The current state; the last known one while the thread is not held. */
  get state(): ThreadState {
    return this.#hold?.log.state ?? this.#rested.state
  }

  get committed(): ThreadState {
    return this.#hold?.log.committed ?? this.#rested.state
  }

  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /** Why the thread can no longer be written, if that is so. */
  get failure(): InspanError | undefined {
    return this.#hold?.log.failure
  }

  held(): ThreadHold {
    if (this.#hold === undefined) throw new InspanError('closed', `Thread ${this.#thread} is not held.`)
    return this.#hold
  }

  assertOpen(): void {
    if (this.#isClosed) throw new InspanError('closed', `Thread ${this.#thread} was closed here.`)
    if (this.failure !== undefined) throw this.failure
  }

  redactWith(redact: Redactor | undefined): void {
    this.#hold?.log.redactWith(redact)
  }

  /** Carries out a task after those before it, with the thread in hand. */
  inTurn<T>(task: (hold: ThreadHold) => Promise<T>): Promise<T> {
    return this.#ports.mailbox.post(async () => {
      this.assertOpen()
      clearTimeout(this.#restTimer)
      try {
        return await task(this.#hold ?? (await this.#wake()))
      } finally {
        this.rest()
      }
    })
  }

  /** Emits what other processes wrote while this one does not hold the thread. Takes nothing. */
  follow(to?: number): Promise<void> {
    return this.#ports.mailbox.post(() => this.#rested.follow(this.#isClosed || this.isHeld, to))
  }

  /** Begins to use the thread, which was just taken. */
  use(hold: ThreadHold): void {
    const { clock, doors, entries } = this.#ports
    this.#hold = hold
    hold.optionsOfRun = () => doors.current(this.state)
    hold.log.onFrame((frame) => this.#rested.frame(frame))
    clock.follow(hold.log.state)
    hold.log.onEntry((entry) => {
      entries.emit(entry)
      if (entry.kind !== 'record') return
      const { type } = entry.record.body
      if (type === 'run.parked') this.rest()
      else if (type.startsWith('wait.')) clock.follow(entry.state)
    })
  }

  /** Recovers what a dead process left. `onTaken` comes first. */
  async takeUp(onTaken: () => Promise<void>): Promise<void> {
    const { mailbox, runs } = this.#ports
    try {
      await onTaken()
      await mailbox.post(() => runs.recover())
    } catch (error) {
      this.#isClosed = true
      await this.#giveUp()
      throw error
    }
  }

  /** Schedules the release of the thread if it is idle or only waits. */
  rest(): void {
    clearTimeout(this.#restTimer)
    if (this.#isClosed || !this.#isAtRest()) return
    const { mailbox, options } = this.#ports
    const { passivateAfter = DEFAULT_PASSIVATE_AFTER_MS } = options
    this.#restTimer = setTimeout(() => {
      mailbox.post(() => this.#passivate()).catch(() => undefined)
    }, timerMs(passivateAfter)).unref()
  }

  /** Releases the thread to another owner in this process, unless a run is working. Returns whether it was released. */
  async yield(): Promise<boolean> {
    const { mailbox, runs, warm } = this.#ports
    const { active } = runs
    // A run that is being cancelled ends soon.
    if (active?.abort.signal.aborted === true) await active.handle.done
    return mailbox.post(async () => {
      if (runs.active === undefined) await warm.close()
      if (!(await this.dropFailed())) await this.#passivate()
      return this.#hold === undefined
    })
  }

  /** Releases a thread whose log has failed: the next owner continues from what is on disk. Returns whether it had. */
  async dropFailed(): Promise<boolean> {
    if (this.failure === undefined) return false
    await this.#giveUp()
    return true
  }

  /** Called when the log has failed: the active run is left as it is on disk, and its waiters are settled. */
  lose(): void {
    const { losses, mailbox, options, runs } = this.#ports
    const { log } = this.#hold ?? {}
    if (log?.failure !== undefined) losses.emit({ onDisk: log.state, error: log.failure })
    // At once: what is in the mailbox may wait for a store that does not answer, and the program must end before others
    // take the thread. Then again, for a turn that was just being started.
    const lost = Promise.resolve()
      .then(() => runs.lose())
      .catch(() => undefined)
    mailbox.post(() => lost.then(() => runs.lose())).catch(() => undefined)
    void options.owner.wakeLater(options.thread)
  }

  /** Ends what goes on here without a record of it: the process that takes the thread next continues the run. */
  async abandon(): Promise<void> {
    const { mailbox, options } = this.#ports
    options.owner.leaveBehind(options.thread)
    this.#hold?.log.abandon()
    await mailbox.post(async () => void (this.isHeld && (await this.#giveUp())))
  }

  /** Releases the thread, never to take it again. Open waits stay open; a run that was working ends as interrupted. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const { clock, mailbox, options, runs } = this.#ports
    clearTimeout(this.#restTimer)
    clock.stop()
    runs.stopQueue()
    const { active } = runs
    // A cancel in progress completes first, so that its caller gets the receipt.
    if (active?.abort.signal.aborted === true) await active.handle.done
    // Aborts the active turn, which could otherwise keep the mailbox busy.
    await runs.detach()
    try {
      await mailbox.post(() => this.#leave(active))
    } finally {
      options.owner.leave(options.thread)
    }
  }

  get #thread(): string {
    return this.#ports.options.thread
  }

  /** Releases the thread even when the end of the run cannot be written: the next owner must find it free. */
  async #leave(active: ActiveTurn | undefined): Promise<void> {
    const { runs, warm } = this.#ports
    try {
      if (this.#hold === undefined) return
      // Set when a turn was just being started while `close` waited for the mailbox.
      const begun = runs.active
      await runs.detach()
      await runs.close(begun ?? active)
    } finally {
      try {
        await this.#release()
      } finally {
        await warm.close()
      }
    }
  }

  /** Takes the thread again and emits what others wrote meanwhile. */
  async #wake(): Promise<ThreadHold> {
    const { doors, onWoken, options, runs } = this.#ports
    const hold = await ThreadHold.take(options, doors.redact, () => this.lose())
    try {
      await this.#rested.catchUp(hold.log.state.head.seq)
      this.use(hold)
      await runs.recover()
      onWoken()
      return hold
    } catch (error) {
      // The next command tries again.
      await this.#giveUp(hold)
      throw error
    }
  }

  #isAtRest(): boolean {
    const { runs, warm } = this.#ports
    const isFree = this.#hold !== undefined && this.failure === undefined && warm.size === 0
    return isFree && canRest(runs.active, this.state)
  }

  async #passivate(): Promise<void> {
    if (this.#isClosed || !this.#isAtRest()) return
    await this.#ports.runs.detach()
    await this.#release()
  }

  /** Releases a thread that cannot be continued here. Its records stay as they are. */
  async #giveUp(hold = this.#hold): Promise<void> {
    await this.#ports.runs.lose()
    await this.#release(hold).catch(() => undefined)
  }

  async #release(hold = this.#hold): Promise<void> {
    try {
      await hold?.letGo()
    } finally {
      // Nothing is written after this, so the state on disk is the one to show.
      if (hold !== undefined && this.#hold === hold) this.#rested.state = hold.log.state
      this.#hold = undefined
    }
  }
}
