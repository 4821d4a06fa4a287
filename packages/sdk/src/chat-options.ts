import { DEFAULT_MAX_STEPS, type StreamOptions, type ToolApprovalMode } from '@inspan/protocol/chat'
import { AgentSDKError } from './errors.ts'

/** Returns the mode that `requireToolApproval` means; `undefined` for tools that run without asking. */
export function resolveToolApprovalMode(value: boolean | ToolApprovalMode | undefined): ToolApprovalMode | undefined {
  if (value === undefined || value === false) return undefined
  if (value === true) return 'serial'
  if (value === 'serial' || value === 'batch') return value
  throw new AgentSDKError('INVALID_OPTIONS', `${JSON.stringify(value)} is not a mode of tool approval.`, {
    hint: "Use true, false, 'serial' or 'batch'.",
  })
}

const BUSY = ['reject', 'queue', 'steer'] as const
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** Throws for options that cannot be carried out, before anything is sent. */
export function checkStreamOptions(options: StreamOptions): void {
  const { maxSteps = DEFAULT_MAX_STEPS, operationId, whenBusy, model, effort, budget, onLimit } = options
  resolveToolApprovalMode(options.requireToolApproval)
  if (!Number.isInteger(maxSteps) || maxSteps < 1) {
    throw invalid('maxSteps', maxSteps, 'Use a whole number of at least 1.')
  }
  if (operationId !== undefined && !/^[\w.-]{1,128}$/.test(operationId)) {
    throw invalid('operationId', operationId, 'Use up to 128 letters, digits, dots, dashes or underscores.')
  }
  if (whenBusy !== undefined && !BUSY.includes(whenBusy)) {
    throw invalid('whenBusy', whenBusy, `Use one of ${BUSY.join(', ')}.`)
  }
  if (model !== undefined && (typeof model !== 'string' || model === '')) {
    throw invalid('model', model, 'Use the name of a model, like "provider/model".')
  }
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    throw invalid('effort', effort, `Use one of ${EFFORTS.join(', ')}.`)
  }
  if (onLimit !== undefined && onLimit !== 'fail' && onLimit !== 'park') {
    throw invalid('onLimit', onLimit, "Use 'fail' or 'park'.")
  }
  for (const [name, limit] of Object.entries(budget ?? {})) {
    if (typeof limit !== 'number' || !(limit > 0)) throw invalid(`budget.${name}`, limit, 'Use a number above 0.')
  }
}

function invalid(name: string, value: unknown, hint: string): AgentSDKError {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return new AgentSDKError('INVALID_OPTIONS', `The option ${name} is ${shown}.`, { hint })
}
