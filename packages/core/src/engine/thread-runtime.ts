import { InspanError, type Answer, type Wait } from '@inspan/protocol'
import type { Capabilities, MemoryThread } from '@inspan/protocol/driver'
import type { CancelReceipt, DeltaFrame, RunOutcome, ThreadState } from '@inspan/protocol/log'
import type { CommandKey } from '@inspan/protocol/store'
import type { CommandResult, RewindCommand } from '@inspan/protocol/wire'
import { Commands, checkKey } from './commands/commands.ts'
import { executePendingOf } from './commands/pending.ts'
import type { SubmissionCommand, ThreadCommand } from './commands/thread-command.ts'
import { NOTHING_TO_CANCEL, type RunHandle } from './turns/active-run.ts'
import { answerWhenDue, DueClock } from './waits/due-clock.ts'
import { checkFacts } from './checks/check-facts.ts'
import { checkRuntimeOptions } from './checks/check-options.ts'
import { checkHandOff } from './checks/check-submission.ts'
import { Emitter } from '../common/emitter.ts'
import { Mailbox } from '../common/mailbox.ts'
import type { RecordOrigin } from './log/record-body.ts'
import { Doors } from './threads/doors.ts'
import type { RunnableTool } from './calls/runnable-tool.ts'
import { Runs } from './runs/runs.ts'
import { ThreadHold } from './threads/thread-hold.ts'
import { ThreadLease } from './threads/thread-lease.ts'
import { reportUnhandled, type LogEntry, type ThreadLoss } from './log/thread-log.ts'
import { feedbackNote, readOpinions, scoreNote, type Feedback, type RunOpinions, type Score } from './runs/opinions.ts'
import type {
  ConfigChange,
  ControlFact,
  Door,
  HandOff,
  Rewound,
  Submission,
  ThreadRuntimeOptions,
} from './thread-options.ts'
import { ThreadPolicy } from './rules/thread-policy.ts'
import { WarmSessions } from './turns/warm-sessions.ts'

type AfterTaken = (runtime: ThreadRuntime) => void | Promise<void>
type Opener = Door | null

/**
 * Runs one thread in this process: one command at a time and one run at a time, all recorded in the log. The log holds
 * everything a run needs to go on, so another process can resume it. An idle thread is released (passivated); the next
 * command takes it again.
 */
export class ThreadRuntime {
  readonly #options: ThreadRuntimeOptions
  readonly #mailbox = new Mailbox()
  readonly #entries: Emitter<LogEntry>
  readonly #frames: Emitter<DeltaFrame>
  readonly #policy: ThreadPolicy
  readonly #warm: WarmSessions
  readonly #runs: Runs
  readonly #commands: Commands
  readonly #clock: DueClock
  readonly #doors: Doors
  readonly #losses: Emitter<ThreadLoss>
  readonly #lease: ThreadLease
  /** The pending `idle()` calls. `close()` resolves them, because nothing they could wait for comes after it. */
  readonly #idlers = new Set<() => void>()

