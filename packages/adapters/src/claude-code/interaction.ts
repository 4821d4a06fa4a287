import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asBoolean, asObject, asText } from '../kit/fields.ts'
import type { Ask, Verdict } from '../live/asks.ts'

const QUESTION = 'AskUserQuestion'
const PLAN = 'ExitPlanMode'

/** Tools that only ask a person something. */
export function isInteraction(toolName: JsonValue | undefined): boolean {
  return toolName === QUESTION || toolName === PLAN
}

/** An object with an answer per question, or one answer for all. Several choices are a list. */
const ANSWER_SCHEMA = JSON.stringify({
  anyOf: [
    { type: 'string' },
    { type: 'array', items: { type: 'string' } },
    {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    },
  ],
})

/** Returns what a question or a plan adds to the call. `undefined` if the tool is neither. */
export function interactionOf(
  toolName: string,
  input: JsonObject,
): Pick<Ask, 'kind' | 'description' | 'payload' | 'answerSchema'> | undefined {
  if (toolName === PLAN) {
    return { kind: 'plan', description: 'A plan was made.', payload: { plan: asText(input['plan']) ?? '' } }
  }
  if (toolName !== QUESTION) return undefined
  const questions = questionsOf(input)
  const [only] = questions.length === 1 ? questions : []
  return {
    kind: 'question',
    description: questions.map((question) => asText(question['question']) ?? '').join(' '),
    payload: {
      questions: [...questions],
      ...(only === undefined
        ? {}
        : {
            question: only['question'] ?? '',
            options: only['options'] ?? [],
            selectionMode: asBoolean(only['multiSelect']) === true ? 'multi_select' : 'single_select',
          }),
    },
    answerSchema: ANSWER_SCHEMA,
  }
}

/** Returns the tool's input with the answer, as the CLI expects it. */
export function answeredInput(toolName: string, input: JsonObject, value: JsonValue | undefined): JsonObject {
  return toolName === QUESTION ? { ...input, answers: answersOf(questionsOf(input), value) } : input
}

/** Reads the answer to a plan, which may be an action, as for our own plans. */
export function verdictOnPlan(verdict: Verdict): Verdict {
  const value = verdict.isAllowed ? asObject(verdict.value) : undefined
  if (value?.['action'] !== 'rejected') return verdict
  return { isAllowed: false, reason: asText(value['feedback']) ?? 'The plan was rejected.' }
}

export function isPlan(toolName: string): boolean {
  return toolName === PLAN
}

function questionsOf(input: JsonObject): readonly JsonObject[] {
  return (asArray(input['questions']) ?? []).flatMap((item) => {
    const question = asObject(item)
    return question === undefined ? [] : [question]
  })
}

/** Keys the answers by the text of the question, by which the CLI looks them up. */
function answersOf(questions: readonly JsonObject[], value: JsonValue | undefined): JsonObject {
  const byName = asObject(value)
  const list = asArray(value)
  const isOneEach = list !== undefined && questions.length > 1 && list.length === questions.length
  return Object.fromEntries(
    questions.map((question, index) => {
      const text = asText(question['question']) ?? ''
      const header = asText(question['header']) ?? ''
      const answer = byName === undefined ? (isOneEach ? list[index] : value) : (byName[text] ?? byName[header])
      return [text, said(answer)]
    }),
  )
}

function said(answer: JsonValue | undefined): string {
  const choices = asArray(answer)
  if (choices !== undefined) return choices.map(said).join(', ')
  return typeof answer === 'string' ? answer : answer === undefined || answer === null ? '' : JSON.stringify(answer)
}
