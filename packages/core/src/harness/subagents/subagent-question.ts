import type { Answer, JsonObject, JsonValue, Wait } from '@inspan/protocol'
import type { ToolSuspension } from '@inspan/protocol/driver'
import { isObject } from '../tools/tool-input.ts'
import type { ChildNote } from './child-note.ts'

const DECISION = JSON.stringify({
  anyOf: [
    { type: 'boolean' },
    { type: 'string' },
    {
      type: 'object',
      properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
      required: ['approved'],
    },
  ],
})

/** Returns the first question in a subagent's thread that a person has to answer. */
export function questionIn(waits: Iterable<Wait>): Wait | undefined {
  return [...waits].find(({ kind }) => kind !== 'limit' && kind !== 'child')
}

/** Asks in the parent's thread what a subagent asks. It says who asks and what that one was told to do. */
export function passedOn(wait: Wait, name: string, child: string, { agentType, task }: ChildNote): ToolSuspension {
  const { description, payload, subject } = wait
  const answerSchema = wait.kind === 'approval' ? DECISION : wait.answerSchema
  const asked: JsonObject = {
    ...(subject.toolCallId === undefined ? {} : { toolCallId: subject.toolCallId }),
    ...(subject.toolName === undefined ? {} : { toolName: subject.toolName }),
    ...(subject.args === undefined ? {} : { args: subject.args }),
    ...(payload === undefined ? {} : { payload }),
  }
  return {
    suspend: {
      kind: kindOf(wait),
      description: `Subagent "${name}" asks: ${description}`,
      payload: {
        kind: 'subagent_question',
        asks: wait.kind,
        agentType,
        task,
        description,
        asked,
        threadId: child,
        waitId: wait.id,
      },
      ...(answerSchema === undefined ? {} : { answerSchema }),
    },
  }
}

/** A plan of a subagent changes no mode of its parent, so there it is a mere question. */
function kindOf({ kind }: Wait): ToolSuspension['suspend']['kind'] {
  if (kind === 'approval') return 'access'
  return kind === 'plan' ? 'question' : kind
}

/** Returns the answer for the subagent's own question. */
export function passedBack(wait: Wait, answer: Answer): Answer {
  if (wait.kind !== 'approval') return answer
  const reason = answer.reason ?? reasonIn(answer.value)
  return isYes(answer) ? { decision: 'approve' } : { decision: 'decline', ...(reason === undefined ? {} : { reason }) }
}

/** Everything that is not clearly a yes is a no. */
function isYes({ decision, value }: Answer): boolean {
  if (decision !== 'answer') return decision === 'approve'
  if (isObject(value)) return value['approved'] === true || value['decision'] === 'approve'
  return value === true || (typeof value === 'string' && /^(y|yes|allow|approve|approved)$/i.test(value.trim()))
}

function reasonIn(value: JsonValue | undefined): string | undefined {
  const reason = isObject(value) ? value['reason'] : undefined
  return typeof reason === 'string' ? reason : undefined
}
