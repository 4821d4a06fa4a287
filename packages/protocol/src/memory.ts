import type { JsonObject } from './json.ts'

/** What stands for messages that are no longer sent to the model. Stored as a blob. */
export interface MemoryContent {
  /** What the model reads instead. */
  readonly text: string
  /** What the memory itself needs to go on. */
  readonly state: JsonObject
}
