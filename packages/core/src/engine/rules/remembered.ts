import { unlessAborted, type Answer, type RecordBody, type Wait } from '@evener/protocol'
import type { ActiveTurn } from '../turns/active-run.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import type { Runs } from '../runs/runs.ts'
import type { ThreadPolicy } from './thread-policy.ts'
import { describeCall } from '../turns/turn-host.ts'

interface Asked {
  readonly policy: ThreadPolicy
  readonly runs: Runs
  /** The turn that waits for the answer, if it is one of this process. */
  readonly active: ActiveTurn | undefined
}

/** What is recorded with an answer that is to count for later calls. Keeping it does not hold up who cancels. */
export async function remembered(wait: Wait, answer: Answer, { policy, runs, active }: Asked): Promise<RecordBody[]> {
  const { decision, remember } = answer
  if (remember === undefined || decision !== 'approve') return []
  const keep = (tools: readonly RunnableTool[]): Promise<RecordBody[]> =>
    policy.remember(wait, remember, (call) =>
      describeCall(
        call,
        tools.find((tool) => tool.name === call.toolName),
      ),
    )
  if (active === undefined) return keep(await runs.toolsAtRest())
  return unlessAborted(active.abort.signal, keep(active.setup.tools))
}
