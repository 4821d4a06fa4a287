import type { JsonObject } from '@inspan/protocol'
import { z } from 'zod'
import { createTool, type Tool } from '../../index.ts'

export const done: { readonly text: string } = { text: 'Done.' }
export function call(
  name: string,
  id = 'c1',
  input: JsonObject = {},
): { readonly id: string; readonly name: string; readonly input: JsonObject } {
  return { id, name, input }
}

/** A tool that records in a journal that it ran. */
export function journalTool(id: string, journal: string[], gate?: Promise<void>): Tool {
  return createTool({
    id,
    description: id,
    inputSchema: z.object({}),
    execute: async () => {
      journal.push(id)
      await gate
      return `${id} ran`
    },
  })
}

export function withTools(journal: string[], ...ids: readonly string[]): { tools: Record<string, Tool> } {
  return { tools: Object.fromEntries(ids.map((id) => [id, journalTool(id, journal)])) }
}
