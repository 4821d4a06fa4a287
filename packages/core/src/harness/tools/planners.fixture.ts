import { ForeignAgent, says, type Act } from '../../engine/foreign-agent.fixture.ts'
import type { HarnessMode } from '../harness-config.ts'

export const PLAN = '1. Write it.'

const call = { toolCallId: 'p1', toolName: 'ExitPlanMode', args: { plan: PLAN } } as const

/** A program that plans in its own way, asks, and goes on by itself when it is approved. */
export const plans: Act = async function* (_turn, host) {
  yield { type: 'step-start', stepIndex: 0 }
  yield { type: 'tool-call', ...call }
  await host.ask({
    id: crypto.randomUUID(),
    kind: 'plan',
    subject: { agentId: 'planner', ...call },
    description: 'A plan was made.',
    payload: { plan: PLAN },
  })
  yield { type: 'tool-result', toolCallId: call.toolCallId, toolName: call.toolName, result: 'heard' }
  yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
}

/** A mode in which a foreign program plans, and one in which another builds. */
export function planners(acts: readonly Act[] = [plans]): {
  readonly planner: ForeignAgent
  readonly builder: ForeignAgent
  readonly modes: readonly HarnessMode[]
} {
  const planner = new ForeignAgent('planner', acts)
  const builder = new ForeignAgent('builder', [says('Built.')])
  const modes = [
    { id: 'plan', agent: planner, transitionsTo: 'build' },
    { id: 'build', agent: builder },
  ]
  return { planner, builder, modes }
}