  private constructor(options: ThreadRuntimeOptions, hold: ThreadHold, opener: Opener) {
    const { now = Date.now, onListenerFailure = reportUnhandled } = options
    this.#options = options
    this.#doors = new Doors(options, opener)
    this.#entries = new Emitter(onListenerFailure)
    this.#frames = new Emitter(onListenerFailure)
    this.#losses = new Emitter(onListenerFailure)
    this.#policy = new ThreadPolicy(this.#doors, () => this.state)
    this.#warm = new WarmSessions(() => this.#lease.rest())
    const optionsOfRun = (): ThreadRuntimeOptions => this.#doors.current(this.state)
    this.#runs = new Runs({
      get options() {
        return optionsOfRun()
      },
      doors: this.#doors,
      mailbox: this.#mailbox,
      policy: this.#policy,
      warm: this.#warm,
      hold: () => this.#lease.held(),
      onRest: () => this.#lease.rest(),
    })
    const settle = (wait: Wait): Promise<void> => this.answer(wait.id, answerWhenDue(wait), 'timeout')
    const approvalTimeout = (): number | undefined => optionsOfRun().approvalTimeout
    this.#clock = new DueClock(approvalTimeout, now, settle, () => this.state)
    this.#lease = new ThreadLease(
      {
        options,
        mailbox: this.#mailbox,
        doors: this.#doors,
        runs: this.#runs,
        warm: this.#warm,
        clock: this.#clock,
        entries: this.#entries,
        frames: this.#frames,
        losses: this.#losses,
        onWoken: () => void this.executePending().catch(() => undefined),
      },
      hold.log.state,
    )
    this.#commands = new Commands({
      get options() {
        return optionsOfRun()
      },
      doors: this.#doors,
      runs: this.#runs,
      policy: this.#policy,
      lease: this.#lease,
      close: () => this.close(),
    })
    this.#lease.use(hold)
  }

  /**
   * Takes ownership of the thread and recovers the run that a dead process left. `onTaken` is called before the
   * recovery, so that listeners added there miss nothing. `by`: the door it is known by; `null` if it carries out no runs.
   */
  static async open(options: ThreadRuntimeOptions, onTaken?: AfterTaken, by: Opener = options): Promise<ThreadRuntime> {
    checkRuntimeOptions(options)
    const { owner, thread } = options
    owner.enter(thread)
    try {
      const failed = Promise.withResolvers<void>()
      const hold = await ThreadHold.take(options, options.redact, failed.resolve)
      const runtime = new ThreadRuntime(options, hold, by)
      void failed.promise.then(() => runtime.#lease.lose())
      owner.onTaken(thread, { wanted: () => runtime.#lease.yield(), lost: () => void runtime.abandon() })
      await runtime.#lease.takeUp(async () => onTaken?.(runtime))
      if (by !== null) await runtime.executePending()
      runtime.#lease.rest()
      return runtime
    } catch (error) {
      owner.leave(thread)
      throw error
    }
  }

  /** The current state. While this process does not hold the thread: the last state it knows. */
  get state(): ThreadState {
    return this.#lease.state
  }

  /** The state on disk, to which the next frame applies. */
  get committed(): ThreadState {
    return this.#lease.committed
  }

  /** Returns the state after all commands given so far, e.g. for a fork, which must not miss a rule. */
  stateInTurn(): Promise<ThreadState> {
    return this.#mailbox.post(async () => this.state)
  }

  /** The run whose turn is active in this process; `undefined` also for a run that is parked without a process. */
  get run(): RunHandle | undefined {
    return this.#runs.active?.handle
  }

  /** Resolves when a run ends, even if it is parked or another process began it; at once if it was the last one. */
  async outcome(runId: string): Promise<RunOutcome> {
    return this.#runs.outcome(runId, this.state)
  }

  /** Returns the tool with this name in the active turn, if there is one. */
  toolInUse(name: string): RunnableTool | undefined {
    return this.#runs.active?.setup.tools.find((tool) => tool.name === name)
  }

  /** Whether this process owns the thread. Nobody owns an idle thread. */
  get isHeld(): boolean {
    return this.#lease.isHeld
  }

  /** Subscribes to all entries in one order: deltas at once, records when shown. Returns the unsubscribe function. */
  onEntry(listener: (entry: LogEntry) => unknown): () => void {
    return this.#entries.subscribe(listener)
  }

  onFrame(listener: (frame: DeltaFrame) => unknown): () => void {
    return this.#frames.subscribe(listener)
  }

  /** Subscribes to write failures: something was shown that is not on disk. Only what is on disk counts. */
  onLost(listener: (loss: ThreadLoss) => unknown): () => void {
    return this.#losses.subscribe(listener)
  }

  /**
   * Does what a user can do to a thread, and returns what was decided: a run goes on after that and is awaited by its
   * id. With a key, the command is carried out once, however often it is sent and whatever dies meanwhile. Throws only
   * if nobody knows yet, e.g. because the thread is held elsewhere or the disk is full: then the command stays accepted.
   */
  async execute(command: ThreadCommand, key?: CommandKey): Promise<CommandResult> {
    if (key !== undefined) checkKey(key)
    return this.#commands.execute(command, key)
  }

  /** Carries out the commands for this thread that were accepted and not yet carried out. */
  executePending(): Promise<void> {
    return executePendingOf(this.#options, (command, key) => this.#commands.executeAccepted(command, key))
  }

  /**
   * Emits what other processes wrote while this one does not hold the thread. Takes nothing. `to`: a seq that the thread
   * is known to have reached.
   */
  follow(to?: number): Promise<void> {
    return this.#lease.follow(to)
  }

  /** Settles the waits that are due. Each settles once, whoever else finds it due. */
  settleDue(): Promise<void> {
    return this.#clock.settleDue()
  }

  /** Starts a run. While one is working, the message is steered into it; a parked one gets it as a follow-up. */
  submit(submission: Submission): Promise<RunHandle> {
    return this.#say({ type: 'submit', submission })
  }

  /** Steers the open run, which hears it before its next step; a parked run stays parked. Without a run, starts one. */
  steer(submission: Submission): Promise<RunHandle> {
    return this.#say({ type: 'steer', submission })
  }

  /** Queues the message until the run is over; starts a run at once when none is open. */
  async followUp(submission: Submission): Promise<void> {
    await this.#say({ type: 'follow-up', submission })
  }

  async #say(command: SubmissionCommand): Promise<RunHandle> {
    const { handle } = await this.#commands.carryOut(command)
    if (handle === undefined) throw new InspanError('misuse', 'A message needs a run.')
    return handle
  }

  /**
   * Changes the config. Rules, grants and yolo apply from the moment of the call. Resolves when they are on disk. `door`:
   * the key of the door that decides what a mode or model brings along.
   */
  async configure(change: ConfigChange, door?: string): Promise<void> {
    await this.#commands.carryOut({ type: 'configure', change, ...(door === undefined ? {} : { door }) })
  }

  /** Records facts of the control layer: tasks, signals, notes. */
  async record(facts: readonly ControlFact[], origin: RecordOrigin = {}): Promise<void> {
    checkFacts(facts)
    const changes = facts.filter((fact) => fact.type === 'config.changed')
    for (const change of changes) this.#policy.check(change)
    const written = changes.map((change) => this.#policy.announce(change))
    try {
      await this.#lease.inTurn(async ({ log }) => void (await log.commit(facts, origin)))
    } finally {
      for (const done of written) done()
    }
  }

  /** Attaches a score to a run of this thread, whether it is over or not. */
  async addScore(runId: string, score: Score): Promise<void> {
    await this.opinions(runId).then(() => this.record([scoreNote(score)], { run: runId }))
  }

  async addFeedback(runId: string, feedback: Feedback): Promise<void> {
    await this.opinions(runId).then(() => this.record([feedbackNote(feedback)], { run: runId }))
  }

  /** The scores and feedback of a run. */
  async opinions(runId: string): Promise<RunOpinions> {
    return readOpinions(this.#options.store, this.#options.thread, runId)
  }

  /** Moves the conversation, the files or both back to before a message. Nothing is lost: `undo` takes it back. */
  async rewind(to: Omit<RewindCommand, 'type'>): Promise<Rewound> {
    const { result, undo } = await this.#commands.carryOut({ ...to, type: 'rewind' })
    const report = result.status === 'done' ? result.result : undefined
    return { ...(report === undefined ? {} : { report }), ...(undo === undefined ? {} : { undo }) }
  }

  /** Runs a change such as an erase as a command of its own. */
  change<T>(task: (log: ThreadHold['log']) => Promise<T>): Promise<T> {
    return this.#lease.inTurn(({ log }) => task(log))
  }

  /** Runs a change of what the model sees, such as a compaction, as a command of its own. */
  changeContext<T>(task: (thread: MemoryThread) => Promise<T>): Promise<T> {
    return this.#lease.inTurn(({ context }) => task(context.thread))
  }

  /** Answers a wait, once, whoever asked and whether or not the process that asked is still alive. */
  async answer(waitId: string, answer: Answer, by?: string): Promise<void> {
    await this.#commands.carryOut({ type: 'answer', waitId, answer, ...(by === undefined ? {} : { by }) })
  }

  /**
   * Called from inside a run, e.g. by a tool: once all calls of the step have results, another agent takes the floor in
   * the same run. When this resolves, the hand-off is on disk and happens exactly once, even if this process dies.
   */
  async handOff(to: HandOff): Promise<void> {
    this.#lease.assertOpen()
    checkHandOff(to)
    await this.#runs.handOff(to)
  }

  /** Ends the run: waits are cancelled, open calls closed, the queue is held until the next user act. */
  async cancel(): Promise<CancelReceipt> {
    const { receipt = NOTHING_TO_CANCEL } = await this.#commands.carryOut({ type: 'cancel' })
    return receipt
  }

  /** Resolves when the run is over or parked and nothing queued is left to send. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#mailbox.post(async () => undefined)
      const { active } = this.#runs
      const isAtRest = active === undefined || this.state.head.run?.status === 'parked'
      if (isAtRest || this.#lease.failure !== undefined) return
      const parked = Promise.withResolvers<void>()
      const stop = this.onEntry((entry) => {
        if (entry.kind === 'record' && entry.record.body.type === 'run.parked') parked.resolve()
      })
      this.#idlers.add(parked.resolve)
      await Promise.race([active.handle.done, parked.promise])
      this.#idlers.delete(parked.resolve)
      stop()
    }
  }

  /** What the agent of the open run can do; `undefined` without a run, or if it cannot be asked. */
  async capabilities(): Promise<Capabilities | undefined> {
    return this.#runs.capabilities(this.state)
  }

  /** Whether the door carries out this run, or did so. Others only watch. */
  isServedBy(door: Door, runId: string): boolean {
    return this.#doors.serves(door, runId)
  }

  /** Lets another door in and recovers its run, if that is open. `onAttached` comes first: listeners miss nothing. */
  async attach(door: Door, onAttached?: AfterTaken): Promise<void> {
    this.#doors.add(door)
    this.#lease.redactWith(this.#doors.redact)
    try {
      await onAttached?.(this)
      await this.#lease.dropFailed()
      await this.#lease.inTurn(() => this.#runs.recover())
    } catch (error) {
      this.#doors.remove(door)
      throw error
    }
  }

  /** A door leaves. Only a run of its own is interrupted; it stays parked if it waits. */
  async detach(door: Door): Promise<void> {
    const { active } = this.#runs
    const isOwn = active !== undefined && this.#doors.serves(door, active.runId)
    if (isOwn && active.abort.signal.aborted) await active.handle.done
    const given = this.#doors.remove(door)
    if (isOwn) await this.#runs.detach()
    await this.#mailbox.post(async () => {
      if (!this.#lease.isHeld || this.#lease.failure !== undefined) return
      if (isOwn) await this.#runs.interrupt(active)
      await this.#warm.close(given)
      await this.#runs.recover()
    })
  }

  /** Ends what goes on here without a record of it: the process that takes the thread next continues the run. */
  async abandon(): Promise<void> {
    await this.#lease.abandon()
  }

  /** Releases the thread. Open waits stay open; a run that was working ends as interrupted. */
  async close(): Promise<void> {
    try {
      await this.#lease.close()
    } finally {
      for (const resolve of this.#idlers) resolve()
    }
  }
}
