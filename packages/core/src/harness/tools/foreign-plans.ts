import type { Answer, LogRecord, RunState, WaitRequest } from '@evener/protocol'
import type { ControlFact } from '../../engine/thread-runtime.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import { notedMode, noteOf, planDecision, planOrder, SUBMIT_PLAN, type PlanModes } from './submit-plan.ts'

type PlanWait = Pick<WaitRequest, 'id' | 'kind' | 'payload' | 'subject'>

export interface ForeignPlanModes extends PlanModes {
  /** Returns what is recorded when the thread enters the mode. */
  entered(modeId: string, settings: Parameters<PlanModes['switchMode']>[2]): ControlFact
  /** Hands the floor of the run, with `order`, to the agent of the mode if it is another than that of the run. */
  giveFloor(modeId: string, order: string): Promise<void>
}

/**
 * Treats the plan of a foreign program like our own: its approval changes the mode. The program gets the answer itself;
 * where another agent backs the mode, that one takes the floor after the program's call.
 */
export class ForeignPlans {
  readonly #port: ThreadPort
  readonly #modes: ForeignPlanModes
  readonly #asked = new Map<string, PlanWait>()

  constructor(port: ThreadPort, modes: ForeignPlanModes) {
    this.#port = port
    this.#modes = modes
    for (const wait of port.state.head.waits) this.#note(wait)
  }

  /** Returns the mode the plan leads to, recorded together with the approval: no crash comes between the two. */
  withAnswer(wait: PlanWait, answer: Answer): readonly ControlFact[] {
    if (!isForeignPlan(wait) || !planDecision(answer).isApproved) return []
    const key = this.#key(wait)
    if (notedMode(this.#port, key) !== undefined) return []
    const modeId = this.#modes.planTarget()
    return [this.#modes.entered(modeId, noteOf(key, modeId))]
  }

  /**
   * Resolves when what follows from the record is done. The floor is given before this returns. Records that others
   * wrote are only noted.
   */
  async follow({ body }: LogRecord, isOthers = false): Promise<void> {
    if (body.type === 'wait.opened') this.#note(body.wait)
    if (body.type === 'wait.cancelled' || body.type === 'wait.superseded') this.#asked.delete(body.waitId)
    if (body.type !== 'wait.answered') return
    const wait = this.#asked.get(body.waitId)
    this.#asked.delete(body.waitId)
    if (wait !== undefined && !isOthers) await this.#lead(wait, body.answer)
  }

  /**
   * Carries on with plans that were approved in a run whose program is gone, if the process that took the approval died
   * before it could. `answered` returns the answers that whoever takes the floor of the run has yet to be told.
   */
  async takeUp(
    answered: (run: RunState) => Promise<readonly { readonly wait: PlanWait; readonly answer: Answer }[]>,
  ): Promise<void> {
    const { run } = this.#port.state.head
    if (run === null || run.turnId !== null) return
    for (const { wait, answer } of await answered(run)) if (isForeignPlan(wait)) await this.#lead(wait, answer)
  }

  async #lead(wait: PlanWait, answer: Answer): Promise<void> {
    const { feedback, isApproved } = planDecision(answer)
    const modeId = notedMode(this.#port, this.#key(wait))
    if (isApproved && modeId !== undefined) await this.#modes.giveFloor(modeId, planOrder(wait.payload ?? {}, feedback))
  }

  /** Identifies a plan: one that is asked about again after a crash must not lead on from the mode it has led to. */
  #key(wait: PlanWait): string {
    return `${this.#port.state.head.run?.runId ?? ''}:${wait.subject.hash ?? wait.id}`
  }

  #note(wait: PlanWait): void {
    if (isForeignPlan(wait)) this.#asked.set(wait.id, wait)
  }
}

function isForeignPlan({ kind, subject }: PlanWait): boolean {
  return kind === 'plan' && subject.toolName !== SUBMIT_PLAN
}
