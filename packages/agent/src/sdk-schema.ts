import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonObject } from '@inspan/protocol'
import type { SchemaInput } from './schema.ts'

/** `jsonSchema()`, `zodSchema()` and the like of the AI SDK, or a function that returns one. */
export interface SdkSchema {
  readonly jsonSchema: unknown
  readonly validate?: unknown
}

type SdkValidation =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error }

/**
 * Returns a schema as we use it, `undefined` if it is none. Schemas of the AI SDK become Standard Schemas; others are
 * returned as they are.
 */
export function fromSdkSchema(given: unknown): SchemaInput | undefined {
  // A library's schema may be a function as well (arktype).
  if (typeof given === 'function' && !('~standard' in given)) return fromSdkSchema((given as () => unknown)())
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null || Array.isArray(given))
    return undefined
  if ('~standard' in given || !isSdkSchema(given)) return given as SchemaInput
  const { jsonSchema, validate } = given
  if (typeof jsonSchema !== 'object' || jsonSchema === null || 'then' in jsonSchema) return undefined
  return typeof validate === 'function'
    ? standardSchema(jsonSchema as JsonObject, (value) => (validate as (value: unknown) => unknown).call(given, value))
    : (jsonSchema as JsonObject)
}

/** A JSON Schema has no property `jsonSchema`; what the AI SDK makes also has a symbol. */
function isSdkSchema(given: object): given is SdkSchema {
  return 'jsonSchema' in given && Object.getOwnPropertySymbols(given).length > 0
}

function standardSchema(json: JsonObject, validate: (value: unknown) => unknown): SchemaInput {
  const converter = { input: () => json, output: () => json }
  const check = async (value: unknown): Promise<StandardSchemaV1.Result<unknown>> => {
    const result = (await validate(value)) as SdkValidation
    return result.success ? { value: result.value } : { issues: [{ message: result.error.message }] }
  }
  const standard = { version: 1 as const, vendor: 'ai', validate: check, jsonSchema: converter }
  return { '~standard': standard } satisfies StandardSchemaV1
}
