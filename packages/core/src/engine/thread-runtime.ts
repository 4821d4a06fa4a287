import {
  aText,
  checkFields,
  EvenerError,
  type Answer,
  type CancelReceipt,
  type DeltaFrame,
  type RunOutcome,
  type ThreadState,
} from '@evener/protocol'
import { isForeign, type ActiveTurn, type RunHandle } from './turns/active-run.ts'
import { ApprovalClock } from './waits/approval-clock.ts'
import { checkAnswer } from './checks/check-answer.ts'
import { checkFacts } from './checks/check-facts.ts'
import { checkRuntimeOptions, timerMs } from './checks/check-options.ts'
import { checkHandOff, checkSubmission } from './checks/check-submission.ts'
import { Emitter } from './log/emitter.ts'
import { Mailbox } from './threads/mailbox.ts'
import type { RecordOrigin } from './log/record-body.ts'
import { hasRedactedCall } from './log/record-redactor.ts'
import { queueItem } from './runs/run-queue.ts'
import { remembered } from './rules/remembered.ts'
import { RestedThread } from './threads/rested-thread.ts'
import type { RunnableTool } from './calls/runnable-tool.ts'
import { Runs } from './runs/runs.ts'
import { ThreadHold } from './threads/thread-hold.ts'
import { reportUnhandled, type LogEntry, type ThreadLoss } from './log/thread-log.ts'
import {
  feedbackNote,
  noSuchRun,
  readOpinions,
  scoreNote,
  type Feedback,
  type RunOpinions,
  type Score,
} from './runs/run-opinions.ts'
import type { ConfigChange, ControlFact, HandOff, Submission, ThreadRuntimeOptions } from './thread-options.ts'
import { ThreadPolicy } from './rules/thread-policy.ts'
import { WarmSessions } from './turns/warm-sessions.ts'

export type { ControlFact, Submission, ThreadRuntimeOptions } from './thread-options.ts'

const DEFAULT_PASSIVATE_AFTER_MS = 10_000

/**
 * Everything that happens to one thread in this process: one command at a time, one run at a time, all of it through the
 * log. What a run needs to go on stands there, so another process can take it up. With nothing to do the thread is let go
 * of; the next command takes it again.
 */
export class ThreadRuntime {
  readonly #options: ThreadRuntimeOptions
  readonly #mailbox = new Mailbox()
  readonly #entries: Emitter<LogEntry>
  readonly #frames: Emitter<DeltaFrame>
  readonly #policy: ThreadPolicy
  readonly #warm: WarmSessions
  readonly #runs: Runs
  readonly #clock: ApprovalClock | undefined
  #hold: ThreadHold | undefined
  readonly #losses: Emitter<ThreadLoss>
  readonly #rested: RestedThread
  #restTimer: NodeJS.Timeout | undefined
  #closed = false
  /** Told when the thread is closed: nothing comes any more that they could wait for. */
  readonly #idlers = new Set<() => void>()

