import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk'
import type { PendingToolSuspension, ToolApprovalResponse } from '@inspan/core'
import { fieldOf } from './updates.ts'

const ALLOW: PermissionOption = { optionId: 'allow', name: 'Allow', kind: 'allow_once' }
const ALWAYS: PermissionOption = { optionId: 'always', name: 'Always allow this kind of call', kind: 'allow_always' }
const REJECT: PermissionOption = { optionId: 'reject', name: 'Reject', kind: 'reject_once' }
const SKIP: PermissionOption = { optionId: 'reject', name: 'Do not answer', kind: 'reject_once' }
const NO_ANSWER = 'The user chose not to answer.'
const CHOICE = /^choice-(\d+)$/

export const APPROVAL_OPTIONS: readonly PermissionOption[] = [ALLOW, ALWAYS, REJECT]

/** Only the two options that allow something approve; everything else declines. */
export function approvalDecision(outcome: RequestPermissionOutcome): ToolApprovalResponse['decision'] {
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : undefined
  if (chosen === ALLOW.optionId) return 'approve'
  return chosen === ALWAYS.optionId ? 'always_allow_category' : 'decline'
}

/** How a tool's question is put to a client that knows only permission requests. */
export interface AcpQuestion {
  readonly title: string
  readonly text: string
  /** None for a question that only words can answer: the next prompt is the answer. */
  readonly options: readonly PermissionOption[]
  /** Returns what the tool gets for the chosen option. */
  answer(outcome: RequestPermissionOutcome): unknown
}

export function questionOf(suspension: PendingToolSuspension): AcpQuestion {
  const { suspendPayload: payload, toolName } = suspension
  const plan = fieldOf(payload, 'plan')
  if (typeof plan === 'string') return planQuestion(textField(payload, 'title') ?? 'Plan', plan)
  if (toolName === 'request_access') return accessQuestion(payload)
  const text = textField(payload, 'question') ?? `"${toolName}" asks: ${JSON.stringify(payload)}`
  const labels = labelsOf(fieldOf(payload, 'options'))
  if (labels.length === 0) return { title: text, text, options: [], answer: () => NO_ANSWER }
  const choices = labels.map((name, index): PermissionOption => ({
    optionId: `choice-${index}`,
    name,
    kind: 'allow_once',
  }))
  return {
    title: text,
    text,
    options: [...choices, SKIP],
    answer: (outcome) => labels[choiceOf(outcome)] ?? NO_ANSWER,
  }
}

function planQuestion(title: string, plan: string): AcpQuestion {
  const options: readonly PermissionOption[] = [
    { ...ALLOW, name: 'Carry out this plan' },
    { ...REJECT, name: 'Revise the plan' },
  ]
  const answer = (outcome: RequestPermissionOutcome): unknown => ({
    action: approvalDecision(outcome) === 'approve' ? 'approved' : 'rejected',
  })
  return { title, text: plan, options, answer }
}

function accessQuestion(payload: unknown): AcpQuestion {
  const path = textField(payload, 'path') ?? 'a path'
  const answer = (outcome: RequestPermissionOutcome): unknown =>
    approvalDecision(outcome) === 'approve' ? 'Yes' : 'No'
  const title = `Access to ${path}`
  return { title, text: textField(payload, 'reason') ?? title, options: [ALLOW, REJECT], answer }
}

function choiceOf(outcome: RequestPermissionOutcome): number {
  const [, index] = (outcome.outcome === 'selected' && CHOICE.exec(outcome.optionId)) || []
  return index === undefined ? -1 : Number(index)
}

function labelsOf(options: unknown): readonly string[] {
  if (!Array.isArray(options)) return []
  return options.map((option) => textField(option, 'label')).filter((label) => label !== undefined)
}

function textField(value: unknown, key: string): string | undefined {
  const field = fieldOf(value, key)
  return typeof field === 'string' && field !== '' ? field : undefined
}
