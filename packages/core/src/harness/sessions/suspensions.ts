import type { RequestContext } from '@inspan/agent'
import { InspanError, type Answer, type Wait } from '@inspan/protocol'
import type { PendingToolSuspension } from '@inspan/protocol/harness'
import { aText, anObject, words } from '@inspan/protocol/internal'
import { checkOptional, givenFields, givenJson } from '../checks/check-given.ts'
import { approvalWaits, callIdOf, pendingSuspension, suspendedWaits } from '../events/pending-waits.ts'
import { requestContextOf, type RequestContextInput } from '../agents/request-context.ts'
import { assertAnswers } from '../tools/builtin-tools.ts'
import type { SessionBinding } from './session-binding.ts'
import type { SessionContext } from './session-context.ts'

export type ApprovalDecision = 'approve' | 'decline' | 'always_allow_category'

export interface ToolApprovalResponse {
  /** `approve`, `decline`, or `always_allow_category`, which also allows later calls of the category. */
  readonly decision: ApprovalDecision
  /** The call that is answered. Default: the oldest call that waits for approval. */
  readonly toolCallId?: string
  /** What tools of the resumed run find in their request context. */
  readonly requestContext?: RequestContextInput
  /** Passed on to the agent when the decision is to decline. */
  readonly declineContext?: { readonly reason?: string; readonly message?: string }
}

export interface ToolSuspensionResponse {
  readonly resumeData: unknown
  /** Needed only when more than one tool waits. */
  readonly toolCallId?: string
  readonly requestContext?: RequestContextInput
}

/** The calls of the thread whose tools asked a question and wait for the answer. */
export class Suspensions {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  list(): readonly PendingToolSuspension[] {
    return waitsOf(this.#session.binding).map(pendingSuspension)
  }

  get(options: { readonly toolCallId: string }): PendingToolSuspension | undefined {
    const { toolCallId } = givenFields(options, 'suspensions.get({ toolCallId })', { toolCallId: aText })
    return this.list().find((each) => each.toolCallId === toolCallId)
  }

  has(options: { readonly toolCallId: string }): boolean {
    return this.get(options) !== undefined
  }

  hasPending(): boolean {
    return waitsOf(this.#session.binding).length > 0
  }

  /** Returns the given id, or that of the only call that waits. */
  resolveToolCallId(toolCallId?: string): string {
    return callIdOf(findSuspension(this.#session.binding, toolCallId))
  }
}

/** Answers an approval. Resolves when the answer is on record; the call continues by itself. */
export async function answerApproval(session: SessionContext, response: ToolApprovalResponse): Promise<void> {
  const given = givenFields(response, 'respondToToolApproval({ decision, toolCallId? })')
  const { decision, declineContext, requestContext, toolCallId } = given
  const context = requestContextOf(requestContext)
  const answer = approvalAnswer(decision, declineReason(declineContext))
  const wait = findApproval(session.binding, toolCallId)
  addContext(session, wait, context)
  await session.binding.requireRuntime().answer(wait.id, answer)
}

/** Answers a tool's question. Resolves when the run, which continues with the answer, is over or waits again. */
export async function answerSuspension(session: SessionContext, response: ToolSuspensionResponse): Promise<void> {
  const { binding } = session
  const given = givenFields(response, 'respondToToolSuspension({ resumeData, toolCallId? })')
  const value = givenJson(given.resumeData, 'resumeData')
  const context = requestContextOf(given.requestContext)
  const wait = findSuspension(binding, given.toolCallId)
  assertAnswers(wait, value)
  addContext(session, wait, context)
  await binding.requireRuntime().answer(wait.id, { decision: 'answer', value })
  if (wait.run !== undefined) await binding.atRest(wait.run)
}

function addContext({ core }: SessionContext, { run }: Wait, context: RequestContext): void {
  if (run !== undefined && context.size > 0) core.contexts.add(run, context)
}

function waitsOf(binding: SessionBinding): Wait[] {
  return suspendedWaits(binding.head?.waits ?? [])
}

/** Returns the wait of the given call, or the only wait. */
function findSuspension(binding: SessionBinding, toolCallId: string | undefined): Wait {
  checkOptional(toolCallId, 'toolCallId', aText)
  return findWait(waitsOf(binding), toolCallId, 'suspended tool')
}

/** Returns the wait of the given call. Without an id it is the oldest, which a display with a single slot shows. */
function findApproval(binding: SessionBinding, toolCallId: string | undefined): Wait {
  const waits = approvalWaits(binding.head?.waits ?? [])
  checkOptional(toolCallId, 'toolCallId', aText)
  const [oldest] = waits
  if (toolCallId === undefined && oldest !== undefined) return oldest
  return findWait(waits, toolCallId, 'call that waits for approval')
}

function findWait(waits: readonly Wait[], toolCallId: string | undefined, what: string): Wait {
  const pending = waits.map(callIdOf)
  const details = { toolCallId, pending }
  const known = pending.length === 0 ? 'None is waiting.' : `Waiting: ${pending.join(', ')}.`
  if (toolCallId !== undefined) {
    const [wait, ...others] = waits.filter((each) => callIdOf(each) === toolCallId)
    if (wait !== undefined && others.length === 0) return wait
    if (wait !== undefined)
      throw new InspanError('misuse', `There is more than one ${what} "${toolCallId}".`, { details })
    throw new InspanError('not-found', `There is no ${what} "${toolCallId}".`, { hint: known, details })
  }
  const [only] = waits
  if (only === undefined) throw new InspanError('not-found', `There is no ${what}.`, { details })
  if (waits.length === 1) return only
  throw new InspanError('misuse', `There is more than one ${what}.`, {
    hint: `Say which by its \`toolCallId\`. ${known}`,
    details,
  })
}

/** Returns the text that the agent gets when a call is declined. */
function declineReason(context: ToolApprovalResponse['declineContext']): string | undefined {
  checkOptional(context, 'declineContext', anObject)
  const said = context?.message ?? context?.reason
  checkOptional(said, 'declineContext.message', words)
  return said
}

/** Only an explicit decision approves. Anything else is a mistake: it throws, and the call goes on waiting. */
function approvalAnswer(decision: ApprovalDecision, reason: string | undefined): Answer {
  switch (decision) {
    case 'approve':
      return { decision }
    case 'decline':
      return { decision, ...(reason === undefined ? {} : { reason }) }
    case 'always_allow_category':
      return { decision: 'approve', remember: 'category' }
    default:
      throw new InspanError('invalid-input', `"${String(decision)}" is not a valid \`decision\`.`, {
        hint: 'Give `approve`, `decline` or `always_allow_category`. The call is still waiting.',
      })
  }
}
