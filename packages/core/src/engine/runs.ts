import { randomUUID } from 'node:crypto'
import {
  EvenerError,
  toErrorData,
  type CancelReceipt,
  type Capabilities,
  type Part,
  type QueueItem,
  type RecordBody,
  type RunState,
  type UsageMetadata,
  type Wait,
} from '@evener/protocol'
import {
  cancelBodies,
  capabilitiesUntilCancelled,
  findAgent,
  fullReceipt,
  isForeign,
  knownAgent,
  NOTHING_TO_CANCEL,
  openCalls,
  openHandle,
  receiptOf,
  runEnd,
  type ActiveTurn,
  type NextTurn,
  type OpenHandle,
  type RunHandle,
  type RuntimeAgent,
} from './active-run.ts'
import { inflateParts } from './blobs.ts'
import { timerMs } from './check-options.ts'
import { answeredWaits, continuationInput, GO_ON } from './continuation.ts'
import type { Mailbox } from './mailbox.ts'
import { openTurn, runStart, type TurnStart } from './open-turn.ts'
import { ABANDON_AFTER_MS } from './patiently.ts'
import { reapProcess } from './reap-process.ts'
import { closeFailedStep, closeInterruptedRun, parkAsItStands, parkWithoutTurn, unaskedNote } from './recover.ts'
import { queueItem, submissionOf } from './run-queue.ts'
import { openRunSpending, tokensOf, type RunSpending } from './run-spending.ts'
import type { RunnableTool } from './runnable-tool.ts'
import type { ThreadHold } from './thread-hold.ts'
import type { HandOff, Submission, ThreadRuntimeOptions } from './thread-options.ts'
import type { ThreadPolicy } from './thread-policy.ts'
import { tellAgent } from './tell-agent.ts'
import { driveTurn } from './turn-drive.ts'
import { TurnSetup } from './turn-setup.ts'
import type { WarmSessions } from './warm-sessions.ts'

const MAX_ATTEMPTS = 3
const DEFAULT_PARK_AFTER_MS = 15 * 60_000

export interface RunsPorts {
  readonly options: ThreadRuntimeOptions
  readonly mailbox: Mailbox
  readonly policy: ThreadPolicy
  readonly warm: WarmSessions
  readonly hold: () => ThreadHold
  /** A run has ended or only waits: there may be nothing left to do. */
  readonly onRest: () => void
}

/** The runs of one thread, one at a time, turn by turn. Everything here happens in the thread's mailbox. */
export class Runs {
  readonly #ports: RunsPorts
  readonly #handles = new Map<string, OpenHandle>()
  #active: ActiveTurn | undefined
  /** Who takes the floor of a run whose program is gone, once all it had asked is answered. */
  #floor: { readonly runId: string; readonly to: Pick<NextTurn, 'agentId' | 'input'> } | undefined
  #parkTimer: NodeJS.Timeout | undefined
  /** The run whose agent could not be asked what it can do, and of which that was told. */
  #unasked: string | undefined
  #isClosed = false

  constructor(ports: RunsPorts) {
    this.#ports = ports
  }

  get active(): ActiveTurn | undefined {
    return this.#active
  }

  handleOf(runId: string): OpenHandle {
    const handle = this.#handles.get(runId) ?? openHandle(runId)
    this.#handles.set(runId, handle)
    return handle
  }

