import { Agent, createTool, Harness, MemoryStore } from '@inspan/core'
import { serve, type InspanServer } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { studioPages } from './index.ts'

type Script = Parameters<typeof scriptedModel>[0]

export interface StudioBench {
  readonly harness: Harness
  readonly server: InspanServer
  close(): Promise<void>
}

/** A served harness with two tools, one of which needs an approval, and a model that follows a script. */
export async function startStudio(script: Script, storage: MemoryStore = new MemoryStore()): Promise<StudioBench> {
  const look = createTool({
    id: 'read_file',
    description: 'Reads a file.',
    category: 'read',
    execute: () => 'one\ntwo',
  })
  const write = createTool({
    id: 'write_file',
    description: 'Writes a file.',
    category: 'edit',
    execute: () => 'written',
  })
  const agent = new Agent({ id: 'me', model: scriptedModel(script), tools: [look, write] })
  const harness = new Harness({
    id: 'studio',
    agent,
    storage,
    permissions: { categories: { read: 'allow' } },
    modes: [
      { id: 'build', name: 'Build' },
      { id: 'plan', name: 'Plan' },
    ],
  })
  const server = await serve({ harness, pages: studioPages() })
  return {
    harness,
    server,
    close: async () => {
      await server.close()
      await harness.destroy()
    },
  }
}
