import type { Answer, JsonObject, JsonValue, RunnableTool, ToolOutcome, ToolSuspension } from '@evener/protocol'
import { InvalidToolInput, listOfObjects, optionalOneOf, optionalText, refusal, requiredText } from './tool-input.ts'

type SelectionMode = 'single_select' | 'multi_select'

interface Question {
  readonly question: string
  readonly options?: readonly { readonly label: string; readonly description?: string }[]
  readonly selectionMode?: SelectionMode
}

const SELECTION_MODES: readonly SelectionMode[] = ['single_select', 'multi_select']

export const askUserTool: RunnableTool = {
  name: 'ask_user',
  description:
    'Ask the user a question and wait for the answer. Without options the answer is free text; with options the user ' +
    'picks one of them, or several with selectionMode "multi_select".',
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

function readQuestion(input: JsonObject): Question {
  const question = requiredText(input, 'question')
  const selectionMode = optionalOneOf(input, 'selectionMode', SELECTION_MODES)
  const given = input['options'] === undefined || input['options'] === null ? [] : listOfObjects(input, 'options')
  if (given.length === 0) {
    if (selectionMode === undefined) return { question }
    throw new InvalidToolInput('"selectionMode" needs "options". Leave it out for a free text question.')
  }
  const options = given.map((option) => {
    const description = optionalText(option, 'description')
    return { label: requiredText(option, 'label'), ...(description === undefined ? {} : { description }) }
  })
  if (new Set(options.map(({ label }) => label)).size < options.length) {
    throw new InvalidToolInput('Two of the options have the same label.')
  }
  return { question, options, selectionMode: selectionMode ?? 'single_select' }
}

function ask(question: Question): ToolSuspension {
  return {
    suspend: {
      kind: 'question',
      description: question.question,
      payload: { ...question },
      answerSchema: JSON.stringify(answerSchema(question)),
    },
  }
}

function answerSchema({ options, selectionMode }: Question): JsonObject {
  if (options === undefined) return { type: 'string' }
  const label = { type: 'string', enum: options.map((option) => option.label) }
  return selectionMode === 'multi_select' ? { type: 'array', items: label, uniqueItems: true } : label
}

function answered(question: Question, { decision, value, reason }: Answer): ToolOutcome {
  if (decision === 'decline') {
    return refusal(`The user did not answer${reason === undefined ? '.' : `: ${reason}`}`)
  }
  const problem = answerProblem({ ...question }, value)
  const words = wordsOf(value)
  // The words are not kept from the model: they were meant for it.
  if (problem !== undefined) return refusal(`User answered: ${words.join(', ')}. ${problem}`)
  return { result: { content: `User answered: ${words.join(', ')}`, isError: false } }
}

/** What is wrong with an answer to the question of this payload; `undefined` when nothing is. */
export function answerProblem(payload: JsonObject, value: JsonValue | undefined): string | undefined {
  const options = Array.isArray(payload['options']) ? (payload['options'] as readonly JsonValue[]) : undefined
  const words = wordsOf(value)
  const isList = Array.isArray(value)
  if (value === undefined || value === null || (isList && words.length !== (value as readonly JsonValue[]).length)) {
    return 'An answer is a text or a list of texts.'
  }
  if (options === undefined) return words.length === 1 ? undefined : 'The answer must be one text.'
  const labels = options.flatMap((option) => (isLabelled(option) ? [option.label] : []))
  const unknown = words.filter((word) => !labels.includes(word))
  if (unknown.length > 0) return `Not among the options: ${unknown.join(', ')}. Options: ${labels.join(', ')}.`
  if (payload['selectionMode'] !== 'multi_select' && words.length !== 1) return 'Exactly one option can be chosen.'
  return undefined
}

function wordsOf(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).filter((word) => typeof word === 'string')
  if (typeof value === 'string') return [value]
  return typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : []
}

function isLabelled(option: JsonValue): option is { readonly label: string } {
  return typeof option === 'object' && option !== null && 'label' in option && typeof option.label === 'string'
}
