import { InspanError, toErrorData, type Part } from '@inspan/protocol'
import type { AgentLimit } from '@inspan/protocol/driver'
import { unlessAborted } from '@inspan/protocol/internal'
import type { CancelReceipt, RecordBody, RunOutcome } from '@inspan/protocol/log'
import {
  cancelBodies,
  closedCalls,
  fullReceipt,
  isForeign,
  nextOf,
  NOTHING_TO_CANCEL,
  openCalls,
  receiptOf,
  runEnd,
  waitsOf,
  type ActiveTurn,
  type NextTurn,
  type RunHandle,
} from './active-run.ts'
import { allSettled } from '../commands/ledger.ts'
import { timerMs } from '../checks/check-options.ts'
import { parkWithoutTurn } from './close-interrupted.ts'
import { NOTHING_TO_DELIVER, openTurn, type TurnStart } from './open-turn.ts'
import { ABANDON_AFTER_MS, EndTimeout, withEndTimeout } from './time-limits.ts'
import { openTurnUsage } from '../runs/run-spending.ts'
import type { RunsPorts } from '../runs/runs-ports.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { driveTurn } from './turn-drive.ts'

const DEFAULT_PARK_AFTER_MS = 15 * 60_000

export interface TurnListener {
  /** The end of the turn is on record, and the end of its run too, unless another turn follows. */
  readonly onEnd: (active: ActiveTurn, outcome: RunOutcome, next: NextTurn | undefined) => Promise<void>
  /** The log has failed, so the end of the turn is not written. The next process finds the run as it is on disk. */
  readonly onLost: (runId: string) => void
}

/** The active turn of this process, from the start of its driver until it has ended, is parked or detached. */
export class CurrentTurn {
  readonly #ports: RunsPorts
  readonly #listener: TurnListener
  #active: ActiveTurn | undefined
  #parkTimer: NodeJS.Timeout | undefined

  constructor(ports: RunsPorts, listener: TurnListener) {
    this.#ports = ports
    this.#listener = listener
  }

  get active(): ActiveTurn | undefined {
    return this.#active
  }

