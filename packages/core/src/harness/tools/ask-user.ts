import type { Answer, JsonObject, JsonValue } from '@inspan/protocol'
import type { RunnableTool, ToolOutcome, ToolSuspension } from '@inspan/protocol/driver'
import { ToolRefusal, listOfObjects, optionalOneOf, optionalText, refusal, requiredText } from './tool-input.ts'

type SelectionMode = 'single_select' | 'multi_select'

interface UserQuestion {
  readonly question: string
  readonly options?: readonly { readonly label: string; readonly description?: string }[]
  readonly selectionMode?: SelectionMode
}

const SELECTION_MODES: readonly SelectionMode[] = ['single_select', 'multi_select']

export const askUserTool: RunnableTool = {
  name: 'ask_user',
  description:
    'Ask the user a question and wait for the answer. Without options the answer is free text; with options the user ' +
    'picks one of them, or several with selectionMode "multi_select", or answers in words of their own.',
  inputSchema: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1 },
      options: {
        type: 'array',
        items: {
          type: 'object',
          properties: { label: { type: 'string' }, description: { type: 'string' } },
          required: ['label'],
        },
      },
      selectionMode: { type: 'string', enum: ['single_select', 'multi_select'] },
    },
    required: ['question'],
  },
  category: 'other',
  isIdempotent: true,
  execute: async (input, { resume }) => {
    const question = readQuestion(input)
    return resume === undefined ? ask(question) : answered(question, resume)
  },
}

function readQuestion(input: JsonObject): UserQuestion {
  const question = requiredText(input, 'question')
  const selectionMode = optionalOneOf(input, 'selectionMode', SELECTION_MODES)
  const given = input['options'] === undefined || input['options'] === null ? [] : listOfObjects(input, 'options')
  if (given.length === 0) {
    if (selectionMode === undefined) return { question }
    throw new ToolRefusal('"selectionMode" needs "options". Leave it out for a free text question.')
  }
  const options = given.map((option) => {
    const description = optionalText(option, 'description')
    return { label: requiredText(option, 'label'), ...(description === undefined ? {} : { description }) }
  })
  if (new Set(options.map(({ label }) => label)).size < options.length) {
    throw new ToolRefusal('Two of the options have the same label.')
  }
  return { question, options, selectionMode: selectionMode ?? 'single_select' }
}

function ask(question: UserQuestion): ToolSuspension {
  return {
    suspend: {
      kind: 'question',
      description: question.question,
      payload: { ...question },
      answerSchema: JSON.stringify(answerSchema(question)),
    },
  }
}

/**
 * The schema of an answer. The user's own words are an answer too; the labels say what was offered. A single answer may
 * come alone or as a list of one.
 */
function answerSchema({ options, selectionMode }: UserQuestion): JsonObject {
  if (options === undefined) return { anyOf: [{ type: 'string' }, listOf({ type: 'string' }, 1)] }
  const label = { type: 'string', enum: options.map((option) => option.label) }
  const word = { anyOf: [label, { type: 'string', minLength: 1 }] }
  const list = selectionMode === 'multi_select' ? listOf(word) : listOf(word, 1)
  return { anyOf: selectionMode === 'multi_select' ? [list, word] : [word, list] }
}

function listOf(items: JsonObject, count?: number): JsonObject {
  const bounds = count === undefined ? { uniqueItems: true } : { minItems: count, maxItems: count }
  return { type: 'array', items, ...bounds }
}

function answered(question: UserQuestion, { decision, value, reason }: Answer): ToolOutcome {
  if (decision === 'decline') {
    return refusal(`The user did not answer${reason === undefined ? '.' : `: ${reason}`}`)
  }
  const problem = answerProblem({ ...question }, value)
  const words = (wordsOf(value) ?? []).join(', ')
  // The model gets the words although they do not fit: they were meant for it.
  if (problem !== undefined) return refusal(`User answered: ${words}. ${problem}`)
  return { result: { content: `User answered: ${words}`, isError: false } }
}

/** Says what is wrong with an answer to the question in this payload; `undefined` when nothing is. */
export function answerProblem(payload: JsonObject, value: JsonValue | undefined): string | undefined {
  const words = wordsOf(value)
  if (words === undefined) return 'An answer is a text or a list of texts.'
  const isChoice = Array.isArray(payload['options'])
  if (payload['selectionMode'] !== 'multi_select' && words.length !== 1) {
    return isChoice ? 'Exactly one option can be chosen.' : 'The answer must be one text.'
  }
  if (isChoice && words.includes('')) return 'What is chosen must not be empty.'
  return new Set(words).size < words.length ? 'The same cannot be chosen twice.' : undefined
}

function wordsOf(value: JsonValue | undefined): readonly string[] | undefined {
  const given: readonly (JsonValue | undefined)[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  const words = given.filter((word) => typeof word === 'string')
  return words.length === given.length ? words : undefined
}
