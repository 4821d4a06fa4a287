import type { Answer, WaitRequest } from '@inspan/protocol'
import type { ControlFact } from '../../engine/index.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import { notedMode, noteOf, planDecision, planOrder, SUBMIT_PLAN, type PlanModes } from './submit-plan.ts'

type PlanWait = Pick<WaitRequest, 'id' | 'kind' | 'payload' | 'subject'>

export interface ForeignPlanModes extends PlanModes {
  /** Returns what is recorded when the thread enters the mode. */
  entered(modeId: string, settings: Parameters<PlanModes['switchMode']>[2]): ControlFact
  /** Returns what hands the floor of the run, with `order`, to the agent of the mode if it is another than that of the run. */
  handedOff(modeId: string, order: string): readonly ControlFact[]
}

/**
 * Treats the plan of a foreign program like our own: its approval changes the mode. The program gets the answer itself;
 * where another agent backs the mode, that one takes the floor after the program's call. Returns what is recorded of this
 * together with the approval: no crash comes between them.
 */
export function factsOfPlan(
  port: ThreadPort,
  modes: ForeignPlanModes,
  wait: PlanWait,
  answer: Answer,
): readonly ControlFact[] {
  const { feedback, isApproved } = planDecision(answer)
  if (wait.kind !== 'plan' || wait.subject.toolName === SUBMIT_PLAN || !isApproved) return []
  // A plan that is asked about again after a crash must not lead on from the mode it has led to.
  const key = `${port.state.head.run?.runId ?? ''}:${wait.subject.hash ?? wait.id}`
  const noted = notedMode(port, key)
  const modeId = noted ?? modes.planTarget()
  const entered = noted === undefined ? [modes.entered(modeId, noteOf(key, modeId))] : []
  return [...entered, ...modes.handedOff(modeId, planOrder(wait.payload ?? {}, feedback))]
}
