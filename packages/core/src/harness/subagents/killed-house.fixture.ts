import { appendFileSync } from 'node:fs'
import { Agent, createTool } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ModelRequest, type Script, type ScriptedModel } from '@inspan/testing'
import { Harness } from '../harness.ts'

/** A harness on a database, with a subagent that notes every call of its tool in a file. */
export function openHouse(
  url: string,
  journal: string,
  scripts: { readonly parent: Script<ModelRequest>; readonly worker: Script<ModelRequest> },
): { harness: Harness; storage: SqliteStore; parent: ScriptedModel; worker: ScriptedModel } {
  const storage = new SqliteStore({ url })
  const parent = scriptedModel(scripts.parent)
  const worker = scriptedModel(scripts.worker)
  const paint = createTool({
    id: 'paint',
    description: 'Paints.',
    execute: (_input, { requestContext }) => {
      appendFileSync(journal, `${String(requestContext.get('colour'))}\n`)
      return 'painted'
    },
  })
  const harness = new Harness({
    id: 'house',
    storage,
    agent: new Agent({ id: 'agent', model: parent }),
    modes: [{ id: 'build' }],
    resolveModel: () => worker,
    permissions: { tools: { paint: 'allow' } },
    subagents: [
      {
        id: 'painter',
        name: 'Painter',
        description: 'Paints.',
        instructions: 'Paint.',
        defaultModelId: 'test/worker',
        tools: { paint },
      },
    ],
  })
  return { harness, storage, parent, worker }
}
