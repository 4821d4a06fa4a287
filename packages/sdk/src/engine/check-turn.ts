import type { Part } from '@inspan/protocol'
import type { HarnessCapabilities, StreamOptions, ToolApprovalMode } from '@inspan/protocol/chat'
import { unsupported } from '../errors.ts'

/** What is sent, and how. */
export interface WantedTurn extends Omit<StreamOptions, 'requireToolApproval'> {
  readonly parts: readonly Part[]
  readonly approval: ToolApprovalMode | undefined
}

/** Throws if the agent cannot take the turn as it is wanted. Nothing has happened then. */
export function checkTurn(harnessId: string, can: HarnessCapabilities, wanted: WantedTurn): void {
  const { approval, budget, effort, maxSteps, onLimit, parts } = wanted
  if (approval !== undefined && can.approvals === 'none') {
    throw unsupported(harnessId, 'approval of tool calls (`requireToolApproval`)')
  }
  if (approval === 'batch' && !can.batchApprovals) {
    const what = "approval of several tool calls at once (`requireToolApproval: 'batch'`)"
    throw unsupported(harnessId, what, "It asks about one call at a time: use 'serial'.")
  }
  if (effort !== undefined && !can.effort.includes(effort)) {
    throw unsupported(harnessId, `the effort "${effort}"`, `Its levels: ${can.effort.join(', ') || 'none'}.`)
  }
  if (onLimit === 'park' && !can.limits) {
    throw unsupported(harnessId, "waiting for a provider's limit (`onLimit: 'park'`)")
  }
  if (maxSteps !== undefined && !can.maxSteps) {
    throw unsupported(harnessId, 'a limit of model calls (`maxSteps`)', 'Limit the time: `budget: { ms }`.')
  }
  if (budget?.tokens !== undefined && !can.usage) {
    const hint = 'It does not report what it uses. Limit the time: `budget: { ms }`.'
    throw unsupported(harnessId, 'a budget in tokens (`budget.tokens`)', hint)
  }
  checkAttachments(harnessId, can, parts)
}

/** Throws if the agent cannot take the messages as context: a program is told in words what it has missed. */
export function checkContext(
  harnessId: string,
  { attachments }: HarnessCapabilities,
  parts: Iterable<Pick<Part, 'type'>>,
): void {
  if (attachments === 'all') return
  for (const { type } of parts) {
    if (type !== 'image' && type !== 'file') continue
    throw unsupported(harnessId, 'images and files as context (`addContext`)', 'Send them with a message.')
  }
}

/** Texts are files that every agent can be given: they are part of the message. */
const AS_TEXT = /^(text\/.*|application\/json)$/

function checkAttachments(harnessId: string, { attachments }: HarnessCapabilities, parts: readonly Part[]): void {
  if (attachments === 'all') return
  const hint = 'Leave it out, or write it to a file that the agent can read.'
  for (const part of parts) {
    if (part.type === 'image' && attachments === 'none') throw unsupported(harnessId, 'images as input', hint)
    if (part.type === 'file' && !AS_TEXT.test(part.mimeType)) {
      throw unsupported(harnessId, `files of type ${part.mimeType} as input`, hint)
    }
  }
}
