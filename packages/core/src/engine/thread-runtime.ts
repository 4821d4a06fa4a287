import { randomUUID } from 'node:crypto'
import { setImmediate as nextTask } from 'node:timers/promises'
import {
  asJson,
  EvenerError,
  noFaults,
  toErrorData,
  type Answer,
  type CancelReceipt,
  type ConfigChangedRecord,
  type Decision,
  type DeltaFrame,
  type FaultPoints,
  type Fence,
  type Host,
  type JsonObject,
  type Part,
  type QueueItem,
  type RecordBody,
  type RunOutcome,
  type RunState,
  type Store,
  type ThreadState,
  type ToolCallRequest,
  type Turn,
  type TurnDefaults,
} from '@evener/protocol'
import {
  ABANDON_AFTER_MS,
  findAgent,
  receiptOf,
  type ActiveRun,
  type RunHandle,
  type RuntimeAgent,
  type RuntimeAgents,
} from './active-run.ts'
import { inflateParts } from './blobs.ts'
import { CallRunner } from './call-runner.ts'
import { readHistory } from './history.ts'
import { Mailbox } from './mailbox.ts'
import type { ProcessOwner } from './ownership.ts'
import { reapProcess } from './reap-process.ts'
import type { RunnableTool } from './runnable-tool.ts'
import { closeFailedStep, closeInterruptedRun } from './recover.ts'
import { ThreadLog, type LogEntry, type RecordOrigin, type ThreadLogOptions } from './thread-log.ts'
import { TurnRecorder } from './turn-recorder.ts'
import { TurnSetup } from './turn-setup.ts'
import { WaitDesk } from './wait-desk.ts'

/** Longer than this a stream may not keep timers, sockets and aborts waiting. */
const YIELD_AFTER_MS = 8
const MAX_ATTEMPTS = 3

export interface ThreadRuntimeOptions extends Pick<ThreadLogOptions, 'now' | 'onListenerFailure'> {
  readonly store: Store
  readonly owner: ProcessOwner
  readonly thread: string
  readonly agents: RuntimeAgents
  /** The rules. Without them everything is allowed. */
  readonly decide?: (call: ToolCallRequest, state: ThreadState) => Decision
  readonly faults?: FaultPoints
  /** How often a run is taken up again after a crash before it is given up. */
  readonly maxAttempts?: number
}

export interface Submission {
  readonly parts: readonly Part[]
  readonly agentId: string
  readonly by?: string
  /** Recorded with the run, and given to its tools and to the functions that say what a turn works with. */
  readonly requestContext?: JsonObject
  /** What is to hold for the turns of this run, whatever the agent says. */
  readonly turn?: TurnDefaults
  readonly messageId?: string
  readonly runId?: string
}

/** What may be put on record from outside; runs, calls and waits have their own ways. */
export type ControlFact = Extract<
  RecordBody,
  { type: 'message.added' | 'tasks.changed' | 'config.changed' | 'queue.added' | 'queue.removed' | 'note' }
>

/**
 * Everything that happens to one thread in this process: one command at a time, one run at a time, all of it through the
 * log. What a run needs to go on stands there, so another process can take it up.
 */
export class ThreadRuntime {
  readonly #options: ThreadRuntimeOptions
  readonly #fence: Fence
  readonly #log: ThreadLog
  readonly #mailbox = new Mailbox()
  readonly #desk: WaitDesk
  #active: ActiveRun | undefined
  #closed = false

  private constructor(options: ThreadRuntimeOptions, fence: Fence, log: ThreadLog) {
    this.#options = options
    this.#fence = fence
    this.#log = log
    this.#desk = new WaitDesk(options.store, log)
  }

  /** Takes the thread, and takes up what a dead process left of it. */
  static async open(options: ThreadRuntimeOptions): Promise<ThreadRuntime> {
    const { owner, store, thread } = options
    owner.enter(thread)
    try {
      const fence = await owner.claim(thread)
      const log = await ThreadLog.open({
        store,
        stream: thread,
        fence,
        ...(options.now === undefined ? {} : { now: options.now }),
        ...(options.faults === undefined ? {} : { faults: options.faults }),
        ...(options.onListenerFailure === undefined ? {} : { onListenerFailure: options.onListenerFailure }),
      })
      const runtime = new ThreadRuntime(options, fence, log)
      await runtime.#mailbox.post(() => runtime.#recover())
      return runtime
    } catch (error) {
      owner.leave(thread)
      throw error
    }
  }

