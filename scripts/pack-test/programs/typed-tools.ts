/** Tools as other libraries make them: the types must accept them at agent, harness and mode. */
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { tool } from 'ai'
import { z } from 'zod'

const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const weather = tool({
  description: 'Returns the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sun in ${city}`,
})
const people = { description: 'Counts.', inputSchema, execute: async () => 'many' }
const place = {
  description: 'Finds.',
  inputSchema: z.object({ city: z.string() }),
  execute: async (input: { city: string }) => input.city,
}
export const harness = new Harness({
  id: 'typed-tools',
  agent: new Agent({ id: 'me', model: scriptedModel([]), tools: { weather, people, place } }),
  storage: new MemoryStore(),
  tools: { weather, people, place },
  modes: [{ id: 'chat', additionalTools: { weather, people, place } }],
})
