import type { Part } from '@inspan/protocol'
import type { Capabilities } from '@inspan/protocol/driver'
import type { RecordBody, RunState } from '@inspan/protocol/log'
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
import { answeredWaits, continuationInput, LIMIT_OVER } from '../waits/continuation.ts'
import type { TurnStart } from '../turns/open-turn.ts'
import { describeInTime } from '../turns/time-limits.ts'
import { reapProcess } from './reap-process.ts'
import { steeredItems } from './run-queue.ts'
import { openRunSpending, openTurnUsage } from './run-spending.ts'
import type { RunsPorts } from './runs-ports.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'

const MAX_ATTEMPTS = 3

type Resumption = Extract<RecordBody, { readonly type: 'run.resumed' }>

export interface RecoveryPorts {
  readonly ports: Pick<RunsPorts, 'options' | 'hold' | 'doors'>
  readonly handles: RunHandles
  readonly drive: (start: TurnStart) => void
  /** Gives the floor of the run to an agent, in a new turn. */
  readonly passFloor: (next: NextTurn, runId: string) => Promise<void>
  readonly nextInQueue: () => Promise<void>
}

/** Resumes or gives up an open run that is not active in this process, after a crash or after an answer. */
export class RunRecovery {
  readonly #ports: RecoveryPorts
  /** The run whose agent failed to describe its capabilities, once that is on record. */
  #unasked: string | undefined

  constructor(ports: RecoveryPorts) {
    this.#ports = ports
  }

