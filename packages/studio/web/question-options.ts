import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { PendingApproval } from '@inspan/protocol/wire'

export interface ShownQuestion {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly description?: string }[]
  readonly isMultiple: boolean
  /** Files that the question is about. */
  readonly files: readonly string[]
  /** Whether only the options are answers. */
  readonly isClosed: boolean
}

/** Reads a question with its options from what the agent has asked. */
export function optionsOf({ answerSchema, description, payload = {} }: PendingApproval): ShownQuestion {
  const { files, options, question } = payload
  const mode = payload['selectionMode'] ?? payload['mode']
  return {
    question: typeof question === 'string' ? question : description,
    options: Array.isArray(options) ? (options as readonly JsonValue[]).flatMap(optionOf) : [],
    isMultiple: payload['multiSelect'] === true || mode === 'multi' || mode === 'multiple' || mode === 'multi_select',
    files: Array.isArray(files) ? (files as readonly JsonValue[]).filter((file) => typeof file === 'string') : [],
    isClosed: isEnum(answerSchema),
  }
}

function optionOf(option: JsonValue): { readonly label: string; readonly description?: string }[] {
  if (typeof option === 'string') return [{ label: option }]
  if (typeof option !== 'object' || option === null || Array.isArray(option)) return []
  const { description, label } = option as JsonObject
  if (typeof label !== 'string') return []
  return [{ label, ...(typeof description === 'string' ? { description } : {}) }]
}

function isEnum(schema: string | undefined): boolean {
  try {
    return schema !== undefined && 'enum' in (JSON.parse(schema) as object)
  } catch {
    return false
  }
}
