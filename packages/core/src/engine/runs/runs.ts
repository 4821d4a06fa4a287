import { InspanError, toErrorData } from '@inspan/protocol'
import type { Capabilities } from '@inspan/protocol/driver'
import {
  handOffId,
  type CancelReceipt,
  type QueueItem,
  type RecordBody,
  type RunOutcome,
  type RunState,
  type ThreadState,
} from '@inspan/protocol/log'
import {
  cancelBodies,
  capabilitiesUntilCancelled,
  findAgent,
  fullReceipt,
  isForeign,
  isWaitingForChildren,
  knownAgent,
  NOTHING_TO_CANCEL,
  openCalls,
  RunHandles,
  type ActiveTurn,
  type NextTurn,
  type RunHandle,
  type RuntimeAgent,
} from '../turns/active-run.ts'
import { inflateParts } from '../log/blobs.ts'
import { allSettled, type Settle } from '../commands/ledger.ts'
import { closeInterruptedRun, type RunClosing } from '../turns/close-interrupted.ts'
import { GO_ON } from '../waits/continuation.ts'
import { CurrentTurn } from '../turns/current-turn.ts'
import { runStart } from '../turns/open-turn.ts'
import { describeInTime, inTime } from '../turns/time-limits.ts'
import { handOffFact, heardBodies, queueItem, steeredItems, submissionOf, unheardFacts } from './run-queue.ts'
import { noSuchRun } from './opinions.ts'
import { noSuchDoor } from './no-such-door.ts'
import { RunRecovery } from './run-recovery.ts'
import { openRunSpending, openTurnUsage } from './run-spending.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import type { RunsPorts } from './runs-ports.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import type { HandOff, Submission } from '../thread-options.ts'
import { deliverToAgent } from '../turns/deliver-to-agent.ts'
import { TurnSetup } from '../turns/turn-setup.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'

/**
 * Carries out the runs of one thread, one at a time, turn by turn. Works in the thread's mailbox, except for `cancel`,
 * `detach` and `handOff`, which act at once.
 */
export class Runs {
  readonly #ports: RunsPorts
  readonly #handles = new RunHandles()
  readonly #turn: CurrentTurn
  readonly #recovery: RunRecovery
  #isClosed = false

