export type { JsonValue, JsonObject } from './json.ts'