  private constructor(options: ThreadRuntimeOptions, hold: ThreadHold) {
    const onListenerFailure = options.onListenerFailure ?? reportUnhandled
    this.#options = options
    this.#entries = new Emitter(onListenerFailure)
    this.#frames = new Emitter(onListenerFailure)
    this.#losses = new Emitter(onListenerFailure)
    this.#rested = new RestedThread(options, hold.log.state, {
      entries: this.#entries,
      frames: this.#frames,
      onRunEnded: (runId, outcome) => this.#runs.settle(runId, outcome),
    })
    this.#policy = new ThreadPolicy(options, () => this.state)
    this.#warm = new WarmSessions(options.keepWarm, () => this.#rest())
    this.#runs = new Runs({
      options,
      mailbox: this.#mailbox,
      policy: this.#policy,
      warm: this.#warm,
      hold: () => this.#held(),
      onRest: () => this.#rest(),
    })
    const { approvalTimeout } = options
    if (approvalTimeout !== undefined) {
      const decline = (waitId: string): Promise<void> => this.answer(waitId, TOO_LATE, 'timeout')
      this.#clock = new ApprovalClock(approvalTimeout, options.now ?? Date.now, decline, () => this.state)
    }
    this.#watch(hold)
  }

  /**
   * Takes the thread, and takes up what a dead process left of it. `onTaken` comes before the latter: whoever listens from
   * there on misses nothing.
   */
  static async open(
    options: ThreadRuntimeOptions,
    onTaken?: (runtime: ThreadRuntime) => Promise<void>,
  ): Promise<ThreadRuntime> {
    checkRuntimeOptions(options)
    const { owner, thread } = options
    owner.enter(thread)
    try {
      const failed = Promise.withResolvers<void>()
      const hold = await ThreadHold.take(options, failed.resolve)
      const runtime = new ThreadRuntime(options, hold)
      void failed.promise.then(() => runtime.#lose())
      owner.onWanted(thread, () => runtime.#yield())
      await runtime.#takeUp(hold, onTaken)
      runtime.#rest()
      return runtime
    } catch (error) {
      owner.leave(thread)
      throw error
    }
  }

  /** Also while the thread is let go of: as it was then. */
  get state(): ThreadState {
    return this.#hold?.log.state ?? this.#rested.state
  }

  /** With everything that was asked of the thread before: whoever makes a fork of it must not miss a rule. */
  stateInTurn(): Promise<ThreadState> {
    return this.#mailbox.post(async () => this.state)
  }

  /** The run that is going on in this process; `undefined` also for one that waits without a process. */
  get run(): RunHandle | undefined {
    return this.#runs.active?.handle
  }

  /** How a run of the thread ends, also one that waits or that another process began; at once if it was the last one. */
  async outcome(runId: string): Promise<RunOutcome> {
    return this.#runs.outcome(runId, this.state)
  }

  /** The tool that the run going on here has under the name. */
  toolInUse(name: string): RunnableTool | undefined {
    return this.#runs.active?.setup.tools.find((tool) => tool.name === name)
  }

  /** Whether the thread is this process's own: with nothing to do it is nobody's. */
  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /** Everything that happens to the thread, in one order: deltas at once, records when they are shown. Gives how to stop. */
  onEntry(listener: (entry: LogEntry) => unknown): () => void {
    return this.#entries.subscribe(listener)
  }

  onFrame(listener: (frame: DeltaFrame) => unknown): () => void {
    return this.#frames.subscribe(listener)
  }

  /** What was shown could not be written: the thread is what it is on disk. */
  onLost(listener: (loss: ThreadLoss) => unknown): () => void {
    return this.#losses.subscribe(listener)
  }

  /** Starts a run. While one is going on the words are steered into it; while one waits they are kept for later. */
  submit(submission: Submission): Promise<RunHandle> {
    return this.#command(async ({ log }) => {
      await checkSubmission(submission, log.state, this.#options.store)
      const { run } = log.state.head
      return run === null ? this.#runs.start(submission) : this.#runs.steer(submission, run)
    })
  }

  /** Heard by the run there is before its next step, also when it waits: it answers nothing. Without a run it starts one. */
  steer(submission: Submission): Promise<RunHandle> {
    return this.#command(async ({ log }) => {
      await checkSubmission(submission, log.state, this.#options.store)
      const { run } = log.state.head
      if (run === null) return this.#runs.start(submission)
      if (run.status !== 'parked') return this.#runs.steer(submission, run)
      await log.commit([{ type: 'queue.added', item: queueItem('steer', submission, this.#options.newId) }])
      return this.#runs.handleOf(run.runId)
    })
  }

  /** Kept until the run is over; sent at once when there is none. */
  followUp(submission: Submission): Promise<void> {
    return this.#command(async ({ log }) => {
      await checkSubmission(submission, log.state, this.#options.store)
      if (log.state.head.run === null) await this.#runs.start(submission)
      else await log.commit([{ type: 'queue.added', item: queueItem('follow-up', submission, this.#options.newId) }])
    })
  }

  /** Rules, grants and yolo count from this very call on; it resolves when they are on disk. */
  async configure(change: ConfigChange): Promise<void> {
    const written = this.#policy.announce(change)
    try {
      await this.#command(async ({ log }) => void (await log.commit([{ type: 'config.changed', ...change }])))
    } finally {
      written()
    }
  }

  /** Puts on record what the control layer has to say: tasks, signals, notes. */
  async record(facts: readonly ControlFact[], origin: RecordOrigin = {}): Promise<void> {
    checkFacts(facts)
    const changes = facts.filter((fact) => fact.type === 'config.changed')
    for (const change of changes) this.#policy.check(change)
    const written = changes.map((change) => this.#policy.announce(change))
    try {
      await this.#command(async ({ log }) => void (await log.commit(facts, origin)))
    } finally {
      for (const done of written) done()
    }
  }

  /** Attaches a judgement to a run of this thread, whether it is over or not. */
  async addScore(runId: string, score: Score): Promise<void> {
    await this.#opine(runId, scoreNote(score))
  }

  /** Attaches what somebody said to a run of this thread. */
  async addFeedback(runId: string, feedback: Feedback): Promise<void> {
    await this.#opine(runId, feedbackNote(feedback))
  }

  /** The scores and feedback of a run. */
  async opinions(runId: string): Promise<RunOpinions> {
    const { store, thread } = this.#options
    checkFields('what is asked about', { runId }, { runId: aText }, ['runId'])
    const found = await readOpinions(store, thread, runId)
    if (found === null) throw noSuchRun(thread, runId)
    return found
  }

  async #opine(runId: string, note: ControlFact): Promise<void> {
    await this.opinions(runId)
    await this.record([note], { run: runId })
  }

  /** Changes the thread in a way of its own, in its turn: rewind, erase. */
  change<T>(task: (log: ThreadHold['log']) => Promise<T>): Promise<T> {
    return this.#command(({ log }) => task(log))
  }

  /** Answers a wait, once, whoever asked and whether or not that process still lives. */
  answer(waitId: string, answer: Answer, by?: string): Promise<void> {
    return this.#command(async ({ desk, log }) => {
      checkFields('an answer', { waitId }, { waitId: aText }, ['waitId'])
      const { active } = this.#runs
      const asked = log.state.head
      const wait = asked.waits.get(waitId)
      if (wait === undefined) throw await desk.noSuchWait(waitId)
      checkAnswer(wait, answer, by)
      const atRest = active === undefined && asked.run !== null ? await this.#runs.beforeAnswer(asked.run) : undefined
      const { run, waits } = log.state.head
      if (!waits.has(waitId)) throw await desk.noSuchWait(waitId)
      const more = [
        ...(this.#options.withAnswer?.(wait, answer) ?? []),
        ...(await remembered(wait, answer, { policy: this.#policy, runs: this.#runs, active })),
      ]
      const isDetached = run !== null && run.turnId === null
      const isHeard = await desk.answer({ waitId, answer, more, isDetached, ...(by === undefined ? {} : { by }) })
      if (isHeard && active !== undefined) this.#runs.tellSteered(active)
      if (!isHeard && atRest !== undefined && run !== null) await this.#runs.afterAnswer(run, atRest)
    })
  }

  /**
   * From inside a run, such as by a tool: when the calls of the step have their results, another agent takes the floor in
   * the same run. Resolves when it is on disk: from then on it happens, once, also if this process dies.
   */
  async handOff(to: HandOff): Promise<void> {
    this.#assertOpen()
    checkHandOff(to)
    await this.#runs.handOff(to)
  }

  /** Ends the run: waits are cancelled, open calls closed, the queue is held until the next user act. */
  async cancel(): Promise<CancelReceipt> {
    this.#assertOpen()
    // At once where it can be, in its turn otherwise: a run that is just being started is not a run that waits.
    const found = this.#runs.active ?? (await this.#command(async () => this.#runs.active ?? this.#runs.cancelParked()))
    return 'how' in found ? found : this.#runs.cancel(found)
  }

  /** Resolves when nothing is going on any more: the run is over or waits, and nothing queued was left to send. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#mailbox.post(async () => undefined)
      const { active } = this.#runs
      const isAtRest = active === undefined || this.state.head.run?.status === 'parked'
      if (isAtRest || this.#hold?.log.failure !== undefined) return
      const parked = Promise.withResolvers<void>()
      const stop = this.onEntry((entry) => {
        if (entry.kind === 'record' && PAUSES.has(entry.record.body.type)) parked.resolve()
      })
      this.#idlers.add(parked.resolve)
      await Promise.race([active.handle.done, parked.promise])
      this.#idlers.delete(parked.resolve)
      stop()
    }
  }

  /** Tells listeners what others made of the thread up to there, before another runtime of this process goes on with it. */
  async follow(seq: number): Promise<void> {
    if (this.#isFollowing) await this.#rested.catchUp(seq)
  }

  /**
   * Tells listeners what happens to the thread while another runtime of this process has it. Whichever has it next finds
   * the same on disk.
   */
  mirror(entry: LogEntry): void {
    if (this.#isFollowing) this.#rested.mirror(entry)
  }

  /** The same for frames. */
  mirrorFrame(frame: DeltaFrame): void {
    if (this.#isFollowing) this.#rested.frame(frame)
  }

  /** The other one could not write what it has shown. */
  mirrorLoss(onDisk: ThreadState): void {
    if (this.#isFollowing) this.#rested.state = onDisk
  }

  get #isFollowing(): boolean {
    return this.#hold === undefined && !this.#closed
  }

  /** Lets go of the thread. Waits go on waiting; a run that was at work is ended as interrupted. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#restTimer)
    this.#clock?.stop()
    this.#runs.stopQueue()
    const { active } = this.#runs
    // Whoever cancels is told how it went.
    if (active?.abort.signal.aborted === true) await active.handle.done
    // What is being done is broken off, so that it cannot keep the mailbox busy.
    await this.#runs.detach()
    try {
      await this.#mailbox.post(() => this.#leave(active))
    } finally {
      this.#options.owner.leave(this.#options.thread)
      for (const resolve of this.#idlers) resolve()
    }
  }

  /** Also when the end of what was at work cannot be written: whoever comes next must find the thread free. */
  async #leave(active: ActiveTurn | undefined): Promise<void> {
    try {
      if (this.#hold === undefined) return
      // It was just being started.
      const begun = this.#runs.active
      await this.#runs.detach()
      await this.#runs.close(begun ?? active)
    } finally {
      try {
        if (this.#hold !== undefined) await this.#letGo(this.#hold)
      } finally {
        await this.#warm.close()
      }
    }
  }

  async #takeUp(hold: ThreadHold, onTaken?: (runtime: ThreadRuntime) => Promise<void>): Promise<void> {
    try {
      await onTaken?.(this)
      await this.#mailbox.post(() => this.#runs.recover())
    } catch (error) {
      this.#closed = true
      await this.#giveBack(hold)
      throw error
    }
  }

  /** What was taken and could not be taken up is nobody's again, as it stands. */
  async #giveBack(hold: ThreadHold): Promise<void> {
    await this.#runs.lose()
    await this.#letGo(hold).catch(() => undefined)
  }

  #command<T>(task: (hold: ThreadHold) => Promise<T>): Promise<T> {
    return this.#mailbox.post(async () => {
      this.#assertOpen()
      clearTimeout(this.#restTimer)
      try {
        return await task(this.#hold ?? (await this.#wake()))
      } finally {
        this.#rest()
      }
    })
  }

  /** Takes the thread again, and tells listeners what others made of it meanwhile. */
  async #wake(): Promise<ThreadHold> {
    const hold = await ThreadHold.take(this.#options, () => this.#lose())
    try {
      await this.#rested.catchUp(hold.log.state.head.seq)
      this.#watch(hold)
      await this.#runs.recover()
      return hold
    } catch (error) {
      // The next command tries it again.
      await this.#giveBack(hold)
      throw error
    }
  }

  #watch(hold: ThreadHold): void {
    this.#hold = hold
    hold.log.onEntry((entry) => this.#entries.emit(entry))
    hold.log.onFrame((frame) => this.#rested.frame(frame))
    this.#clock?.follow(hold.log.state)
    hold.log.onEntry((entry) => {
      if (entry.kind !== 'record') return
      const { type } = entry.record.body
      if (PAUSES.has(type)) this.#rest()
      else if (type.startsWith('wait.')) this.#clock?.follow(entry.state)
    })
  }

  /** With nothing to do but wait the thread is let go of after a while. */
  #rest(): void {
    clearTimeout(this.#restTimer)
    if (this.#closed || !this.#isAtRest()) return
    const { passivateAfter = DEFAULT_PASSIVATE_AFTER_MS } = this.#options
    this.#restTimer = setTimeout(() => {
      this.#mailbox.post(() => this.#passivate()).catch(() => undefined)
    }, timerMs(passivateAfter)).unref()
  }

  #isAtRest(): boolean {
    const { active } = this.#runs
    if (this.#hold === undefined || this.#hold.log.failure !== undefined || this.#warm.size > 0) return false
    if (active === undefined) return true
    // A program that waits is kept until it is parked; our own loop goes on from the log.
    const isOurs = active.capabilities !== undefined && !isForeign(active.capabilities)
    const isWaiting = this.state.head.run?.status === 'parked' && !active.abort.signal.aborted
    return isOurs && isWaiting && !hasRedactedCall(this.state)
  }

  async #passivate(): Promise<void> {
    if (this.#closed || this.#hold === undefined || !this.#isAtRest()) return
    await this.#runs.detach()
    await this.#letGo(this.#hold)
  }

  /** Somebody else in this process wants the thread. What goes on in it stays ours. */
  async #yield(): Promise<boolean> {
    const { active } = this.#runs
    // A run that is being cancelled is soon over.
    if (active?.abort.signal.aborted === true) await active.handle.done
    return this.#mailbox.post(async () => {
      if (this.#runs.active === undefined) await this.#warm.close()
      // Nothing can be written here any more: whoever wants it takes it up as it is on disk.
      if (this.#hold?.log.failure !== undefined) await this.#giveBack(this.#hold)
      else await this.#passivate()
      return this.#hold === undefined
    })
  }

  async #letGo(hold: ThreadHold): Promise<void> {
    try {
      await hold.letGo()
    } finally {
      // Nobody writes after this: what is shown as the thread's state is what is on disk.
      if (this.#hold === hold) this.#rested.state = hold.log.state
      this.#hold = undefined
    }
  }

  /** The log has failed: what was going on is left as it stands on disk, and nobody is kept waiting. */
  #lose(): void {
    const { log } = this.#hold ?? {}
    if (log?.failure !== undefined) this.#losses.emit({ onDisk: log.state, error: log.failure })
    this.#mailbox.post(() => this.#runs.lose()).catch(() => undefined)
  }

  #held(): ThreadHold {
    if (this.#hold === undefined) throw new EvenerError('closed', `Thread ${this.#options.thread} is not held.`)
    return this.#hold
  }

  #assertOpen(): void {
    if (this.#closed) throw new EvenerError('closed', `Thread ${this.#options.thread} was closed here.`)
    if (this.#hold?.log.failure !== undefined) throw this.#hold.log.failure
  }
}

const TOO_LATE: Answer = { decision: 'decline', reason: 'nobody answered in time' }

/** Records after which a run may be at rest without being over. */
const PAUSES: ReadonlySet<string> = new Set(['run.parked'])
