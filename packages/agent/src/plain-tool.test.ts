import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonSchema, tool, dynamicTool, zodSchema } from 'ai'
import { anthropic } from '@ai-sdk/anthropic'
import { InspanError, type JsonObject } from '@inspan/protocol'
import type { ToolOutcome } from '@inspan/protocol/driver'
import { z } from 'zod'
import { Agent } from './agent.ts'
import { runnableTools, type ToolsInput } from './runnable-tool.ts'
import { aToolRun } from './tool-run.fixture.ts'

const shown: string[] = []
const run = aToolRun({ progress: (output) => void shown.push(output) })

async function call(tools: ToolsInput, input: JsonObject): Promise<ToolOutcome> {
  const [only] = runnableTools(tools)
  assert.ok(only !== undefined)
  const outcome = await only.execute(input, run)
  assert.ok('result' in outcome)
  return outcome
}

function agentWith(tools: unknown): Agent {
  return new Agent({ id: 'me', model: 'none', tools: tools as ToolsInput })
}

describe('tools of the AI SDK', () => {
  const add = tool({
    description: 'Adds two numbers.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => a + b,
  })

  it('are shown to the model by their JSON Schema and run with checked input', async () => {
    const [ready] = runnableTools({ add })
    assert.equal(ready?.name, 'add')
    assert.equal(ready?.description, 'Adds two numbers.')
    assert.deepEqual(Object.keys(ready?.inputSchema['properties'] as JsonObject), ['a', 'b'])
    assert.deepEqual(await call({ add }, { a: 2, b: 3 }), { result: 5 })
    assert.match((await ready?.checkInput?.({ a: 'x', b: 1 })) ?? '', /a/)
    assert.equal((await call({ add }, { a: 'x', b: 1 })).isError, true)
  })

  it('may return texts, lists, nothing, and objects that look like our own outcomes', async () => {
    for (const [returned, result] of [
      ['sunny', 'sunny'],
      [
        [1, 2],
        [1, 2],
      ],
      [undefined, null],
      [
        { result: 1, unit: 'm' },
        { result: 1, unit: 'm' },
      ],
      [{ suspend: 'no' }, { suspend: 'no' }],
    ] as const) {
      const given = tool({ inputSchema: z.object({}), execute: () => returned })
      assert.deepEqual((await call({ given }, {})).result, result)
    }
  })

  it('have schemas made by jsonSchema(), with or without a check of their own, zodSchema(), or lazily', async () => {
    const plain = jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    })
    const strict = jsonSchema<{ city: string }>(
      { type: 'object', properties: { city: { type: 'string' } } },
      {
        validate: (value) =>
          (value as { city?: string }).city === 'Rome'
            ? { success: true, value: { city: 'Rome' } }
            : { success: false, error: new Error('only Rome') },
      },
    )
    const zod = zodSchema(z.object({ city: z.string() }))
    for (const inputSchema of [plain, strict, zod, () => plain]) {
      const look = tool({ inputSchema, execute: ({ city }) => `in ${city}` })
      const [ready] = runnableTools({ look })
      assert.equal('city' in ((ready?.inputSchema['properties'] ?? {}) as JsonObject), true)
      assert.equal((await call({ look }, { city: 'Rome' })).result, 'in Rome')
      assert.equal((await call({ look }, { city: 5 })).isError, true)
    }
    assert.match(JSON.stringify(await call({ look: tool({ inputSchema: strict, execute: () => 1 }) }, {})), /only Rome/)
  })

  it('get the call, an abort signal and messages in their second argument', async () => {
    const look = tool({
      inputSchema: z.object({}),
      execute: (_, options) => [options.toolCallId, options.abortSignal instanceof AbortSignal, options.messages],
    })
    assert.deepEqual((await call({ look }, {})).result, ['call', true, []])
  })

  it('show what they yield, and decide what the model sees', async () => {
    const count = tool({
      inputSchema: z.object({ to: z.number() }),
      async *execute({ to }) {
        for (let n = 1; n <= to; n++) yield `at ${n}`
      },
      toModelOutput: ({ toolCallId, input, output }) => ({
        type: 'text',
        value: `${toolCallId} ${String(input.to)} ${output}`,
      }),
    })
    shown.length = 0
    const { modelOutput, result } = await call({ count }, { to: 2 })
    assert.deepEqual([result, shown], ['at 2', ['at 1', 'at 2']])
    assert.deepEqual(modelOutput, { type: 'text', value: 'call 2 at 2' })
  })

  it('ask for approval where they require it; one that decides later asks', () => {
    const always = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 1 })
    const large = tool({ inputSchema: z.object({ n: z.number() }), needsApproval: ({ n }) => n > 9, execute: () => 1 })
    const later = tool({ inputSchema: z.object({}), needsApproval: async () => false, execute: () => 1 })
    const [first, second, third] = runnableTools({ always, large, later })
    assert.equal(first?.requiresApproval, true)
    assert.ok(typeof second?.requiresApproval === 'function' && typeof third?.requiresApproval === 'function')
    assert.deepEqual([second.requiresApproval({ n: 10 }), second.requiresApproval({ n: 1 })], [true, false])
    assert.equal(third.requiresApproval({}), true)
  })

  it('may be dynamic', async () => {
    const any = dynamicTool({ description: 'Any.', inputSchema: z.object({}), execute: async () => 'ok' })
    assert.deepEqual(await call({ any }, {}), { result: 'ok' })
  })
})

describe('plain objects as tools', () => {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const

  it('need a description, a schema and execute', async () => {
    const double = { description: 'Doubles.', inputSchema, execute: ({ n }: { n: number }) => 2 * n }
    assert.deepEqual(await call({ double }, { n: 4 }), { result: 8 })
    assert.equal((await call({ double }, { n: 'x' })).isError, true)
  })

  it('are named by id or name in a list', () => {
    const execute = (): number => 1
    const ready = runnableTools([
      { id: 'one', description: 'One.', inputSchema, execute },
      { name: 'two', description: 'Two.', inputSchema, execute },
    ])
    assert.deepEqual(
      ready.map(({ name }) => name),
      ['one', 'two'],
    )
  })
})

describe('what cannot be used as a tool is refused when the agent is made:', () => {
  const execute = (): number => 1
  const refusals: readonly (readonly [string, unknown, RegExp])[] = [
    ['no execute', { ask: tool({ description: 'Asks.', inputSchema: z.object({}) }) }, /Tool "ask" has no `execute`/],
    [
      'tools of a provider',
      { search: anthropic.tools.webSearch_20250305() },
      /Tool "search" is defined by a model's provider \(anthropic\.web_search_20250305\)/,
    ],
    ['something else', { five: 5 }, /Tool "five" is number/],
    ['a list without names', [{ description: 'No name.', execute }], /Tool 1 of the list `tools` has no name/],
    ['no schema', { bad: { description: 'Bad.', inputSchema: 'text', execute } }, /schema of tool "bad" is/],
    [
      'a schema that JSON cannot express',
      { when: { description: 'When.', inputSchema: z.object({ at: z.date() }), execute } },
      /tool "when" cannot be written as JSON Schema/,
    ],
  ]
  for (const [what, tools, message] of refusals) {
    it(what, () => {
      assert.throws(
        () => agentWith(tools),
        (error) => InspanError.is(error) && message.test(error.message) && (error.hint ?? '') !== '',
      )
    })
  }
})
