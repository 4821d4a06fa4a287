import { createTool } from '@inspan/agent'
import { scriptedModel, type ScriptedModel } from '@inspan/testing'
import type { ModelScript } from '../../engine/agent-bench.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'
import type { HarnessConfig, HarnessSubagent } from '../harness-config.ts'

export const USAGE = { inputTokens: 10, outputTokens: 5 }

export const EXPLORE: HarnessSubagent = {
  id: 'explore',
  name: 'Explorer',
  description: 'Looks around.',
  instructions: 'Only look.',
  defaultModelId: 'test/small',
}

/** A call that starts the explorer. */
export function call(
  id: string,
  task: string,
  more: object = {},
): { id: string; name: string; input: Record<string, never> } {
  return { id, name: 'subagent', input: { agentType: 'explore', task, ...more } as never }
}

/** A harness whose subagents answer by a script of their own. */
export function benchOf(
  script: ModelScript,
  work: ModelScript,
  { config = {}, definition = {} }: { config?: Partial<HarnessConfig>; definition?: Partial<HarnessSubagent> } = {},
): { bench: HarnessBench; worker: ScriptedModel; resolved: string[] } {
  const worker = scriptedModel(work)
  const resolved: string[] = []
  const bench = new HarnessBench(script, {
    resolveModel: (modelId) => {
      resolved.push(modelId)
      return worker
    },
    subagents: [{ ...EXPLORE, ...definition }],
    ...config,
  })
  return { bench, worker, resolved }
}

export const look: ReturnType<typeof createTool> = createTool({
  id: 'look',
  description: 'Looks.',
  category: 'read',
  execute: () => 'a door',
})

/** A tool that notes the colour of its request context. */
export function paint(journal: unknown[] = []): ReturnType<typeof createTool> {
  return createTool({
    id: 'paint',
    description: 'Paints.',
    category: 'edit',
    execute: (_input, { requestContext }) => {
      journal.push(requestContext.get('colour') ?? 'no colour')
      return 'painted'
    },
  })
}
