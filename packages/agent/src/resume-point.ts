import type { FinishReason, Part, StoredMessage } from '@inspan/protocol'
import type { Host, Turn } from '@inspan/protocol/driver'
import type { OrderedCall } from './model-answer.ts'
import { recordedStep, textOf, type TurnStep } from './turn-step.ts'

/** What an earlier process left of a turn: calls without a result, or a complete answer without its finish. */
export interface ResumePoint {
  readonly nextStep: number
  readonly steps: readonly TurnStep[]
  readonly calls: readonly OrderedCall[]
  /** The ids of all calls of the turn. */
  readonly callIds: readonly string[]
  /** Set if the agent had given its last answer. */
  readonly answer: { readonly finishReason: FinishReason; readonly text: string } | undefined
}

export async function resumePoint(host: Host, turn: Turn): Promise<ResumePoint> {
  const messages: StoredMessage[] = []
  let newest: StoredMessage | undefined
  for await (const message of host.history({ order: 'newest' })) {
    newest ??= message
    // What another run said comes before this one.
    if (message.run !== undefined && message.run !== turn.runId) break
    if (message.turn === turn.turnId && message.role === 'assistant') messages.push(message)
  }
  messages.reverse()
  const said = messages.map((message) => (message.step ?? -1) + 1)
  const calls = messages.flatMap(unansweredCalls)
  const last = messages.at(-1)
  const isAnswered =
    last !== undefined &&
    // A message after it has no answer yet.
    last === newest &&
    calls.length === 0 &&
    last.error === undefined &&
    last.state === 'done' &&
    last.finishReason !== undefined &&
    !last.parts.some(isOwnCall)
  return {
    // A step that was cut off before its first output has no message.
    nextStep: Math.max(turn.resumed?.nextStep ?? 0, ...said),
    steps: messages.filter((message) => message.error === undefined).map(recordedStep),
    calls,
    callIds: messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])),
    ),
    answer: isAnswered ? { finishReason: last.finishReason, text: textOf(last) } : undefined,
  }
}

function isOwnCall(part: Part): boolean {
  return part.type === 'tool-call' && part.meta?.['providerExecuted'] !== true
}

function unansweredCalls(message: StoredMessage): OrderedCall[] {
  // The calls of a failed attempt are never carried out.
  if (message.error !== undefined) return []
  const answered = new Set(
    message.parts.flatMap((part) => (part.type === 'tool-result' && part.state !== 'open' ? [part.toolCallId] : [])),
  )
  return message.parts.flatMap((part) =>
    part.type === 'tool-call' && isOwnCall(part) && !answered.has(part.toolCallId)
      ? [
          {
            toolCallId: part.toolCallId,
            toolName: part.toolName,
            args: part.args,
            isBroken: part.meta?.invalidInput !== undefined,
          },
        ]
      : [],
  )
}
