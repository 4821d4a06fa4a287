import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tool } from 'ai'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { Agent, Harness, type HarnessConfig } from '../../index.ts'

const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
})
const plain = {
  description: 'Doubles a number.',
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  execute: ({ n }: { n: number }) => 2 * n,
}

const CALLS = [
  { toolCalls: [{ name: 'weather', input: { city: 'Rome' } }] },
  { toolCalls: [{ name: 'plain', input: { n: 4 } }] },
  { toolCalls: [{ name: 'plain', input: { n: 'four' } }] },
  { text: 'Done.' },
]

/** Runs a turn that calls the tools, and returns their results and the schemas the model was shown. */
async function results(
  config: (
    tools: { weather: typeof weather; plain: typeof plain },
    model: ReturnType<typeof scriptedModel>,
  ) => Partial<HarnessConfig>,
): Promise<{ readonly results: readonly unknown[]; readonly schemas: readonly unknown[] }> {
  const model = scriptedModel(CALLS)
  const harness = new Harness({
    id: 'tools',
    modes: [{ id: 'chat' }],
    permissions: { tools: { weather: 'allow', plain: 'allow' } },
    ...config({ weather, plain }, model),
  })
  const found: unknown[] = []
  harness.subscribe((event) => {
    if (event.type === 'tool_end') found.push(event.result)
  })
  await harness.sendMessage({ content: 'Go' })
  await harness.destroy()
  const [first] = model.requests
  return {
    results: found,
    schemas: ((first?.['tools'] ?? []) as readonly object[]).map((each) => Reflect.get(each, 'inputSchema') as unknown),
  }
}

describe('tools of the AI SDK and plain objects work', () => {
  const places = {
    'at an agent': (tools, model) => ({ agent: new Agent({ id: 'me', model, tools }) }),
    'at a mode': (tools, model) => ({ agent: new Agent({ id: 'me', model }), modes: [{ id: 'chat', tools }] }),
    'as additional tools of a mode': (tools, model) => ({
      agent: new Agent({ id: 'me', model }),
      modes: [{ id: 'chat', additionalTools: tools }],
    }),
    'at a harness': (tools, model) => ({ agent: new Agent({ id: 'me', model }), tools }),
    'from a function of a harness': (tools, model) => ({ agent: new Agent({ id: 'me', model }), tools: () => tools }),
  } satisfies Record<string, Parameters<typeof results>[0]>

  for (const [place, config] of Object.entries(places)) {
    it(place, async () => {
      const { results: found, schemas } = await results(config)
      assert.deepEqual(found.slice(0, 2), ['sunny in Rome', 8])
      assert.match(String(found[2]), /n/)
      assert.ok(schemas.length >= 2)
      for (const schema of schemas) assert.equal(Reflect.get(schema as object, 'type'), 'object')
      assert.doesNotMatch(JSON.stringify(schemas), /_zod|_def|~standard/)
    })
  }
})
