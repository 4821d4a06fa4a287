import type { JsonObject } from '@inspan/protocol'
import { countRequestTokens } from '../window.ts'

/** A model list in the formats of both vendors at once, so that each client finds the fields it knows. */
export function modelList(ids: readonly string[]): JsonObject {
  return {
    object: 'list',
    data: ids.map((id) => modelEntry(id)),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }
}

export function modelEntry(id: string): JsonObject {
  return {
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 1_767_225_600,
    created_at: '2026-01-01T00:00:00Z',
    owned_by: 'scripted',
  }
}

/** A rough estimate that depends on the text only. */
export function countTokens(text: string): JsonObject {
  return { input_tokens: countRequestTokens(text) }
}