  get state(): ThreadState {
    return this.#log.state
  }

  /** The run that is going on in this process; `undefined` also for one that waits without a process. */
  get run(): RunHandle | undefined {
    return this.#active
  }

  onEntry(listener: (entry: LogEntry) => unknown): () => void {
    return this.#log.onEntry(listener)
  }

  onFrame(listener: (frame: DeltaFrame) => unknown): () => void {
    return this.#log.onFrame(listener)
  }

  /** Starts a run. While one is going on the words are steered into it; while one waits they are kept for later. */
  submit(submission: Submission): Promise<RunHandle> {
    return this.#mailbox.post(async () => {
      this.#assertOpen()
      const { run } = this.#log.state.head
      if (run === null) return this.#start(submission, [])
      const lane = run.status === 'parked' ? 'follow-up' : 'steer'
      await this.#log.commit([{ type: 'queue.added', item: queueItem(lane, submission) }])
      return this.#active ?? { runId: run.runId, done: new Promise(() => undefined) }
    })
  }

  /** Kept until the run is over; sent at once when there is none. */
  followUp(submission: Submission): Promise<void> {
    return this.#mailbox.post(async () => {
      this.#assertOpen()
      if (this.#log.state.head.run === null) await this.#start(submission, [])
      else await this.#log.commit([{ type: 'queue.added', item: queueItem('follow-up', submission) }])
    })
  }

  configure(change: Omit<ConfigChangedRecord, 'type'>): Promise<void> {
    return this.#mailbox.post(async () => {
      this.#assertOpen()
      await this.#log.commit([{ type: 'config.changed', ...change }])
    })
  }

  /** Puts on record what the control layer has to say: tasks, signals, notes. */
  record(facts: readonly ControlFact[], origin: RecordOrigin = {}): Promise<void> {
    return this.#mailbox.post(async () => {
      this.#assertOpen()
      await this.#log.commit(facts, origin)
    })
  }

  /** Answers a wait, once, whoever asked and whether or not that process still lives. */
  answer(waitId: string, answer: Answer, by?: string): Promise<void> {
    return this.#mailbox.post(async () => {
      this.#assertOpen()
      const { run } = this.#log.state.head
      // Said before the answer is taken: it could not be used.
      if (this.#active === undefined && run !== null) this.#agent(run.agentId)
      const isHeard = await this.#desk.answer(waitId, answer, by)
      if (isHeard || this.#active !== undefined || run === null) return
      if (await this.#canContinue(run)) return this.#resume('answer')
      await closeInterruptedRun(this.#log)
      await this.#nextInQueue()
    })
  }

  /** Ends the run: waits are cancelled, open calls closed, the queue is held until the next user act. */
  async cancel(): Promise<CancelReceipt> {
    // In its turn: a run that is just being started is not a run that waits.
    const active = await this.#mailbox.post(async () => this.#active)
    if (active === undefined) return this.#mailbox.post(() => this.#cancelParked())
    active.abort.abort()
    // An agent that neither goes on nor ends is left behind.
    const timer = setTimeout(() => this.#abandon(active), ABANDON_AFTER_MS)
    this.#desk.dismiss()
    active.receipt ??= await receiptOf(active)
    await active.done
    clearTimeout(timer)
    return active.receipt ?? NOTHING_TO_CANCEL
  }

  /** Resolves when nothing is going on any more: the run is over or waits, and nothing queued was left to send. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#mailbox.post(async () => undefined)
      const active = this.#active
      const isAtRest = active === undefined || this.#log.state.head.run?.status === 'parked'
      if (isAtRest || this.#log.failure !== undefined) return
      const parked = Promise.withResolvers<void>()
      const stop = this.onEntry((entry) => {
        if (entry.kind === 'record' && entry.record.body.type === 'run.parked') parked.resolve()
      })
      await Promise.race([active.done, parked.promise])
      stop()
    }
  }

  /** Lets go of the thread. Waits go on waiting; a run that was at work is ended as interrupted. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const active = this.#active
    if (active !== undefined) {
      active.isDetached = true
      active.abort.abort()
      this.#desk.forget()
      await receiptOf(active)
    }
    await this.#mailbox.post(async () => {
      const { run } = this.#log.state.head
      if (run !== null && run.status !== 'parked' && this.#log.failure === undefined)
        await closeInterruptedRun(this.#log)
      await this.#log.close()
      await this.#options.owner.release(this.#options.thread, this.#fence)
    })
    this.#options.owner.leave(this.#options.thread)
  }

  async #start(submission: Submission, before: readonly RecordBody[]): Promise<RunHandle> {
    const agent = this.#agent(submission.agentId)
    const runId = submission.runId ?? randomUUID()
    const turnId = randomUUID()
    const { head } = this.#log.state
    const released: RecordBody[] = head.queueHeld ? [{ type: 'queue.held', held: false }] : []
    const { parts } = submission
    await this.#log.commit(
      [
        ...before,
        ...released,
        {
          type: 'run.started',
          runId,
          agentId: submission.agentId,
          rules: head.rules,
          ...(submission.requestContext === undefined ? {} : { requestContext: submission.requestContext }),
          ...(submission.turn === undefined ? {} : { turn: submission.turn }),
        },
        { type: 'message.added', messageId: submission.messageId ?? randomUUID(), role: 'user', parts },
        { type: 'turn.started', turnId, agentId: submission.agentId },
      ],
      { run: runId, turn: turnId, ...(submission.by === undefined ? {} : { by: submission.by }) },
    )
    return this.#drive(agent, runId, turnId, parts)
  }

  /** Goes on with a run that an earlier process began. */
  async #resume(reason: 'crash' | 'answer'): Promise<void> {
    const { run } = this.#log.state.head
    if (run === null || run.turnId === null) return
    const agent = this.#agent(run.agentId)
    const attempt = run.attempt + (reason === 'crash' ? 1 : 0)
    await this.#log.commit([{ type: 'run.resumed', runId: run.runId, attempt, reason }], { run: run.runId })
    this.#drive(agent, run.runId, run.turnId, [], attempt)
  }

  /** The rows of the recovery table: what is found decides what is done. */
  async #recover(): Promise<void> {
    const { run } = this.#log.state.head
    if (run === null) return this.#nextInQueue()
    // Before anything else: what the dead process left running must not go on beside us.
    for (const process of run.processes) await reapProcess(process)
    // Whoever is asked can still answer; what the agent needs for it is seen then.
    if (this.#desk.isOnlyWaiting()) return
    if (!(await this.#canContinue(run)) || run.attempt >= (this.#options.maxAttempts ?? MAX_ATTEMPTS)) {
      await closeInterruptedRun(this.#log)
      return this.#nextInQueue()
    }
    if (run.isStepOpen) await closeFailedStep(this.#log)
    await this.#resume('crash')
  }

  /** Our own loop goes on from the log; other agents can only begin anew. */
  async #canContinue(run: RunState): Promise<boolean> {
    const agent = findAgent(this.#options.agents, run.agentId, this.#log.state)
    return agent !== undefined && run.turnId !== null && (await agent.driver.describe()).hostTools === 'inproc'
  }

  #drive(agent: RuntimeAgent, runId: string, turnId: string, input: readonly Part[], attempt?: number): RunHandle {
    const abort = new AbortController()
    const { promise: done, resolve: settle } = Promise.withResolvers<RunOutcome>()
    const recorder = new TurnRecorder({
      log: this.#log,
      runId,
      turnId,
      agentId: agent.driver.id,
      signal: abort.signal,
      resume: attempt !== undefined,
    })
    const active: ActiveRun = {
      runId,
      turnId,
      agent,
      recorder,
      setup: new TurnSetup({ agent, runId, turnId, state: () => this.#log.state }),
      abort,
      done,
      settle,
      driven: Promise.resolve(),
      cancel: undefined,
      receipt: undefined,
      isDetached: false,
    }
    this.#active = active
    active.driven = this.#take(active, input, attempt)
    return active
  }

  /** Lets the driver take its turn; never rejects. */
  async #take(active: ActiveRun, input: readonly Part[], attempt: number | undefined): Promise<void> {
    const { agent, runId, turnId, recorder } = active
    let failure: unknown
    try {
      const binding = this.#log.state.head.bindings[agent.driver.id] ?? null
      const session = await agent.driver.open(binding, this.#host(active))
      active.cancel = () => session.cancel()
      try {
        let lastYield = performance.now()
        const turn = { ...(await active.setup.refresh()), ...requestContextOf(active.setup) }
        const resumed = attempt === undefined ? {} : { resumed: { attempt } }
        for await (const event of session.run({
          ...turn,
          turnId,
          runId,
          threadId: this.#log.stream,
          input,
          ...resumed,
        })) {
          if (active.isDetached) return
          const written = recorder.record(event)
          if (written !== undefined) await written
          if (event.type === 'tool-result') this.#desk.parkIfWaiting()
          if (performance.now() - lastYield > YIELD_AFTER_MS) {
            await nextTask()
            lastYield = performance.now()
          }
        }
      } finally {
        await session.close()
      }
    } catch (error) {
      failure = error
    }
    if (active.isDetached) return
    await this.#mailbox.post(() => this.#end(active, failure)).catch(() => this.#drop(active))
  }

  #abandon(active: ActiveRun): void {
    active.isDetached = true
    this.#mailbox.post(() => this.#end(active, undefined)).catch(() => this.#drop(active))
  }

  /** The end could not be written: the log has failed, and the next process finds the run as it stands there. */
  #drop(active: ActiveRun): void {
    if (this.#active === active) this.#active = undefined
    active.settle('interrupted')
  }

  async #end(active: ActiveRun, failure: unknown): Promise<void> {
    const { runId, recorder, receipt } = active
    const { waits } = this.#log.state.head
    if (failure !== undefined && !active.abort.signal.aborted) {
      this.#log.add({ type: 'error', error: toErrorData(failure) }, { run: runId, turn: active.turnId })
    }
    const outcome = await recorder.finish(failure !== undefined, (ended) => [
      ...Object.values(waits)
        .filter((wait) => wait.run === runId)
        .map((wait): RecordBody => ({ type: 'wait.cancelled', waitId: wait.id, reason: 'abort' })),
      ...(ended === 'aborted' ? this.#cancelBodies(runId, receipt ?? NOTHING_TO_CANCEL) : []),
      {
        type: 'run.ended',
        runId,
        outcome: ended,
        ...(failure === undefined || ended === 'aborted' ? {} : { error: toErrorData(failure) }),
      },
    ])
    this.#active = undefined
    this.#desk.forget()
    active.settle(outcome)
    await this.#nextInQueue()
  }

  /** What was asked meanwhile comes next, unless the last run was cancelled: then the user decides. */
  async #nextInQueue(): Promise<void> {
    const { head } = this.#log.state
    const [item] = head.queue
    if (item === undefined || head.queueHeld || this.#closed) return
    const agentId = item.agentId ?? head.agentId
    if (agentId === null || findAgent(this.#options.agents, agentId, this.#log.state) === undefined) return
    const parts = await inflateParts(this.#options.store, item.parts)
    const { by, messageId, requestContext, turn } = item
    const submission = {
      parts,
      agentId,
      ...(by === undefined ? {} : { by }),
      ...(messageId === undefined ? {} : { messageId }),
      ...(requestContext === undefined ? {} : { requestContext }),
      ...(turn === undefined ? {} : { turn }),
    }
    await this.#start(submission, [{ type: 'queue.removed', itemId: item.id, reason: 'sent' }])
  }

  #cancelBodies(runId: string, receipt: CancelReceipt): RecordBody[] {
    const queued = this.#log.state.head.queue.map((item) => item.id)
    return [
      { type: 'run.cancelled', runId, receipt: { ...receipt, queued } },
      ...(queued.length === 0 ? [] : [{ type: 'queue.held', held: true } as const]),
    ]
  }

  async #cancelParked(): Promise<CancelReceipt> {
    const { run } = this.#log.state.head
    if (run === null) return NOTHING_TO_CANCEL
    await this.#log.commit(this.#cancelBodies(run.runId, NOTHING_TO_CANCEL), { run: run.runId })
    await closeInterruptedRun(this.#log, 'aborted')
    return NOTHING_TO_CANCEL
  }

  #host(active: ActiveRun): Host {
    const { runId, turnId, agent, recorder, abort, setup } = active
    const origin = { run: runId, turn: turnId }
    const decide = (call: ToolCallRequest): Decision =>
      this.#options.decide?.(describeCall(call, setup.tools), this.#log.state) ?? {
        policy: 'allow',
        reason: 'no rule applies',
      }
    const runner = new CallRunner({
      log: this.#log,
      recorder,
      runId,
      turnId,
      agentId: agent.driver.id,
      ...requestContextOf(setup),
      tools: () => setup.tools,
      signal: abort.signal,
      faults: this.#options.faults ?? noFaults,
      decide,
      ask: (wait, call) => this.#desk.ask(wait, call, origin),
    })
    return {
      signal: abort.signal,
      now: this.#options.now ?? Date.now,
      log: () => undefined,
      // The agent knows what has been said up to here; what others say later has to be handed over to it.
      bind: (binding) => {
        const syncedTo = this.#log.state.head.seq
        this.#log.add({ type: 'binding.changed', binding: { ...binding, syncedTo } }, origin)
      },
      noteProcess: async (process) =>
        void (await this.#log.commit([{ type: 'turn.process', turnId, process }], origin)),
      noteActivity: (activity) => {
        const data = asJson({ activity }) as JsonObject
        this.#log.add({ type: 'note', kind: 'info', text: activity.mapper, data }, origin)
      },
      ask: (wait) => this.#desk.ask(wait, undefined, origin),
      decide,
      history: (query) => readHistory(this.#options.store, this.#log, query),
      listen: () => this.#mailbox.post(() => this.#hear(origin)),
      turn: () => setup.refresh(),
      listTools: () => setup.tools,
      callTool: (call) => runner.run(call),
    }
  }

  /** Moves what was steered into the conversation. */
  async #hear(origin: { run: string; turn: string }): Promise<boolean> {
    const items = this.#log.state.head.queue.filter((item) => item.lane === 'steer')
    if (items.length === 0 || this.#log.state.head.queueHeld) return false
    await this.#log.commit(
      items.flatMap((item): RecordBody[] => [
        { type: 'queue.removed', itemId: item.id, reason: 'heard' },
        { type: 'message.added', messageId: item.messageId ?? randomUUID(), role: 'user', parts: item.parts },
      ]),
      origin,
    )
    return true
  }

  #agent(agentId: string): RuntimeAgent {
    const { agents } = this.#options
    const agent = findAgent(agents, agentId, this.#log.state)
    if (agent !== undefined) return agent
    throw new EvenerError('not-found', `There is no agent "${agentId}".`, {
      ...(typeof agents === 'function' ? {} : { hint: `Known: ${Object.keys(agents).join(', ') || 'none'}.` }),
    })
  }

  #assertOpen(): void {
    if (this.#closed) throw new EvenerError('closed', `Thread ${this.#options.thread} was closed here.`)
    if (this.#log.failure !== undefined) throw this.#log.failure
  }
}

const NOTHING_TO_CANCEL: CancelReceipt = { how: 'gone', calls: [], orphansKilled: 0, queued: [] }

/** Rules are about categories too, which the model does not know. */
function describeCall(call: ToolCallRequest, tools: readonly RunnableTool[]): ToolCallRequest {
  const tool = tools.find((candidate) => candidate.name === call.toolName)
  return {
    ...call,
    ...(tool?.category === undefined ? {} : { category: tool.category }),
    ...(tool?.annotations === undefined ? {} : { annotations: tool.annotations }),
  }
}

function requestContextOf({ requestContext }: TurnSetup): Pick<Turn, 'requestContext'> {
  return requestContext === undefined ? {} : { requestContext }
}

function queueItem(lane: QueueItem['lane'], submission: Submission): QueueItem {
  const { runId: _runId, ...item } = submission
  return { id: randomUUID(), lane, ...item }
}
