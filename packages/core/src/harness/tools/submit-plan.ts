import type { Answer, JsonObject, JsonValue } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { ThreadPort } from '../signals/thread-port.ts'
import { isObject, optionalText, requiredText } from './tool-input.ts'

/** What a plan needs to know of the modes of a thread. */
export interface PlanModes {
  /** The mode in which an approved plan is carried out. */
  planTarget(): string
  /**
   * Changes the mode, and with it model, instructions and tools of the next step. Where another agent backs the mode,
   * it takes the floor in the same run and gets `order`. `settings` are recorded with the change.
   */
  switchMode(modeId: string, order: string, settings?: JsonObject): Promise<void>
}

export const SUBMIT_PLAN = 'submit_plan'
const DEFAULT_TITLE = 'Implementation Plan'
const SETTING = 'harness:plan'

const INPUT_SCHEMA = {
  type: 'object',
  properties: { title: { type: 'string' }, plan: { type: 'string', minLength: 1 } },
  required: ['plan'],
} as const

const ANSWER_SCHEMA = JSON.stringify({
  type: 'object',
  properties: { action: { type: 'string', enum: ['approved', 'rejected'] }, feedback: { type: 'string' } },
  required: ['action'],
})

/** On approval the same run goes on in another mode; on rejection it goes on where it is, with the feedback. */
export function submitPlanTool(port: ThreadPort, modes: PlanModes): RunnableTool {
  return planTool(async ({ feedback, idempotencyKey, plan, title }) => {
    const modeId = notedMode(port, idempotencyKey) ?? modes.planTarget()
    await modes.switchMode(modeId, planOrder({ title, plan }, feedback), noteOf(idempotencyKey, modeId))
    return `The plan "${title}" was approved. The mode is now "${modeId}". Carry out the plan.${withFeedback(feedback)}`
  })
}

interface ApprovedPlan {
  readonly title: string
  readonly plan: string
  readonly feedback: string | undefined
  readonly idempotencyKey: string
}

/**
 * Asks a person about a plan. `approved` sees to it that the plan is carried out, and returns the result for the model.
 */
export function planTool(approved: (plan: ApprovedPlan) => Promise<string>): RunnableTool {
  return {
    name: SUBMIT_PLAN,
    description:
      'Submit a plan for review and wait for the decision. When it is approved, carry it out; when it is rejected, ' +
      'revise it by the feedback and submit it again.',
    inputSchema: INPUT_SCHEMA,
    category: 'other',
    isIdempotent: true,
    execute: async (input, { idempotencyKey, resume }) => {
      const plan = requiredText(input, 'plan')
      const title = optionalText(input, 'title') ?? DEFAULT_TITLE
      if (resume === undefined) {
        const payload = { title, plan }
        return { suspend: { kind: 'plan', description: title, payload, answerSchema: ANSWER_SCHEMA } }
      }
      const { isApproved, feedback } = planDecision(resume)
      if (!isApproved) {
        const content = `The plan was rejected. Revise it and submit it again.${withFeedback(feedback)}`
        return { result: { content, isError: false } }
      }
      return { result: { content: await approved({ title, plan, feedback, idempotencyKey }), isError: false } }
    },
  }
}

/** Returns the message for another agent that takes the floor with the plan. */
export function planOrder(payload: JsonObject, feedback: string | undefined): string {
  const { plan, title } = payload
  const heading = typeof title === 'string' ? title : DEFAULT_TITLE
  const text = typeof plan === 'string' ? plan : ''
  return `This plan was approved. Carry it out.${withFeedback(feedback)}\n\n# ${heading}\n\n${text}`
}

/** On a line of its own, since the user's words may end in any way. */
function withFeedback(feedback: string | undefined): string {
  return feedback === undefined ? '' : `\nFeedback: ${feedback}`
}

/**
 * Returns the setting that records the new mode together with the switch. If the process dies after it, the second
 * attempt must not take the new mode for the one the plan was made in.
 */
export function noteOf(key: string, modeId: string): JsonObject {
  return { [SETTING]: { key, modeId } }
}

/** Returns the mode the plan led to, if this is a second attempt. */
export function notedMode(port: ThreadPort, key: string): string | undefined {
  const noted = port.state.head.settings.get(SETTING)
  const modeId = isObject(noted) && noted['key'] === key ? noted['modeId'] : undefined
  return typeof modeId === 'string' ? modeId : undefined
}

export function planDecision({ decision, reason, value }: Answer): {
  isApproved: boolean
  feedback: string | undefined
} {
  const given = isObject(value) ? value : {}
  const feedback = typeof given['feedback'] === 'string' ? given['feedback'] : reason
  const action: JsonValue | undefined = given['action']
  // Only an explicit approval counts.
  const isApproved = decision === 'approve' || (decision === 'answer' && action === 'approved')
  return { isApproved, feedback: feedback === '' ? undefined : feedback }
}

export function planAnswerProblem(value: JsonValue | undefined): string | undefined {
  const action = isObject(value) ? value['action'] : undefined
  return action === 'approved' || action === 'rejected'
    ? undefined
    : 'A plan is answered with { action: "approved" | "rejected", feedback? }.'
}
