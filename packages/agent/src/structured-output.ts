import { InspanError, type JsonObject, type JsonValue } from '@inspan/protocol'
import type { TurnOutput } from '@inspan/protocol/driver'
import { closedSchema } from './closed-schema.ts'
import { isStandard, jsonSchemaOf, validate, type SchemaInput } from './schema.ts'
import { toJson } from './to-json.ts'

/** Asks for structured output. */
export interface OutputOptions {
  readonly schema: SchemaInput
  readonly name?: string
  readonly description?: string
  /** How often the model is asked to correct an invalid answer. Default: 1. */
  readonly repairs?: number
}

export interface ResponseFormat {
  readonly type: 'json'
  readonly schema: JsonObject
  readonly name?: string
  readonly description?: string
}

export function responseFormat({ description, name, schema }: OutputOptions | TurnOutput): ResponseFormat {
  const json = jsonSchemaOf(schema, 'the output')
  return {
    type: 'json',
    // A plain JSON Schema is sent as written.
    schema: isStandard(schema) ? closedSchema(json) : json,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
  }
}

export type ReadOutput = { readonly output: JsonValue } | { readonly problem: string }

/** Returns the data in an answer, or what is wrong with it. */
export async function readOutput(options: OutputOptions | TurnOutput, text: string): Promise<ReadOutput> {
  const parsed = parse(text)
  if (parsed === undefined) return { problem: 'The answer is not JSON.' }
  const checked = await validate(options.schema, parsed.value)
  return checked.ok
    ? { output: toJson(checked.value).value }
    : { problem: `The answer does not fit the schema: ${checked.message}` }
}

/** The error of a turn whose answer stayed wrong. */
export function invalidOutput(problem: string): InspanError {
  return new InspanError('invalid-output', problem, { hint: 'Make the schema simpler, or allow more repairs.' })
}

/** The error of a turn that ended when the model had only called tools. */
export function noOutput(endedBy: 'maxSteps' | 'stopWhen'): InspanError {
  return new InspanError('invalid-output', `The turn was ended by \`${endedBy}\` before the model gave an answer.`, {
    hint: endedBy === 'maxSteps' ? 'Allow more steps.' : 'Let it go on until the model answers.',
    details: { endedBy },
  })
}

/** Returns the message that asks the model to try again. */
export function repairRequest(problem: string): string {
  return `${problem} Answer again, with nothing but JSON that fits the schema.`
}

function parse(text: string): { readonly value: unknown } | undefined {
  // Some models put JSON into a code fence, whatever the instructions.
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)
  try {
    return { value: JSON.parse(fenced?.[1] ?? text) }
  } catch {
    return undefined
  }
}
