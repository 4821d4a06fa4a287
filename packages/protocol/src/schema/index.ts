export type { Schema } from './exact.ts'
export { jsonSchemaFile, jsonSchemaOf, PUBLISHED } from './json-schema.ts'
export { schemas, type ProtocolSchemas, type SchemaName } from './schemas.ts'