  constructor(ports: RunsPorts) {
    this.#ports = ports
    this.#turn = new CurrentTurn(ports, {
      onEnd: (active, outcome, next) => this.#afterTurn(active, outcome, next),
      onLost: (runId) => this.#handles.settle(runId, 'interrupted'),
    })
    this.#recovery = new RunRecovery({
      ports,
      handles: this.#handles,
      drive: (start) => void this.#turn.drive(start),
      passFloor: (next, runId) => this.#passFloor(next, runId),
      nextInQueue: () => this.#nextInQueue(),
    })
  }

  get active(): ActiveTurn | undefined {
    return this.#turn.active
  }

  handleOf(runId: string): RunHandle {
    return this.#handles.of(runId)
  }

  outcome(runId: string, { head }: ThreadState): Promise<RunOutcome> | RunOutcome {
    const { lastRun, run, stream } = head
    if (run?.runId === runId) return this.#handles.of(runId).done
    if (lastRun?.runId !== runId) throw noSuchRun(stream, runId)
    return lastRun.outcome
  }

  /** Settles the handle of a run that another runtime or process has ended. */
  settle(runId: string, outcome: RunOutcome): void {
    this.#handles.settle(runId, outcome)
  }

  /**
   * Returns the tools the agent of the open run would have while no turn of it is active here, e.g. after a restart.
   */
  async toolsAtRest(): Promise<readonly RunnableTool[]> {
    const { run } = this.#log.state.head
    if (run === null) return []
    const { agentId, runId } = run
    if (this.#ports.doors.of(run) === undefined) throw noSuchDoor(this.#log.stream, run.door)
    const turnId = run.turnId ?? runId
    const setup = new TurnSetup({ agent: this.#agent(agentId), runId, turnId, state: () => this.#log.state })
    const hint = 'See that its tools can be listed, and try again, or answer for this once.'
    await inTime(
      setup.refresh(),
      () => new InspanError('io', `"${agentId}" did not say in time which tools it has.`, { hint }),
    )
    return setup.tools
  }

  async start(
    submission: Submission,
    { before = [], settle }: { readonly before?: readonly RecordBody[]; readonly settle?: Settle } = {},
  ): Promise<RunHandle> {
    const { agentId, by, parts } = submission
    const { doors } = this.#ports
    const door = doors.named(submission.door)
    if (door === undefined) throw noSuchDoor(this.#log.stream, submission.door)
    const { beforeRun, newId = timeOrderedId } = door
    const agent = knownAgent(door.agents, agentId, this.#log.state)
    const preface = [...unheardFacts(this.#log.state, newId), ...(beforeRun?.(this.#log.state) ?? [])]
    if (preface.length > 0) await this.#log.commit(preface)
    const { runId = newId() } = submission
    const turnId = newId()
    const { messageId = newId() } = submission
    const released: RecordBody[] = this.#log.state.head.queueHeld ? [{ type: 'queue.held', held: false }] : []
    doors.serve(runId, door)
    const rules = this.#ports.policy.rulesInForce(door)
    const begun = runStart(submission, { runId, turnId, messageId, rules, door: door.door })
    const origin = { run: runId, turn: turnId, ...(by === undefined ? {} : { by }) }
    await this.#log.commit([...before, ...released, ...begun], origin, settle?.({ status: 'started', runId }))
    return this.#turn.drive({ agent, handle: this.#handles.of(runId), turnId, input: parts })
  }

  /** Steers the message into the working run; while the run is parked, queues it as a follow-up. */
  async steer(
    submission: Submission,
    run: RunState,
    settle: Settle,
  ): Promise<{ readonly handle: RunHandle; readonly itemId: string }> {
    const { active } = this
    const capabilities = active?.capabilities ?? (await capabilitiesUntilCancelled(active))
    const isLive = capabilities !== undefined && isForeign(capabilities)
    const isParked = run.status === 'parked' && !isWaitingForChildren(this.#log.state)
    const lane = isParked || active === undefined ? 'follow-up' : 'steer'
    if (lane === 'steer' && isLive && capabilities.steer === 'none') {
      throw new InspanError('unsupported', `${run.agentId} cannot be talked to while it works.`, {
        hint: 'Send a follow-up, or cancel the run first.',
      })
    }
    const item = this.queueItem(lane, submission)
    const { id: itemId } = item
    const settled = settle({ status: 'queued', itemId, runId: run.runId })
    await this.#log.commit([{ type: 'queue.added', item }], {}, settled)
    if (lane === 'steer' && isLive && active !== undefined) this.#deliver(active, capabilities, itemId)
    return { handle: this.#handles.of(run.runId), itemId }
  }

  /** Returns the queue item for a message that cannot be heard now. It keeps the name of its door. */
  queueItem(lane: QueueItem['lane'], { door: key, ...submission }: Submission): QueueItem {
    const from = this.#ports.doors.named(key)
    if (from === undefined) throw noSuchDoor(this.#log.stream, key)
    const item = queueItem(lane, submission, from.newId)
    return from.door === undefined ? item : { ...item, door: from.door }
  }

  /** Returns what the agent of the open run can do; `undefined` without a run, or if it cannot be asked. */
  async capabilities(state: ThreadState): Promise<Capabilities | undefined> {
    const { run } = state.head
    if (run === null || this.active?.capabilities !== undefined) return this.active?.capabilities
    const agent = findAgent(this.#ports.options.agents, run.agentId, state)
    return agent === undefined ? undefined : describeInTime(agent.driver).catch(() => undefined)
  }

  /** Passes on what was steered into a foreign agent while it waited, now that it goes on. */
  deliverSteered(active: ActiveTurn): void {
    const { capabilities } = active
    if (capabilities === undefined || !isForeign(capabilities)) return
    // An agent that has to be restarted for it would drop what was just approved.
    if (capabilities.steer === 'restart' || capabilities.steer === 'none') return
    for (const { id } of steeredItems(this.#log.state)) this.#deliver(active, capabilities, id)
  }

  /** Hands off the floor. Takes effect at once, for an agent that continues by itself; resolves when it is on disk. */
  async handOff(to: HandOff): Promise<void> {
    const { active } = this
    this.#agent(to.agentId)
    const { run } = this.#log.state.head
    const isOpen =
      active === undefined
        ? run?.turnId === null
        : !active.abort.signal.aborted && active.recorder.outcome === undefined
    if (run === null || !isOpen) {
      throw new InspanError('misuse', 'There is no run in which another agent could take the floor.', {
        hint: 'Start one with submit().',
      })
    }
    const { agentId, input = GO_ON } = to
    if (active !== undefined) active.next = { agentId, input, before: [], isHandOff: true }
    await this.#log.commit([handOffFact(run, to)], {
      run: run.runId,
      ...(active === undefined ? {} : { turn: active.turnId }),
    })
  }

  /** Recovers the run that a dead process left, or sends the next queued message. */
  async recover(): Promise<void> {
    const { run } = this.#log.state.head
    if (this.active !== undefined) return
    if (run === null) return this.#nextInQueue()
    return this.#recovery.recover(run)
  }

  beforeAnswer(run: RunState): Promise<Capabilities> {
    return this.#recovery.beforeAnswer(run)
  }

  afterAnswer(run: RunState, capabilities: Capabilities): Promise<void> {
    return this.#recovery.afterAnswer(run, capabilities)
  }

  /** `settle`: called with the commit that ends the run. */
  cancel(active: ActiveTurn, settle?: Settle): Promise<CancelReceipt> {
    if (settle !== undefined) active.settles.push(settle)
    return this.#turn.cancel(active)
  }

  async cancelParked(...settles: readonly Settle[]): Promise<CancelReceipt> {
    const { run } = this.#log.state.head
    if (run === null) return NOTHING_TO_CANCEL
    const receipt = fullReceipt(this.#log.state, undefined, openCalls(this.#log.state))
    const isOther = run.turnId === null || this.#recovery.isUnasked(run.runId)
    await this.#closeInterrupted('aborted', isOther, {
      before: cancelBodies(run.runId, receipt),
      extras: allSettled(settles),
    })
    this.#handles.settle(run.runId, 'aborted')
    await this.#nextInQueue()
    return receipt
  }

  detach(): Promise<void> {
    return this.#turn.detach()
  }

  /** Drops the active turn because the log has failed: the next process finds the run as it is on disk. */
  async lose(): Promise<void> {
    const { active } = this
    await this.detach()
    if (active !== undefined) this.#handles.settle(active.runId, 'interrupted')
  }

  /** Stops sending queued messages; they stay queued. */
  stopQueue(): void {
    this.#isClosed = true
  }

  /** Ends the run of a turn that was detached while it worked. */
  async close(left: ActiveTurn | undefined): Promise<void> {
    const isOther = left?.capabilities !== undefined && isForeign(left.capabilities)
    const { run } = this.#log.state.head
    const isLive = run?.status === 'running' || isWaitingForChildren(this.#log.state)
    if (isLive && this.#log.failure === undefined) await this.#closeInterrupted('interrupted', isOther)
  }

  /** Like `close`, for those who go on listening. */
  async interrupt(left: ActiveTurn): Promise<void> {
    await this.close(left)
    if (this.#log.state.head.run?.runId !== left.runId) this.#handles.settle(left.runId, 'interrupted')
  }

  get #log(): ThreadHold['log'] {
    return this.#ports.hold().log
  }

  #agent(agentId: string): RuntimeAgent {
    return knownAgent(this.#ports.options.agents, agentId, this.#log.state)
  }

  /**
   * Sends the next queued message. If the last run was cancelled, the user decides, unless the door says otherwise. Nobody
   * awaits this, so a failure is recorded as an error; the message stays queued.
   */
  async #nextInQueue(): Promise<void> {
    const { head } = this.#log.state
    const item = [...head.queue].find(({ door, lane }) => {
      const from = this.#ports.doors.named(door)
      return head.queueHeld ? from?.sendsAfterCancel === true && lane === 'follow-up' : from !== undefined
    })
    if (item === undefined || this.#isClosed) return
    try {
      await this.#send(item)
    } catch (error) {
      if (this.#log.failure !== undefined) throw error
      await this.#log.commit([{ type: 'error', error: toErrorData(error) }])
    }
  }

  async #send(item: QueueItem): Promise<void> {
    const { agentOfQueued, agents = {}, store = this.#ports.options.store } = this.#ports.doors.named(item.door) ?? {}
    const agentId = agentOfQueued?.(this.#log.state) ?? item.agentId ?? this.#log.state.head.agentId
    if (agentId === null || findAgent(agents, agentId, this.#log.state) === undefined) return
    const parts = await inflateParts(store, this.#log.state.head.lineage, item.parts)
    const sent: RecordBody = { type: 'queue.removed', itemId: item.id, reason: 'sent' }
    await this.start(submissionOf({ ...item, parts }, agentId), { before: [sent] })
  }

  async #afterTurn(active: ActiveTurn, outcome: RunOutcome, next: NextTurn | undefined): Promise<void> {
    const { runId } = active
    if (next !== undefined && !active.abort.signal.aborted) return this.#passFloor(next, runId)
    if (next === undefined) {
      this.#handles.settle(runId, outcome)
      await this.#nextInQueue()
    } else if (!active.isLeft) {
      // The run was cancelled while the end of this turn was written. After a detach whoever closes the thread ends it.
      active.receipt = await this.cancelParked(...active.settles.splice(0))
    }
    this.#ports.onRest()
  }

  /** Starts the next turn of a run. Ends the run when the agent cannot take the floor: nobody else would. */
  async #passFloor(next: NextTurn, runId: string): Promise<void> {
    try {
      await this.#nextTurn(next, runId)
    } catch (failure) {
      if (this.active !== undefined || this.#log.failure !== undefined) throw failure
      const error = toErrorData(failure)
      this.#log.add({ type: 'error', error }, { run: runId })
      await closeInterruptedRun(this.#log, 'error', { error })
      this.#handles.settle(runId, 'error')
      await this.#nextInQueue()
    }
  }

  async #nextTurn({ agentId, input, before, steered = [], isHandOff }: NextTurn, runId: string): Promise<void> {
    const agent = this.#agent(agentId)
    const { newId = timeOrderedId, store } = this.#ports.options
    const turnId = newId()
    const message: RecordBody[] =
      input.length === 0
        ? []
        : [{ type: 'message.added', messageId: newId(), role: 'user', parts: input, meta: { synthetic: true } }]
    const heard = steered.flatMap((item) => heardBodies(item, newId))
    const taken: RecordBody[] =
      isHandOff === true ? [{ type: 'queue.removed', itemId: handOffId({ runId }), reason: 'heard' }] : []
    await this.#log.commit([...before, ...taken, ...message, ...heard, { type: 'turn.started', turnId, agentId }], {
      run: runId,
      turn: turnId,
    })
    const words = await inflateParts(store, this.#log.state.head.lineage, [
      ...input,
      ...steered.flatMap(({ parts }) => parts),
    ])
    const spent = await openRunSpending(store, this.#log)
    const inputParts = words.map((part, index) => ({ ...part, id: String(index) }))
    this.#turn.drive({ agent, handle: this.#handles.of(runId), turnId, input: inputParts, spent })
  }

  async #closeInterrupted(
    outcome: RunOutcome,
    isOther: boolean,
    more: Pick<RunClosing, 'before' | 'extras'> = {},
  ): Promise<void> {
    const usage = await openTurnUsage(this.#ports.options.store, this.#log)
    await closeInterruptedRun(this.#log, outcome, { ...more, isForeign: isOther, usage })
  }

  /** Tells the agent what was steered, one item after the other. */
  #deliver(active: ActiveTurn, capabilities: Capabilities, itemId: string): void {
    const { mailbox, options } = this.#ports
    const { newId = timeOrderedId, store } = options
    const ports = { store, log: this.#log, mailbox, newId, isActive: () => this.active === active }
    active.delivery = active.delivery
      .then(() => deliverToAgent(active, capabilities, itemId, ports))
      .catch(() => undefined)
  }
}
