import { z } from 'zod'
import type { JsonObject } from '../json.ts'
import { schemas, type SchemaName } from './schemas.ts'

/**
 * The types that programs outside may have to read or write. Each gets a file of its own, with the types it uses under
 * `$defs`.
 */
export const PUBLISHED: readonly SchemaName[] = [
  'ActivityEvent',
  'AgentConfig',
  'AgentEvent',
  'Capabilities',
  'ChatEvent',
  'ChatMessage',
  'ClientMessage',
  'CommandRow',
  'Command',
  'DeltaFrame',
  'HarnessDisplayState',
  'HarnessState',
  'LogRecord',
  'Owner',
  'ServerMessage',
  'StoredHead',
  'StoredMessage',
  'ThreadInfo',
  'Turn',
  'ViewSnapshot',
  'WaitRow',
  'WireEvent',
]

/** Returns the schema of a type as self-contained JSON Schema (draft 2020-12). */
export function jsonSchemaOf(name: SchemaName): JsonObject {
  const schema = z.toJSONSchema(schemas[name], {
    metadata: names(),
    io: 'input',
    // Only our check for "any JSON" cannot be expressed, and an empty JSON Schema means just that.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if ((zodSchema as unknown) === schemas.JsonObject) jsonSchema.type = 'object'
    },
  })
  return { title: name, ...(schema as JsonObject) }
}

/** Named types become `$defs` under their names. */
function names(): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(schemas) as [SchemaName, z.ZodType][]) registry.add(schema, { id })
  return registry
}

/** Returns the file name of a published schema, e.g. `log-record.json` for `LogRecord`. */
export function jsonSchemaFile(name: SchemaName): string {
  return `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.json`
}
