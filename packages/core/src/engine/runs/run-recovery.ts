import type { Capabilities, RecordBody, RunState } from '@evener/protocol'
import {
  findAgent,
  handedOff,
  isForeign,
  knownAgent,
  waitsOf,
  type NextTurn,
  type RunHandles,
} from '../turns/active-run.ts'
import {
  closeFailedStep,
  closeInterruptedRun,
  closeTurn,
  parkAsItStands,
  parkWithoutTurn,
  unaskedNote,
} from '../turns/close-interrupted.ts'
import { answeredWaits, continuationInput } from '../waits/continuation.ts'
import type { TurnStart } from '../turns/open-turn.ts'
import { describeInTime } from '../turns/patiently.ts'
import { reapProcess } from './reap-process.ts'
import { steeredItems } from './run-queue.ts'
import { openRunSpending, openTurnUsage } from './run-spending.ts'
import type { RunsPorts } from './runs-ports.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'

const MAX_ATTEMPTS = 3

export interface RecoveryPorts extends Pick<RunsPorts, 'options' | 'hold'> {
  readonly handles: RunHandles
  readonly drive: (start: TurnStart) => void
  /** Somebody takes the floor of the run in a turn of its own. */
  readonly passFloor: (next: NextTurn, runId: string) => Promise<void>
  readonly nextInQueue: () => Promise<void>
}

/** Takes up a run of which nothing is at work in this process, after a crash or after an answer, or gives it up. */
export class RunRecovery {
  readonly #ports: RecoveryPorts
  /** The run whose agent could not be asked what it can do, and of which that was told. */
  #unasked: string | undefined

  constructor(ports: RecoveryPorts) {
    this.#ports = ports
  }

  /** The rows of the recovery table: what is found decides what is done. */
  async recover(run: RunState): Promise<void> {
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
    if (this.#ports.hold().desk.isOnlyWaiting(capabilities === undefined)) return this.#park(run)
    // Nobody knows whether an agent that is not known here began what it ordered.
    if (capabilities === undefined) return this.#giveUp(true)
    if (this.#isGivenUp(run)) return this.#giveUp(false)
    if (run.turnId === null) return this.#isHandedOff ? this.#continue('crash') : this.#giveUp(false)
    if (run.isStepOpen) await closeFailedStep(this.#log)
    await this.#resume(run, 'crash')
  }

  /** Says so before an answer is taken that could not be used. Gives what the agent can do, which is not asked again. */
  async beforeAnswer(run: RunState): Promise<Capabilities> {
    const { agents } = this.#ports.options
    const capabilities = await describeInTime(knownAgent(agents, run.agentId, this.#log.state).driver)
    // It could not be asked when the run was found.
    if (isForeign(capabilities) && run.turnId !== null) await this.#recoverForeign(run, capabilities)
    return capabilities
  }

  /** Goes on after an answer that nobody in this process was waiting for. */
  async afterAnswer(run: RunState, capabilities: Capabilities): Promise<void> {
    if (run.turnId === null) return this.#continue('answer')
    return isForeign(capabilities) ? this.#giveUp(true) : this.#resume(run, 'answer')
  }

  /** Nobody could ask the agent of the run what it can do, so it may have begun what it ordered. */
  isUnasked(runId: string): boolean {
    return this.#unasked === runId
  }

  get #log(): ThreadHold['log'] {
    return this.#ports.hold().log
  }

  get #isHandedOff(): boolean {
    return handedOff(this.#log.state) !== undefined
  }

  async #recoverForeign(run: RunState, capabilities: Capabilities): Promise<void> {
    const waits = waitsOf(this.#log.state, run)
    const canBeAsked = capabilities.resume !== 'none' && waits.every((wait) => wait.resumable !== false)
    if (run.turnId === null) return waits.length === 0 ? this.#continue('answer') : undefined
    if (waits.length > 0 && canBeAsked) {
      return parkWithoutTurn(this.#log, await openTurnUsage(this.#ports.options.store, this.#log))
    }
    if (waits.length > 0 || !this.#isHandedOff || this.#isGivenUp(run)) return this.#giveUp(true)
    // It cannot go on in the middle of its turn; whoever it gave the floor to can.
    await closeTurn(this.#log, await openTurnUsage(this.#ports.options.store, this.#log))
    await this.#continue('crash')
  }

  /** Its agent may be there again later: until then its questions stay, and without any there is nothing to wait for. */
  async #recoverUnasked(run: RunState, error: unknown): Promise<void> {
    const { agentId, runId } = run
    if (this.#unasked !== runId) this.#log.add(unaskedNote(agentId, error), { run: runId })
    this.#unasked = runId
    if (waitsOf(this.#log.state, run).length === 0) return this.#giveUp(true)
    await this.#park(run)
  }

  /** The process may have died before it could say that nothing was left to do but wait. */
  async #park(run: RunState): Promise<void> {
    if (run.status !== 'parked') await parkAsItStands(this.#log)
  }

  /** Goes on with a run that an earlier process began. */
  async #resume(run: RunState, reason: 'crash' | 'answer'): Promise<void> {
    const { agentId, runId, turnId } = run
    if (turnId === null) return
    const { handles, options } = this.#ports
    const agent = knownAgent(options.agents, agentId, this.#log.state)
    const attempt = run.attempt + (reason === 'crash' ? 1 : 0)
    await this.#log.commit([{ type: 'run.resumed', runId, attempt, reason }], { run: runId })
    const spent = await openRunSpending(options.store, this.#log)
    this.#ports.drive({ agent, handle: handles.of(runId), turnId, input: [], attempt, spent })
  }

  /**
   * Nobody has the floor of the run: whoever it was given to takes it, or else the program that is gone and has its answers
   * now.
   */
  async #continue(reason: 'crash' | 'answer'): Promise<void> {
    // The floor may have been given because of the answer, a moment ago.
    await this.#log.flush()
    const { run } = this.#log.state.head
    if (run === null || waitsOf(this.#log.state, run).length > 0) return
    const { agentId, runId } = run
    const attempt = run.attempt + (reason === 'crash' ? 1 : 0)
    const resumed: RecordBody = { type: 'run.resumed', runId, attempt, reason }
    const to = handedOff(this.#log.state) ?? { agentId, input: continuationInput(await this.#answered(run)) }
    // What was steered while nobody was there to hear it.
    const steered = steeredItems(this.#log.state)
    await this.#ports.passFloor({ ...to, before: [resumed], steered }, runId)
  }

  #answered(run: RunState): ReturnType<typeof answeredWaits> {
    return answeredWaits(this.#ports.options.store, this.#log.stream, run)
  }

  async #giveUp(isOther: boolean): Promise<void> {
    const usage = await openTurnUsage(this.#ports.options.store, this.#log)
    const runId = await closeInterruptedRun(this.#log, 'interrupted', { isForeign: isOther, usage })
    if (runId !== null) this.#ports.handles.settle(runId, 'interrupted')
    await this.#ports.nextInQueue()
  }

  #isGivenUp({ attempt }: RunState): boolean {
    return attempt >= (this.#ports.options.maxAttempts ?? MAX_ATTEMPTS)
  }

  async #capabilitiesOf(run: RunState): Promise<Capabilities | undefined> {
    const agent = findAgent(this.#ports.options.agents, run.agentId, this.#log.state)
    return agent === undefined ? undefined : describeInTime(agent.driver)
  }
}
