import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { checkAgainst } from '@inspan/agent'
import { InspanError, type JsonObject } from '@inspan/protocol'
import { asJson } from '@inspan/protocol/log'
import { isFields } from '../checks/check-given.ts'
import type { StateSchema } from '../harness-config.ts'

/** How a state is validated, and the JSON Schema that its defaults come from. */
export interface StateCheck<State> {
  validate(value: unknown): StandardSchemaV1.Result<State> | Promise<StandardSchemaV1.Result<State>>
  jsonSchema(): unknown
}

const TARGET = { target: 'draft-2020-12' } as const

export function stateCheck<State>(schema: StateSchema<State>): StateCheck<State> {
  if (!('~standard' in schema)) return jsonCheck(schema)
  const standard = schema['~standard'] as Partial<StandardSchemaV1.Props<unknown, State>> & {
    readonly jsonSchema?: StandardJSONSchemaV1.Converter
  }
  const { jsonSchema, validate } = standard
  // A schema may contain types that JSON Schema cannot express: then it has no defaults for us.
  if (validate !== undefined) return { validate, jsonSchema: () => orNothing(() => jsonSchema?.input(TARGET)) }
  const json = orNothing(() => jsonSchema?.input(TARGET))
  if (json !== undefined) return jsonCheck(asJson(json) as JsonObject)
  throw new InspanError('invalid-input', '`stateSchema` can neither validate nor be written as JSON Schema.', {
    hint: 'Use a Standard Schema such as a zod object, or give a plain JSON Schema.',
  })
}

function jsonCheck<State>(schema: JsonObject): StateCheck<State> {
  return {
    validate: (value) => {
      const problem = checkAgainst(schema, value)
      return problem === undefined ? { value: value as State } : { issues: [{ message: problem }] }
    },
    jsonSchema: () => schema,
  }
}

function orNothing<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** Returns the defaults in a JSON Schema, also of nested objects. */
export function schemaDefaults(schema: unknown): Record<string, unknown> {
  const defaults = schema === undefined ? undefined : defaultOf(schema)
  return isFields(defaults) ? { ...defaults } : {}
}

function defaultOf(schema: unknown): unknown {
  if (!isFields(schema)) return undefined
  if (schema['default'] !== undefined) return schema['default']
  const { properties } = schema
  if (!isFields(properties)) return undefined
  const entries = Object.entries(properties).flatMap(([key, property]) => {
    const value = defaultOf(property)
    return value === undefined ? [] : [[key, value] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
