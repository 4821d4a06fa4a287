import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { RunnableTool, ToolOutcome } from '@inspan/protocol/driver'

/** A call that cannot be carried out as it is, for a reason that the model gets: it may try again. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal'
}

/** Returns a refusal to the model as the result of the call instead of a failure of the tool. */
export function explaining(tool: RunnableTool): RunnableTool {
  return {
    ...tool,
    execute: async (input, context) => {
      try {
        return await tool.execute(input, context)
      } catch (error) {
        if (error instanceof ToolRefusal) return refusal(error.message)
        throw error
      }
    },
  }
}

export function requiredText(input: JsonObject, key: string): string {
  const value = optionalText(input, key)
  if (value === undefined || value.trim() === '') throw new ToolRefusal(`"${key}" must be a text that is not empty.`)
  return value
}

export function optionalText(input: JsonObject, key: string): string | undefined {
  const value = input[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw new ToolRefusal(`"${key}" must be a text.`)
}

export function optionalOneOf<Name extends string>(
  input: JsonObject,
  key: string,
  names: readonly Name[],
): Name | undefined {
  const value = optionalText(input, key)
  if (value === undefined) return undefined
  const name = names.find((each) => each === value)
  if (name === undefined) throw new ToolRefusal(`"${key}" must be one of ${names.join(', ')}.`)
  return name
}

export function listOfObjects(input: JsonObject, key: string): readonly JsonObject[] {
  const value = input[key]
  if (!Array.isArray(value)) throw new ToolRefusal(`"${key}" must be a list.`)
  return (value as readonly JsonValue[]).map((item, index) => {
    if (isObject(item)) return item
    throw new ToolRefusal(`"${key}[${index}]" must be an object.`)
  })
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the result of a built-in tool that cannot do what it was asked. */
export function refusal(content: string, extra: JsonObject = {}): ToolOutcome {
  return { result: { content, ...extra, isError: true }, isError: true }
}