  drive(start: TurnStart): RunHandle {
    const hold = this.#hold
    const active = openTurn(start, hold, this.#ports.options)
    this.#active = active
    active.driven = this.#take(active, hold, start.input)
    return start.handle
  }

  async cancel(active: ActiveTurn): Promise<CancelReceipt> {
    active.next = undefined
    active.openCalls ??= openCalls(this.#log.state)
    active.abort.abort()
    // An agent that does not end in time is abandoned.
    const timer = setTimeout(() => this.#abandon(active), ABANDON_AFTER_MS)
    this.#hold.waitManager.dismiss()
    using patience = new EndTimeout()
    const given = await receiptOf(active, patience)
    active.receipt ??= given
    await active.handle.done
    clearTimeout(timer)
    return active.receipt ?? NOTHING_TO_CANCEL
  }

  /** Stops the turn here and leaves it as it is on record. Its waits stay open. */
  async detach(): Promise<void> {
    const active = this.#active
    if (active === undefined) return
    this.#active = undefined
    clearTimeout(this.#parkTimer)
    active.isDetached = true
    active.isLeft = true
    active.abort.abort(letGo(this.#log.stream))
    active.opened.resolve(undefined)
    this.#hold.waitManager.forget()
    using patience = new EndTimeout()
    await receiptOf(active, patience)
    if (active.capabilities !== undefined && isForeign(active.capabilities))
      await patience.with(this.#ports.warm.drop(active.agent.driver.id))
  }

  get #hold(): ThreadHold {
    return this.#ports.hold()
  }

  get #log(): ThreadHold['log'] {
    return this.#hold.log
  }

  /** Runs the turn and ends it; never rejects. */
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
    // A steered message that the agent is just hearing belongs to this run and must not be said again in the next.
    if (active.delivery !== NOTHING_TO_DELIVER)
      await withEndTimeout(unlessAborted(active.abort.signal, active.delivery))
    if (active.isDetached) return
    await mailbox.post(() => this.#end(active, failure)).catch(() => this.#drop(active))
  }

  #abandon(active: ActiveTurn): void {
    active.isDetached = true
    active.receipt = { ...NOTHING_TO_CANCEL, ...active.receipt, how: 'gone' }
    const { agent, capabilities, session } = active
    const end = async (): Promise<void> => {
      // The session still works on its turn and must not get the next one. It has had its time, so nobody waits.
      if (capabilities !== undefined && isForeign(capabilities) && session !== undefined)
        void this.#ports.warm.drop(agent.driver.id, session)
      await this.#end(active, undefined)
    }
    this.#ports.mailbox.post(end).catch(() => this.#drop(active))
  }

  #drop(active: ActiveTurn): void {
    if (this.#active === active) this.#active = undefined
    this.#listener.onLost(active.runId)
  }

  async #end(active: ActiveTurn, failure: unknown): Promise<void> {
    if (this.#active !== active) return
    clearTimeout(this.#parkTimer)
    const { runId, recorder } = active
    const isAborted = active.abort.signal.aborted
    if (isAborted) {
      const { state } = this.#log
      active.receipt = fullReceipt(state, active.receipt, closedCalls(state, active.openCalls ?? []))
    }
    const { receipt = NOTHING_TO_CANCEL } = active
    if (failure !== undefined && !isAborted) {
      active.failure = toErrorData(failure)
      this.#log.add({ type: 'error', error: active.failure }, { run: runId, turn: active.turnId })
    }
    const next = failure === undefined && !isAborted ? nextOf(active, this.#log.state) : undefined
    const waitIds = this.#hold.waitManager.waitsOf(runId)
    this.#hold.waitManager.forget()
    const cancelled = waitIds.map((waitId): RecordBody => ({ type: 'wait.cancelled', waitId, reason: 'abort' }))
    const limit = next === undefined && active.setup.defaults.onLimit === 'park' ? active.limit : undefined
    const outcome = await recorder.finish(
      failure !== undefined,
      (ended) => [
        ...cancelled,
        ...(ended === 'aborted' ? cancelBodies(runId, receipt) : []),
        ...(next === undefined
          ? limit !== undefined && ended === 'error'
            ? parkedUntil(limit, active, this.#ports.options.newId?.() ?? timeOrderedId())
            : [runEnd(runId, ended, ended === 'error' ? active.failure : undefined, recorder.output)]
          : []),
      ],
      () => (next === undefined ? allSettled(active.settles.splice(0)) : {}),
    )
    this.#active = undefined
    if (limit !== undefined && outcome === 'error') this.#ports.onRest()
    else await this.#listener.onEnd(active, outcome, next)
  }

  /** Schedules closing a program that only waits. Its wait stays and is answered as if the program had died. */
  #parkLater(active: ActiveTurn): void {
    const { mailbox, options } = this.#ports
    const { parkAfter = DEFAULT_PARK_AFTER_MS } = options
    clearTimeout(this.#parkTimer)
    this.#parkTimer = setTimeout(() => {
      mailbox.post(() => this.#parkNow(active)).catch(() => undefined)
    }, timerMs(parkAfter)).unref()
  }

  async #parkNow(active: ActiveTurn): Promise<void> {
    if (this.#active !== active || !this.#hold.waitManager.isWaitedFor) return
    const waits = waitsOf(this.#log.state, active)
    const isResumable = waits.length > 0 && waits.every((wait) => wait.resumable === true)
    // An agent that is still working, or that could not be resumed, keeps its process.
    if (!isResumable || !this.#hold.waitManager.isOnlyWaiting(true)) return this.#parkLater(active)
    await this.detach()
    await parkWithoutTurn(this.#log, await openTurnUsage(this.#ports.options.store, this.#log))
    this.#ports.onRest()
  }
}

/** Parks the run until its agent's usage limit ends. What it is then told is decided by the recovery. */
function parkedUntil({ name, resetsAt = 0 }: AgentLimit, { agent, runId }: ActiveTurn, id: string): RecordBody[] {
  const subject = { agentId: agent.driver.id }
  const description = `Waits until limit "${name}" ends.`
  return [
    { type: 'wait.opened', wait: { id, kind: 'limit', subject, description, due: resetsAt, resumable: true } },
    { type: 'run.parked', runId, waitIds: [id] },
  ]
}

/** The abort reason of a turn that is detached rather than cancelled. */
function letGo(thread: string): InspanError {
  return new InspanError('closed', `Thread ${thread} was released: work in progress is left as it is.`)
}
