import type { LogRecord, WaitRequest } from '@evener/protocol'
import type { ThreadPort } from '../signals/thread-port.ts'
import { notedMode, noteOf, planDecision, planOrder, SUBMIT_PLAN, type PlanModes } from './submit-plan.ts'

type PlanWait = Pick<WaitRequest, 'id' | 'kind' | 'payload' | 'subject'>

/**
 * A plan that a program made in its own way and asks about is one like ours: when it is approved, the mode changes. The
 * program hears the answer itself; where another agent backs the mode, that one takes the floor after the program's call.
 */
export class ForeignPlans {
  readonly #port: ThreadPort
  readonly #modes: PlanModes
  readonly #asked = new Map<string, PlanWait>()

  constructor(port: ThreadPort, modes: PlanModes) {
    this.#port = port
    this.#modes = modes
    for (const wait of port.state.head.waits) this.#note(wait)
  }

  /**
   * Resolves when what follows from the record is done. The floor is given before this returns. From what others wrote
   * nothing follows here.
   */
  async follow({ body, run }: LogRecord, isOthers = false): Promise<void> {
    if (body.type === 'wait.opened') this.#note(body.wait)
    if (body.type === 'wait.cancelled' || body.type === 'wait.superseded') this.#asked.delete(body.waitId)
    if (body.type !== 'wait.answered') return
    const wait = this.#asked.get(body.waitId)
    this.#asked.delete(body.waitId)
    if (wait === undefined || isOthers) return
    const { feedback, isApproved } = planDecision(body.answer)
    if (!isApproved) return
    // The same plan, asked about again after a crash, must not lead on from where it has led to.
    const key = `${run ?? this.#port.state.head.run?.runId ?? ''}:${wait.subject.hash ?? wait.id}`
    const modeId = notedMode(this.#port, key) ?? this.#modes.planTarget()
    await this.#modes.switchMode(modeId, planOrder(wait.payload ?? {}, feedback), noteOf(key, modeId))
  }

  #note(wait: PlanWait): void {
    if (wait.kind === 'plan' && wait.subject.toolName !== SUBMIT_PLAN) this.#asked.set(wait.id, wait)
  }
}
