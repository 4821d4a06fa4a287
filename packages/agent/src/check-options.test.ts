import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { Agent, type AgentOptions } from './agent.ts'
import { createTool, type ToolOptions } from './create-tool.ts'

/** Checks that it throws an error that names the field. */
function refuses(make: () => unknown, field: string): void {
  assert.throws(make, (error) => InspanError.is(error, 'invalid-input') && error.message.includes(field))
}

const tool = (id: string): unknown => createTool({ id, description: 'Looks.', execute: async () => 'seen' })

suite('an agent whose options cannot be right is refused', () => {
  for (const [field, options] of [
    ['`id`', { id: undefined }],
    ['`id`', { id: '' }],
    ['`model`', { model: undefined }],
    ['`model`', { model: 5 }],
    ['`instructions`', { instructions: 5 }],
    ...[0, -1, 1.5, NaN, Infinity, '5', null].map((maxSteps) => ['`maxSteps`', { maxSteps }] as const),
    ['`stopWhen`', { stopWhen: true }],
    ['`stopWhen`', { stopWhen: [() => true, 5] }],
    ['`tools`', { tools: 'all' }],
    ['`tools`', { tools: [null] }],
    ['two tools called "look"', { tools: [tool('look'), tool('read'), tool('look')] }],
    ['`cache`', { cache: 'no' }],
    ...[0, -1, NaN, '5s'].map((idleTimeoutMs) => ['`idleTimeoutMs`', { idleTimeoutMs }] as const),
    ['`toolChoice`', { toolChoice: 'auto' }],
    ['`tokens` of the budget of agent "a"', { budget: { tokens: NaN } }],
    ['`tokens`', { budget: { tokens: '100' } }],
    ['`usd`', { budget: { usd: -1 } }],
    ['`ms`', { budget: { ms: Infinity } }],
    ['`warnAt`', { budget: { tokens: 5, warnAt: 80 } }],
    ['the budget of agent "a"', { budget: null }],
    ['`maxRetries`', { retry: { maxRetries: -1 } }],
    ['`maxRetries`', { retry: { maxRetries: 1.5 } }],
    ['`initialDelayMs`', { retry: { initialDelayMs: NaN } }],
    ['`maxRetryAfterMs`', { retry: { maxRetryAfterMs: '300' } }],
    ['`repairs`', { output: { schema: { type: 'object' }, repairs: -1 } }],
    ['`schema`', { output: {} }],
    ['`maxOutputTokens`', { settings: { maxOutputTokens: 0 } }],
    ['`temperature`', { settings: { temperature: NaN } }],
    ['`topP`', { settings: { topP: 2 } }],
    ['`stopSequences`', { settings: { stopSequences: 'x' } }],
    ['`beforeTool`', { hooks: { beforeTool: 'log' } }],
  ] as const) {
    test(`${field}: ${JSON.stringify(options)}`, () => {
      const given = { id: 'a', model: 'some/model', ...options } as unknown as AgentOptions
      refuses(() => new Agent(given), field)
    })
  }

  for (const [unknown, meant, options] of [
    ['intructions', 'instructions', { intructions: 'Be brief.' }],
    ['max_steps', 'maxSteps', { max_steps: 5 }],
    ['token', 'tokens', { budget: { token: 5 } }],
    ['retries', 'maxRetries', { retry: { retries: 5 } }],
    ['temprature', 'temperature', { settings: { temprature: 0 } }],
    ['shema', 'schema', { output: { shema: {} } }],
    ['beforeToolCall', 'beforeTool', { hooks: { beforeToolCall: () => undefined } }],
  ] as const) {
    test(`misspelt: ${unknown} for ${meant}`, () => {
      const given = { id: 'a', model: 'some/model', ...options } as unknown as AgentOptions
      refuses(() => new Agent(given), `\`${unknown}\` is not an option of `)
      refuses(() => new Agent(given), `Did you mean "${meant}"?`)
    })
  }

  test('an unknown option whose value is undefined is accepted', () => {
    const given = { id: 'a', model: 'some/model', memmory: undefined } as AgentOptions
    assert.equal(new Agent(given).id, 'a')
  })

  test('without any options', () => {
    for (const nothing of [null, undefined, 'agent', []]) refuses(() => new Agent(nothing as never), 'an agent')
  })

  test('a correct agent is accepted', () => {
    const agent = new Agent({
      id: 'a',
      model: 'some/model',
      maxSteps: 1,
      idleTimeoutMs: Infinity,
      budget: { tokens: 0, warnAt: 1 },
      retry: { maxRetries: 0, maxDelayMs: Infinity },
      settings: { temperature: 0, topP: 1 },
      stopWhen: [],
      tools: {},
    })
    assert.equal(agent.name, 'a')
  })
})

suite('a tool whose options cannot be right is refused', () => {
  for (const [field, options] of [
    ['`id`', { id: '' }],
    ['`id`', { id: 5 }],
    ['`description`', { description: undefined }],
    ['`execute`', { execute: undefined }],
    ['`category`', { category: 'reading' }],
    ['`onInterrupted`', { onInterrupted: 'maybe' }],
    ['`idempotent`', { idempotent: 'yes' }],
    ['`requireApproval`', { requireApproval: 'always' }],
    ['`toModelOutput`', { toModelOutput: 'text' }],
    ['`inputSchema`', { inputSchema: 'object' }],
  ] as const) {
    test(`${field}: ${JSON.stringify(options)}`, () => {
      const given = { id: 't', description: 'Does.', execute: () => 1, ...options } as unknown as ToolOptions
      refuses(() => createTool(given), field)
    })
  }

  test('misspelt: exectue for execute', () => {
    const given = { id: 't', description: 'Does.', exectue: () => 1 } as unknown as ToolOptions
    refuses(() => createTool(given), '`exectue` is not an option of tool "t". Did you mean "execute"?')
  })

  test('with something that no tool has', () => {
    const given = { id: 't', description: 'Does.', execute: () => 1, lifecyclePolicies: {} } as ToolOptions
    refuses(() => createTool(given), 'Known: id, description, inputSchema')
  })

  test('without any options', () => {
    for (const nothing of [null, undefined, 'tool']) refuses(() => createTool(nothing as never), 'a tool')
  })
})
