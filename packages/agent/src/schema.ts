import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { InspanError, type JsonObject, type JsonValue } from '@inspan/protocol'
import { describeIssues } from '@inspan/protocol/internal'
import { asJson } from '@inspan/protocol/log'
import { checkAgainst } from './json-schema-check.ts'

/** A schema of any library that follows Standard Schema (zod, valibot, arktype …), or a plain JSON Schema. */
export type SchemaInput = StandardSchemaV1 | JsonObject

/** The type of values a schema accepts. A plain JSON Schema has no static type. */
export type Infer<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : JsonObject

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

/** Never throws: a schema that fails on a value has not accepted it. */
export async function validate(schema: SchemaInput, value: unknown): Promise<Validated> {
  if (!isStandard(schema)) {
    const problem = checkAgainst(schema, value)
    return problem === undefined ? { ok: true, value } : { ok: false, message: problem }
  }
  try {
    const result = await schema['~standard'].validate(value)
    return result.issues === undefined
      ? { ok: true, value: result.value }
      : { ok: false, message: describeIssues(result.issues) }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the JSON Schema for the model. `what` names the owner in the error if the library cannot provide one. */
export function jsonSchemaOf(schema: SchemaInput, what: string, side: 'input' | 'output' = 'input'): JsonObject {
  if (!isStandard(schema)) return schema
  const standard = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
  const unwritable = `The schema of ${what} cannot be written as JSON Schema`
  if (standard.jsonSchema === undefined) {
    throw new InspanError('unsupported', `${unwritable}.`, {
      hint: 'Use a library that offers it by Standard Schema (zod 4 does), or give a plain JSON Schema.',
    })
  }
  try {
    return asJson(standard.jsonSchema[side]({ target: 'draft-07' })) as JsonObject
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InspanError('unsupported', `${unwritable}: ${why}.`, {
      hint: 'Describe what JSON can hold, such as a date as a text, and make the rest of it in the tool.',
      cause,
    })
  }
}

export function isStandard(schema: SchemaInput): schema is StandardSchemaV1 {
  return '~standard' in schema
}

/** Returns a schema as text, for a wait. */
export function schemaText(schema: SchemaInput, what: string): string {
  const json: JsonValue = jsonSchemaOf(schema, what)
  return JSON.stringify(json)
}
