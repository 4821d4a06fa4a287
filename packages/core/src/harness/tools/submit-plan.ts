import type { Answer, JsonValue, RunnableTool } from '@evener/protocol'
import type { ThreadPort } from '../signals/thread-port.ts'
import { isObject, optionalText, requiredText } from './tool-input.ts'

/** The modes of a thread, as far as a plan is concerned with them. */
export interface PlanModes {
  /** The mode in which an approved plan is carried out. */
  planTarget(): string
  /**
   * Changes mode, and with it model, instructions and tools of the next step. Where another agent backs the mode, it
   * takes the floor in the same run and is told `order`.
   */
  switchMode(modeId: string, order: string): Promise<void>
}

const DEFAULT_TITLE = 'Implementation Plan'
const SETTING = 'evener:plan'

const ANSWER_SCHEMA = JSON.stringify({
  type: 'object',
  properties: { action: { type: 'string', enum: ['approved', 'rejected'] }, feedback: { type: 'string' } },
  required: ['action'],
})

/** On approval the same run goes on in another mode; on rejection it goes on where it is, with the feedback. */
export function submitPlanTool(port: ThreadPort, modes: PlanModes): RunnableTool {
  return {
    name: 'submit_plan',
    description:
      'Submit a plan for review and wait for the decision. When it is approved, carry it out; when it is rejected, ' +
      'revise it by the feedback and submit it again.',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string' }, plan: { type: 'string', minLength: 1 } },
      required: ['plan'],
    },
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
        const because = feedback === undefined ? '' : ` Feedback: ${feedback}`
        return {
          result: { content: `The plan was rejected.${because} Revise it and submit it again.`, isError: false },
        }
      }
      const also = feedback === undefined ? '' : ` Feedback: ${feedback}`
      const order = `This plan was approved.${also} Carry it out.\n\n# ${title}\n\n${plan}`
      const modeId = await switchOnce(port, modes, idempotencyKey, order)
      const content = `The plan "${title}" was approved. The mode is now "${modeId}".${also} Carry out the plan.`
      return { result: { content, isError: false } }
    },
  }
}

/**
 * Where to is written down before it is done: if we die in between, the second attempt must not take the switch it finds
 * done for the mode the plan was made in.
 */
async function switchOnce(port: ThreadPort, modes: PlanModes, key: string, order: string): Promise<string> {
  const noted = port.state.head.settings[SETTING]
  const known = isObject(noted) && noted['key'] === key ? noted['modeId'] : undefined
  const modeId = typeof known === 'string' ? known : modes.planTarget()
  if (known === undefined) await port.record([{ type: 'config.changed', settings: { [SETTING]: { key, modeId } } }])
  await modes.switchMode(modeId, order)
  return modeId
}

function planDecision({ decision, reason, value }: Answer): { isApproved: boolean; feedback: string | undefined } {
  const given = isObject(value) ? value : {}
  const feedback = typeof given['feedback'] === 'string' ? given['feedback'] : reason
  const action: JsonValue | undefined = given['action']
  // Only what says so approves.
  const isApproved = decision === 'approve' || (decision === 'answer' && action === 'approved')
  return { isApproved, feedback: feedback === '' ? undefined : feedback }
}

export function planAnswerProblem(value: JsonValue | undefined): string | undefined {
  const action = isObject(value) ? value['action'] : undefined
  return action === 'approved' || action === 'rejected'
    ? undefined
    : 'A plan is answered with { action: "approved" | "rejected", feedback? }.'
}
