import { asRunnable } from '@inspan/agent'
import { InspanError, type JsonValue, type Wait } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { ThreadPort } from '../signals/thread-port.ts'
import { answerProblem, askUserTool as plainAskUserTool } from './ask-user.ts'
import { requestAccessTool } from './request-access.ts'
import { planAnswerProblem, submitPlanTool, type PlanModes } from './submit-plan.ts'
import { taskTools } from './task-tools.ts'
import { explaining } from './tool-input.ts'

export const BUILTIN_TOOL_IDS = [
  'ask_user',
  'submit_plan',
  'task_write',
  'task_update',
  'task_complete',
  'task_check',
  'recall',
  'request_access',
  'subagent',
] as const

export type BuiltinToolId = (typeof BUILTIN_TOOL_IDS)[number]

export interface BuiltinToolsOptions {
  readonly port: ThreadPort
  readonly modes: PlanModes
  /** The folder that relative paths of `request_access` start from. */
  readonly cwd?: () => string
}

/** For the user's own agents. The other built-in tools belong to a thread. */
export const askUserTool: RunnableTool = asRunnable(explaining(plainAskUserTool))

/** Returns the tools that every mode has. Made once per thread, since the calls of one step share them. */
export function builtinTools(options: BuiltinToolsOptions): readonly RunnableTool[] {
  return [
    plainAskUserTool,
    submitPlanTool(options.port, options.modes),
    ...taskTools(options.port),
    requestAccessTool(options.port, options.cwd),
  ].map(explaining)
}

/** Refuses a wrong answer when it is given, while whoever gave it can still give another. */
export function assertAnswers(wait: Wait, value: JsonValue | undefined): void {
  const problem =
    wait.subject.toolName === 'ask_user' && wait.payload !== undefined
      ? answerProblem(wait.payload, value)
      : wait.kind === 'plan'
        ? planAnswerProblem(value)
        : undefined
  if (problem !== undefined) {
    throw new InspanError('invalid-input', `This does not answer "${wait.description}". ${problem}`)
  }
}