  agent(agentId: string): RuntimeAgent {
    return knownAgent(this.#ports.options.agents, agentId, this.#log.state)
  }

  /** What the run has to work with while nothing of it is at work here, such as after a restart. */
  async toolsAtRest(): Promise<readonly RunnableTool[]> {
    const { run } = this.#log.state.head
    if (run === null) return []
    const { agentId, runId } = run
    const turnId = run.turnId ?? runId
    const setup = new TurnSetup({ agent: this.agent(agentId), runId, turnId, state: () => this.#log.state })
    await setup.refresh()
    return setup.tools
  }

  async start(submission: Submission, before: readonly RecordBody[] = []): Promise<RunHandle> {
    const { agentId, by, parts } = submission
    const { beforeRun, newId = randomUUID } = this.#ports.options
    const agent = this.agent(agentId)
    const preface = beforeRun?.(this.#log.state) ?? []
    if (preface.length > 0) await this.#log.commit(preface)
    const { runId = newId() } = submission
    const turnId = newId()
    const { messageId = newId() } = submission
    const released: RecordBody[] = this.#log.state.head.queueHeld ? [{ type: 'queue.held', held: false }] : []
    const begun = runStart(submission, { runId, turnId, messageId, rules: this.#ports.policy.rulesInForce() })
    await this.#log.commit([...before, ...released, ...begun], {
      run: runId,
      turn: turnId,
      ...(by === undefined ? {} : { by }),
    })
    return this.#drive({ agent, handle: this.handleOf(runId), turnId, input: parts })
  }

  /** Into the run that is going on; while it waits, for later. */
  async steer(submission: Submission, run: RunState): Promise<RunHandle> {
    const active = this.#active
    const capabilities = active?.capabilities ?? (await capabilitiesUntilCancelled(active))
    const isLive = capabilities !== undefined && isForeign(capabilities)
    const lane = run.status === 'parked' || active === undefined ? 'follow-up' : 'steer'
    if (lane === 'steer' && isLive && capabilities.steer === 'none') {
      throw new EvenerError('unsupported', `${run.agentId} cannot be talked to while it works.`, {
        hint: 'Send a follow-up, or cancel the run first.',
      })
    }
    const item = queueItem(lane, submission, this.#ports.options.newId)
    await this.#log.commit([{ type: 'queue.added', item }])
    if (lane === 'steer' && isLive && active !== undefined) {
      active.telling = active.telling.then(() => this.#tell(active, capabilities, item.id)).catch(() => undefined)
    }
    return this.handleOf(run.runId)
  }

  handOff({ agentId, input }: HandOff): void {
    const active = this.#active
    this.agent(agentId)
    const { run } = this.#log.state.head
    if (active === undefined && run !== null && run.turnId === null) {
      this.#floor = { runId: run.runId, to: { agentId, input } }
      return
    }
    if (active === undefined || active.abort.signal.aborted) {
      throw new EvenerError('misuse', 'There is no run in which another agent could take the floor.', {
        hint: 'Start one with submit().',
      })
    }
    active.next = { agentId, input, before: [] }
  }

  /** The rows of the recovery table: what is found decides what is done. */
  async recover(): Promise<void> {
    const { run } = this.#log.state.head
    if (this.#active !== undefined) return
    if (run === null) return this.nextInQueue()
    // Before anything else: what the dead process left running must not go on beside us.
    for (const process of run.processes) await reapProcess(process)
    let capabilities: Capabilities | undefined
    try {
      capabilities = await this.#capabilitiesOf(run)
    } catch (error) {
      return this.#recoverUnasked(run, error)
    }
    if (capabilities !== undefined && isForeign(capabilities)) return this.#recoverForeign(run, capabilities)
    // Whoever is asked can still answer; what the agent needs for it is seen then.
    if (this.#hold.desk.isOnlyWaiting(capabilities === undefined)) return
    // Nobody knows whether an agent that is not known here began what it ordered.
    if (capabilities === undefined) return this.#giveUp(true)
    if (run.turnId === null || this.#isGivenUp(run)) return this.#giveUp(false)
    if (run.isStepOpen) await closeFailedStep(this.#log)
    await this.#resume(run, 'crash')
  }

  /** Says so before an answer is taken that could not be used. */
  async beforeAnswer(run: RunState): Promise<void> {
    const capabilities = await this.agent(run.agentId).driver.describe()
    // It could not be asked when the run was found.
    if (isForeign(capabilities) && run.turnId !== null) await this.#recoverForeign(run, capabilities)
  }

  /** Goes on after an answer that nobody in this process was waiting for. */
  async afterAnswer(run: RunState): Promise<void> {
    if (run.turnId === null) return this.#continue()
    const capabilities = await this.#capabilitiesOf(run)
    if (capabilities === undefined || isForeign(capabilities)) return this.#giveUp(true)
    return this.#resume(run, 'answer')
  }

  /**
   * What was asked meanwhile comes next, unless the last run was cancelled: then the user decides. Nobody waits for it to
   * be sent, so the thread tells when that fails; it stays queued.
   */
  async nextInQueue(): Promise<void> {
    const { head } = this.#log.state
    const [item] = head.queue
    if (item === undefined || head.queueHeld || this.#isClosed) return
    try {
      await this.#send(item, item.agentId ?? head.agentId)
    } catch (error) {
      if (this.#log.failure !== undefined) throw error
      await this.#log.commit([{ type: 'error', error: toErrorData(error) }])
    }
  }

  async #send(item: QueueItem, agentId: string | null): Promise<void> {
    const { agents, store } = this.#ports.options
    if (agentId === null || findAgent(agents, agentId, this.#log.state) === undefined) return
    const parts = await inflateParts(store, item.parts)
    const sent: RecordBody = { type: 'queue.removed', itemId: item.id, reason: 'sent' }
    await this.start(submissionOf({ ...item, parts }, agentId), [sent])
  }

  async cancel(active: ActiveTurn): Promise<CancelReceipt> {
    active.next = undefined
    active.openCalls ??= openCalls(this.#log.state)
    active.abort.abort()
    // An agent that neither goes on nor ends is left behind.
    const timer = setTimeout(() => this.#abandon(active), ABANDON_AFTER_MS)
    this.#hold.desk.dismiss()
    const given = await receiptOf(active)
    active.receipt ??= given
    await active.handle.done
    clearTimeout(timer)
    return active.receipt ?? NOTHING_TO_CANCEL
  }

  async cancelParked(): Promise<CancelReceipt> {
    const { run } = this.#log.state.head
    if (run === null) return NOTHING_TO_CANCEL
    const receipt = fullReceipt(this.#log.state, undefined, openCalls(this.#log.state))
    await this.#log.commit(cancelBodies(run.runId, receipt), { run: run.runId })
    const isOther = run.turnId === null || this.#unasked === run.runId
    await closeInterruptedRun(this.#log, 'aborted', isOther, await this.#turnUsage())
    this.#settle(run.runId, 'aborted')
    return receipt
  }

  /** Leaves the turn as it stands on record. What waits goes on waiting. */
  async detach(): Promise<void> {
    const active = this.#active
    if (active === undefined) return
    this.#active = undefined
    clearTimeout(this.#parkTimer)
    active.isDetached = true
    active.abort.abort()
    active.opened.resolve(undefined)
    this.#hold.desk.forget()
    await receiptOf(active)
    if (active.capabilities !== undefined && isForeign(active.capabilities))
      await this.#ports.warm.drop(active.agent.driver.id)
  }

  /** The log can no longer be written: the next process finds the run as it stands there. */
  async lose(): Promise<void> {
    const active = this.#active
    await this.detach()
    if (active !== undefined) this.#settle(active.runId, 'interrupted')
  }

  /** What is queued stays so. */
  stopQueue(): void {
    this.#isClosed = true
  }

  /** The run that was left at work is over. */
  async close(left: ActiveTurn | undefined): Promise<void> {
    const isOther = left?.capabilities !== undefined && isForeign(left.capabilities)
    const { run } = this.#log.state.head
    if (run !== null && run.status !== 'parked' && this.#log.failure === undefined)
      await closeInterruptedRun(this.#log, 'interrupted', isOther, await this.#turnUsage())
  }

  get #hold(): ThreadHold {
    return this.#ports.hold()
  }

  get #log(): ThreadHold['log'] {
    return this.#hold.log
  }

  async #recoverForeign(run: RunState, capabilities: Capabilities): Promise<void> {
    const waits = this.#waitsOf(run)
    const canBeAsked = capabilities.resume !== 'none' && waits.every((wait) => wait.resumable !== false)
    if (run.turnId === null) return waits.length === 0 ? this.#continue() : undefined
    if (waits.length > 0 && canBeAsked) return parkWithoutTurn(this.#log, await this.#turnUsage())
    await this.#giveUp(true)
  }

  /** Its agent may be there again later: until then its questions stay, and without any there is nothing to wait for. */
  async #recoverUnasked(run: RunState, error: unknown): Promise<void> {
    const { agentId, runId } = run
    if (this.#unasked !== runId) this.#log.add(unaskedNote(agentId, error), { run: runId })
    this.#unasked = runId
    if (this.#waitsOf(run).length === 0) return this.#giveUp(true)
    if (run.status !== 'parked') await parkAsItStands(this.#log)
  }

  /** Goes on with a run that an earlier process began. */
  async #resume(run: RunState, reason: 'crash' | 'answer'): Promise<void> {
    if (run.turnId === null) return
    const agent = this.agent(run.agentId)
    const attempt = run.attempt + (reason === 'crash' ? 1 : 0)
    await this.#log.commit([{ type: 'run.resumed', runId: run.runId, attempt, reason }], { run: run.runId })
    const { turnId } = run
    this.#drive({ agent, handle: this.handleOf(run.runId), turnId, input: [], attempt, spent: await this.#spent() })
  }

  /** All is answered that a program had asked which is gone: it goes on in a turn of its own. */
  async #continue(): Promise<void> {
    const { run } = this.#log.state.head
    if (run === null || this.#waitsOf(run).length > 0) return
    const answered = await answeredWaits(this.#ports.options.store, this.#log.stream, run)
    const { runId, attempt } = run
    const floor = this.#floor?.runId === runId ? this.#floor.to : undefined
    this.#floor = undefined
    const resumed: RecordBody = { type: 'run.resumed', runId, attempt, reason: 'answer' }
    await this.#passFloor(
      { ...(floor ?? { agentId: run.agentId, input: continuationInput(answered) }), before: [resumed] },
      this.handleOf(runId),
    )
  }

  /** An agent that cannot take the floor ends the run: nobody else would. */
  async #passFloor(next: NextTurn, handle: OpenHandle): Promise<void> {
    const { runId } = handle
    try {
      await this.#nextTurn(next, handle)
    } catch (error) {
      if (this.#active !== undefined || this.#log.failure !== undefined) throw error
      this.#log.add({ type: 'error', error: toErrorData(error) }, { run: runId })
      await closeInterruptedRun(this.#log, 'error')
      this.#settle(runId, 'error')
      await this.nextInQueue()
    }
  }

  async #nextTurn({ agentId, input, before }: NextTurn, handle: OpenHandle): Promise<void> {
    const agent = this.agent(agentId)
    const { newId = randomUUID } = this.#ports.options
    const turnId = newId()
    const said = input ?? (isForeign(await agent.driver.describe()) ? GO_ON : [])
    const message: RecordBody[] =
      said.length === 0
        ? []
        : [{ type: 'message.added', messageId: newId(), role: 'user', parts: said, meta: { synthetic: true } }]
    await this.#log.commit([...before, ...message, { type: 'turn.started', turnId, agentId }], {
      run: handle.runId,
      turn: turnId,
    })
    this.#drive({ agent, handle, turnId, input: said, spent: await this.#spent() })
  }

  #spent(): Promise<RunSpending> {
    return openRunSpending(this.#ports.options.store, this.#log)
  }

  /** What a turn used that ends without having said so itself. */
  async #turnUsage(): Promise<UsageMetadata | undefined> {
    await this.#log.flush()
    const { turnUsage } = await this.#spent()
    return turnUsage.totalTokens === 0 ? undefined : tokensOf(turnUsage)
  }

  #drive(start: TurnStart): RunHandle {
    const hold = this.#hold
    const active = openTurn(start, hold, this.#ports.options.priceOf)
    this.#active = active
    active.driven = this.#take(active, hold, start.input)
    return start.handle
  }

  /** Lets the driver take its turn; never rejects. */
  async #take(active: ActiveTurn, hold: ThreadHold, input: readonly Part[]): Promise<void> {
    const { mailbox, options, policy, warm } = this.#ports
    let failure: unknown
    try {
      const onAsk = (): void => this.#parkLater(active)
      const onLimit = (): void => void this.cancel(active).catch(() => undefined)
      await driveTurn(active, { options, hold, mailbox, policy, warm, onAsk, onLimit }, input)
    } catch (error) {
      failure = error
    }
    active.opened.resolve(undefined)
    if (active.isDetached) return
    await mailbox.post(() => this.#end(active, failure)).catch(() => this.#drop(active))
  }

  #abandon(active: ActiveTurn): void {
    active.isDetached = true
    active.receipt = { ...NOTHING_TO_CANCEL, ...active.receipt, how: 'gone' }
    const { agent, capabilities, session } = active
    const end = async (): Promise<void> => {
      // It is still at work with its turn: it must not be given the next one.
      if (capabilities !== undefined && isForeign(capabilities) && session !== undefined)
        await this.#ports.warm.drop(agent.driver.id, session)
      await this.#end(active, undefined)
    }
    this.#ports.mailbox.post(end).catch(() => this.#drop(active))
  }

  /** The end could not be written: the log has failed, and the next process finds the run as it stands there. */
  #drop(active: ActiveTurn): void {
    if (this.#active === active) this.#active = undefined
    this.#settle(active.runId, 'interrupted')
  }

  async #end(active: ActiveTurn, failure: unknown): Promise<void> {
    if (this.#active !== active) return
    clearTimeout(this.#parkTimer)
    const { runId, recorder, next } = active
    const isAborted = active.abort.signal.aborted
    if (isAborted) active.receipt = fullReceipt(this.#log.state, active.receipt, active.openCalls)
    const { receipt = NOTHING_TO_CANCEL } = active
    if (failure !== undefined && !isAborted) {
      this.#log.add({ type: 'error', error: toErrorData(failure) }, { run: runId, turn: active.turnId })
    }
    const goesOn = next !== undefined && failure === undefined && !isAborted
    const waitIds = this.#hold.desk.waitsOf(runId)
    const cancelled = waitIds.map((waitId): RecordBody => ({ type: 'wait.cancelled', waitId, reason: 'abort' }))
    const outcome = await recorder.finish(failure !== undefined, (ended) => [
      ...cancelled,
      ...(ended === 'aborted' ? cancelBodies(runId, receipt) : []),
      ...(goesOn ? [] : [runEnd(runId, ended, isAborted ? undefined : failure, recorder.output)]),
    ])
    this.#active = undefined
    this.#hold.desk.forget()
    if (goesOn && active.abort.signal.aborted) {
      // Somebody has cancelled the run while the end of this turn was written.
      active.receipt = await this.cancelParked()
      return this.#ports.onRest()
    }
    if (goesOn) return this.#passFloor(next, active.handle)
    this.#settle(runId, outcome)
    await this.nextInQueue()
    this.#ports.onRest()
  }

  #settle(runId: string, outcome: Parameters<OpenHandle['settle']>[0]): void {
    this.#handles.get(runId)?.settle(outcome)
    this.#handles.delete(runId)
  }

  async #giveUp(isOther: boolean): Promise<void> {
    const runId = await closeInterruptedRun(this.#log, 'interrupted', isOther, await this.#turnUsage())
    if (runId !== null) this.#settle(runId, 'interrupted')
    await this.nextInQueue()
  }

  #isGivenUp({ attempt }: RunState): boolean {
    return attempt >= (this.#ports.options.maxAttempts ?? MAX_ATTEMPTS)
  }

  #waitsOf({ runId }: { readonly runId: string }): Wait[] {
    return [...this.#log.state.head.waits].filter((wait) => wait.run === runId)
  }

  async #capabilitiesOf(run: RunState): Promise<Capabilities | undefined> {
    return findAgent(this.#ports.options.agents, run.agentId, this.#log.state)?.driver.describe()
  }

  #tell(active: ActiveTurn, capabilities: Capabilities, itemId: string): Promise<void> {
    const { log } = this.#hold
    const { mailbox } = this.#ports
    return tellAgent(active, capabilities, itemId, { log, mailbox, isActive: () => this.#active === active })
  }

  /** A program that only waits is closed after a while; its question stays and is answered as if it had died. */
  #parkLater(active: ActiveTurn): void {
    const { mailbox, options } = this.#ports
    const { parkAfter = DEFAULT_PARK_AFTER_MS } = options
    clearTimeout(this.#parkTimer)
    this.#parkTimer = setTimeout(() => {
      mailbox.post(() => this.#parkNow(active)).catch(() => undefined)
    }, timerMs(parkAfter)).unref()
  }

  async #parkNow(active: ActiveTurn): Promise<void> {
    if (this.#active !== active || !this.#hold.desk.isWaitedFor) return
    const waits = this.#waitsOf(active)
    const isResumable = waits.length > 0 && waits.every((wait) => wait.resumable === true)
    // One that is still at work, or could not be taken up again, keeps its process.
    if (!isResumable || !this.#hold.desk.isOnlyWaiting(true)) return this.#parkLater(active)
    await this.detach()
    await parkWithoutTurn(this.#log, await this.#turnUsage())
    this.#ports.onRest()
  }
}
