import { toErrorData, type JsonObject, type JsonValue } from '@inspan/protocol'
import type { ChatToolResultInfo, ToolDefinition } from '@inspan/protocol/chat'
import type { RunnableTool, ToolOutcome } from '@inspan/protocol/driver'
import { AgentSDKError } from '../errors.ts'

/** Returns tools whose calls wait until the caller submits a result, also after a restart. */
export function consumerTools(definitions: readonly ToolDefinition[]): RunnableTool[] {
  return definitions.map(({ name, description, inputSchema, annotations }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: inputSchema as JsonObject,
    ...(annotations === undefined ? {} : { annotations }),
    // A call only asks for its result, so asking again does no harm.
    isIdempotent: true,
    execute: async (_input, { resume }) => {
      if (resume === undefined) return { suspend: { kind: 'tool', description: `${name} waits for its result` } }
      return resume.decision === 'decline'
        ? { result: `The call was declined${resume.reason === undefined ? '.' : `: ${resume.reason}`}`, isError: true }
        : outcomeOf(resume.value)
    },
  }))
}

/** Returns a submitted result as it is recorded. */
export function submittedValue({ error, isError, result, toolName }: ChatToolResultInfo): JsonObject {
  return {
    result: asJsonValue(result, toolName),
    isError: isError === true,
    ...(error === undefined ? {} : { error: { ...toErrorData(error), stack: '' } as unknown as JsonValue }),
  }
}

function outcomeOf(value: JsonValue | undefined): ToolOutcome {
  const { result = null, isError, error } = value as { result?: JsonValue; isError?: boolean; error?: JsonValue }
  return {
    result,
    ...(isError === true ? { isError } : {}),
    ...(error === undefined ? {} : { error: error as unknown as NonNullable<ToolOutcome['error']> }),
  }
}

function asJsonValue(value: unknown, toolName: string): JsonValue {
  if (value === undefined) return null
  try {
    const text = JSON.stringify(value)
    if (text !== undefined) return JSON.parse(text) as JsonValue
  } catch (error) {
    throw notJson(toolName, error)
  }
  throw notJson(toolName)
}

function notJson(toolName: string, cause?: unknown): AgentSDKError {
  return new AgentSDKError('INVALID_MESSAGE_CONTENT', `The result of "${toolName}" is not JSON.`, {
    hint: 'Submit plain values: texts, numbers, lists and objects of them.',
    ...(cause === undefined ? {} : { cause }),
  })
}