  /** Implements the recovery table: the state of the run decides what happens to it. */
  async recover(run: RunState): Promise<void> {
    // First of all: programs of the dead process must not keep running beside us.
    for (const process of run.processes) await reapProcess(process)
    const { doors } = this.#ports.ports
    const door = doors.of(run)
    // Nobody else's agent continues it. Until its door is there, it can be watched, answered and cancelled.
    if (door === undefined) return
    doors.serve(run.runId, door)
    let capabilities: Capabilities | undefined
    try {
      capabilities = await this.#capabilitiesOf(run)
    } catch (error) {
      return this.#recoverUnasked(run, error)
    }
    if (capabilities !== undefined && isForeign(capabilities)) return this.#recoverForeign(run, capabilities)
    // The wait can still be answered; whether the agent is able to go on is checked then.
    if (this.#ports.ports.hold().waitManager.isOnlyWaiting(capabilities === undefined)) return this.#park(run)
    // An agent that is unknown here may have begun its calls: nobody knows.
    if (capabilities === undefined) return this.#giveUp(true)
    if (this.#isGivenUp(run)) return this.#giveUp(false)
    if (run.turnId === null) return this.#isHandedOff ? this.#continue('crash') : this.#giveUp(false)
    if (run.isStepOpen) await closeFailedStep(this.#log)
    await this.#resume(run, 'crash')
  }

  /** Returns the agent's capabilities, to be asked for only once. Throws if an answer could not be used. */
  async beforeAnswer(run: RunState): Promise<Capabilities> {
    const { agents } = this.#ports.ports.options
    const capabilities = await describeInTime(knownAgent(agents, run.agentId, this.#log.state).driver)
    // `recover` could not ask this agent for its capabilities, so its turn is still open.
    if (isForeign(capabilities) && run.turnId !== null) await this.#recoverForeign(run, capabilities)
    return capabilities
  }

  /** Resumes the run after an answer to a wait that nobody in this process was waiting for. */
  async afterAnswer(run: RunState, capabilities: Capabilities): Promise<void> {
    if (run.turnId === null) return this.#continue('answer')
    return isForeign(capabilities) ? this.#giveUp(true) : this.#resume(run, 'answer')
  }

  /** Whether the agent of the run could not be asked for its capabilities. It may then have begun its calls. */
  isUnasked(runId: string): boolean {
    return this.#unasked === runId
  }

  get #log(): ThreadHold['log'] {
    return this.#ports.ports.hold().log
  }

  get #isHandedOff(): boolean {
    return handedOff(this.#log.state) !== undefined
  }

  async #recoverForeign(run: RunState, capabilities: Capabilities): Promise<void> {
    const waits = waitsOf(this.#log.state, run)
    const canBeAsked = capabilities.resume !== 'none' && waits.every((wait) => wait.resumable !== false)
    if (run.turnId === null) return waits.length === 0 ? this.#continue('answer') : undefined
    if (waits.length > 0 && canBeAsked) {
      return parkWithoutTurn(this.#log, await openTurnUsage(this.#ports.ports.options.store, this.#log))
    }
    if (waits.length > 0 || !this.#isHandedOff || this.#isGivenUp(run)) return this.#giveUp(true)
    // The agent cannot resume in the middle of its turn; the agent it handed off to can start.
    await closeTurn(this.#log, await openTurnUsage(this.#ports.ports.options.store, this.#log))
    await this.#continue('crash')
  }

  /** Parks a run that has waits, as its agent may be available again later. Without waits the run is given up. */
  async #recoverUnasked(run: RunState, error: unknown): Promise<void> {
    const { agentId, runId } = run
    if (this.#unasked !== runId) this.#log.add(unaskedNote(agentId, error), { run: runId })
    this.#unasked = runId
    if (waitsOf(this.#log.state, run).length === 0) return this.#giveUp(true)
    await this.#park(run)
  }

  /** Parks the run unless it is parked: the process may have died before it recorded that. */
  async #park(run: RunState): Promise<void> {
    if (run.status !== 'parked') await parkAsItStands(this.#log)
  }

  /** Continues the open turn that an earlier process began. */
  async #resume(run: RunState, reason: 'crash' | 'answer'): Promise<void> {
    const { agentId, runId, turnId } = run
    if (turnId === null) return
    const { handles } = this.#ports
    const { options } = this.#ports.ports
    const agent = knownAgent(options.agents, agentId, this.#log.state)
    const resumed = this.#resumption(run, reason)
    await this.#log.commit([resumed], { run: runId })
    const spent = await openRunSpending(options.store, this.#log)
    this.#ports.drive({ agent, handle: handles.of(runId), turnId, input: [], attempt: resumed.attempt, spent })
  }

  /**
   * Starts the next turn of a run that has no open one: of the agent the floor was handed to, else of the foreign agent
   * that is gone and whose waits are answered now.
   */
  async #continue(reason: 'crash' | 'answer'): Promise<void> {
    // The answer may have caused a hand-off a moment ago.
    await this.#log.flush()
    const { run } = this.#log.state.head
    if (run === null || waitsOf(this.#log.state, run).length > 0) return
    const { agentId, runId } = run
    const resumed = this.#resumption(run, reason)
    const to = handedOff(this.#log.state) ?? { agentId, input: await this.#continuation(run) }
    // Messages steered while no turn was open.
    const steered = steeredItems(this.#log.state)
    await this.#ports.passFloor({ ...to, before: [resumed], steered }, runId)
  }

  /** Returns the input of the agent that continues. Our own loop needs none after a limit: it asks again. */
  async #continuation(run: RunState): Promise<readonly Part[]> {
    const answered = await answeredWaits(this.#ports.ports.options.store, this.#log.stream, run)
    if (answered.length > 0) return continuationInput(answered)
    const capabilities = await this.#capabilitiesOf(run)
    return capabilities !== undefined && !isForeign(capabilities) ? [] : LIMIT_OVER
  }

  async #giveUp(isOther: boolean): Promise<void> {
    const usage = await openTurnUsage(this.#ports.ports.options.store, this.#log)
    const runId = await closeInterruptedRun(this.#log, 'interrupted', { isForeign: isOther, usage })
    if (runId !== null) this.#ports.handles.settle(runId, 'interrupted')
    await this.#ports.nextInQueue()
  }

  /** A run that was left because its process was asked to end, or lost the store, keeps its attempts. */
  #resumption({ attempt, runId }: RunState, reason: 'crash' | 'answer'): Resumption {
    if (reason === 'answer') return { type: 'run.resumed', runId, attempt, reason }
    return this.#ports.ports.hold().countsAsAttempt
      ? { type: 'run.resumed', runId, attempt: attempt + 1, reason }
      : { type: 'run.resumed', runId, attempt, reason: 'takeover' }
  }

  #isGivenUp({ attempt }: RunState): boolean {
    if (!this.#ports.ports.hold().countsAsAttempt) return false
    return attempt >= (this.#ports.ports.options.maxAttempts ?? MAX_ATTEMPTS)
  }

  async #capabilitiesOf(run: RunState): Promise<Capabilities | undefined> {
    const agent = findAgent(this.#ports.ports.options.agents, run.agentId, this.#log.state)
    return agent === undefined ? undefined : describeInTime(agent.driver)
  }
}
