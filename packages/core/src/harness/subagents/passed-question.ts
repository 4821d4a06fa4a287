import type { Answer, JsonObject, Wait, WaitRequest } from '@inspan/protocol'
import type { AskingSubagent } from '@inspan/protocol/harness'
import { defined } from '@inspan/protocol/internal'
import { PASSED_ON as ASKER } from '../../engine/index.ts'
import { isObject } from '../tools/tool-input.ts'

/** Returns the questions in a subagent's thread that a person has to answer. */
export function questionsIn(waits: Iterable<Wait>): Wait[] {
  return [...waits].filter(({ kind }) => kind !== 'limit' && kind !== 'child')
}

/** Returns the id under which the parent asks a question of a subagent: the same in every process. */
export function passedId(child: string, waitId: string): string {
  return `${child}:${waitId}`
}

/**
 * Returns a question of a subagent as one of its parent's thread. It says who asks and what that one was told to do; if
 * the subagent itself only passes it on, the one that began. Providers may give calls of several agents one id: a call
 * whose id is `taken` gets another, so that no answer reaches the wrong one.
 */
export function passedOn(
  wait: Wait,
  name: string,
  asker: AskingSubagent,
  taken: ReadonlySet<string | undefined>,
): WaitRequest {
  const { answerSchema, description, kind, payload, resumable, subject } = wait
  const { hash: _hash, judgedAs: _judgedAs, ...shown } = subject
  const { toolCallId } = shown
  const another =
    toolCallId !== undefined && taken.has(toolCallId) ? { toolCallId: passedId(asker.threadId, toolCallId) } : {}
  const isPassedOn = askerOf(wait) !== undefined
  const labels: JsonObject = isPassedOn ? {} : { [ASKER]: { ...asker } }
  return {
    id: passedId(asker.threadId, wait.id),
    // A plan of a subagent changes no mode of its parent, so there it is a mere question.
    kind: kind === 'plan' ? 'question' : kind,
    subject: { ...shown, ...another },
    description: isPassedOn ? description : `Subagent "${name}" asks: ${description}`,
    payload: { ...payload, ...labels },
    ...defined({ answerSchema, resumable }),
  }
}

/** Returns the subagent that asks; `undefined` if the thread's own agent does. */
export function askerOf({ payload }: Wait): AskingSubagent | undefined {
  const asker = payload?.[ASKER]
  if (!isObject(asker)) return undefined
  const { agentType, task, threadId } = asker
  const isComplete = typeof agentType === 'string' && typeof task === 'string' && typeof threadId === 'string'
  return isComplete ? { agentType, task, threadId } : undefined
}

/** Returns the answer for the subagent's own question. Everything that is not clearly a yes declines an approval. */
export function passedBack(wait: Wait, answer: Answer): Answer {
  if (wait.kind !== 'approval') return answer
  const { decision, reason, remember, scope } = answer
  if (decision === 'approve') return { decision, ...defined({ remember, scope }) }
  return { decision: 'decline', ...defined({ reason }) }
}
