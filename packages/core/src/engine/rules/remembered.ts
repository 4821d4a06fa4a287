import type { Answer, Wait } from '@inspan/protocol'
import type { RecordBody } from '@inspan/protocol/log'
import type { ActiveTurn } from '../turns/active-run.ts'
import type { Runs } from '../runs/runs.ts'
import type { ThreadPolicy } from './thread-policy.ts'
import { describeCall } from '../turns/turn-host.ts'

interface AskedCall {
  readonly policy: ThreadPolicy
  readonly runs: Runs
  /** The turn that waits for the answer, if it is active in this process. */
  readonly active: ActiveTurn | undefined
  /** Who answers. */
  readonly by: string | undefined
}

/** In the payload of a question that was passed on from another thread, where the answer is remembered. */
export const PASSED_ON = 'subagent'

/** Returns what to record with an answer that applies to later calls too. */
export async function remembered(
  wait: Wait,
  answer: Answer,
  { policy, runs, active, by }: AskedCall,
): Promise<RecordBody[]> {
  const { decision, remember } = answer
  if (remember === undefined || decision !== 'approve' || wait.payload?.[PASSED_ON] !== undefined) return []
  const tools = active === undefined ? await runs.toolsAtRest() : active.setup.tools
  const tool = tools.find(({ name }) => name === wait.subject.toolName)
  return policy.remember(wait, answer, { by, tool }, (call) => describeCall(call, tool))
}
