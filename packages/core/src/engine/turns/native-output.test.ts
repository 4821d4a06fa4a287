import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, hasToolCall } from '@inspan/agent'
import type { TurnOutput } from '@inspan/protocol/driver'
import { z } from 'zod'
import { AgentBench } from '../agent-bench.fixture.ts'

const schema = z.object({ name: z.string(), age: z.number().int() })
const look = createTool({ id: 'look', description: 'Looks it up.', execute: () => 'Ann is 7.' })
const ANN = { name: 'Ann', age: 7 }
const WRONG = JSON.stringify({ name: 'Ann', age: 'seven' })

suite('an answer that is to be data', () => {
  test('is asked for by its schema, checked, and kept with the run', async () => {
    await using bench = await AgentBench.open([{ text: ['{"name":"Ann",', '"age":7}'] }], {
      agent: { output: { schema, name: 'person', description: 'Who it is.' } },
    })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(bench.runtime.state.head.lastRun?.output, ANN)
    const format = bench.model.requests[0]?.['responseFormat'] as { [key: string]: unknown }
    assert.equal(format['type'], 'json')
    assert.equal(format['name'], 'person')
    assert.deepEqual((format['schema'] as { required: unknown }).required, ['name', 'age'])
  })

  test('an answer that must be data', async () => {
    await using bench = await AgentBench.open([{ text: '```json\n{"name":"Ann","age":7}\n```' }], {
      agent: { output: { schema } },
    })
    await bench.play()
    assert.deepEqual(bench.runtime.state.head.lastRun?.output, ANN)
  })

  for (const [what, text] of [
    ['no JSON', 'Ann is seven.'],
    ['JSON of another kind', WRONG],
  ] as const) {
    test(`an answer that is ${what} is repaired: the model is told what is wrong`, async () => {
      await using bench = await AgentBench.open([{ text }, { text: JSON.stringify(ANN) }], {
        agent: { output: { schema } },
      })
      assert.equal(await bench.play(), 'complete')
      assert.deepEqual(bench.runtime.state.head.lastRun?.output, ANN)
      const told = bench.prompts()[1]?.at(-1) ?? ''
      assert.match(told, what === 'no JSON' ? /not JSON/ : /age: Invalid input/)
      assert.deepEqual(bench.prompts()[1]?.slice(0, 1), bench.prompts()[0])
    })
  }

  test('an answer that stays wrong ends the turn with a typed error, after as many repairs as are allowed', async () => {
    for (const [repairs, calls] of [
      [undefined, 2],
      [0, 1],
      [3, 4],
    ] as const) {
      await using bench = await AgentBench.open([{ text: WRONG, repeat: true }], {
        agent: { output: { schema, ...(repairs === undefined ? {} : { repairs }) } },
      })
      assert.equal(await bench.play(), 'error')
      assert.equal(bench.model.calls, calls)
      const [error] = await bench.eventsOf('error')
      assert.equal(error?.code, 'invalid-output')
      assert.match(error.error.message, /does not fit the schema: age/)
      assert.equal((await bench.eventsOf('finish')).length, 1)
      assert.equal(bench.runtime.state.head.lastRun?.output, undefined)
    }
  })

  for (const [endedBy, limit] of [
    ['maxSteps', { maxSteps: 1 }],
    ['stopWhen', { stopWhen: hasToolCall('look') }],
  ] as const) {
    test(`an answer that never came because of \`${endedBy}\` ends the turn with a typed error`, async () => {
      const script = [{ toolCalls: [{ name: 'look' }] }, { text: JSON.stringify(ANN) }]
      await using bench = await AgentBench.open(script, { agent: { output: { schema }, tools: { look }, ...limit } })
      assert.equal(await bench.play(), 'error')
      assert.equal(bench.model.calls, 1)
      const [error, ...more] = await bench.eventsOf('error')
      assert.deepEqual(more, [])
      assert.equal(error?.code, 'invalid-output')
      assert.match(error.error.message, new RegExp(`ended by \`${endedBy}\``))
      assert.deepEqual(
        (await bench.eventsOf('finish')).map(({ finishReason }) => finishReason),
        ['error'],
      )
      assert.equal(bench.runtime.state.head.lastRun?.output, undefined)
    })
  }

  test('an answer in the last allowed step counts', async () => {
    const script = [{ toolCalls: [{ name: 'look' }] }, { text: JSON.stringify(ANN) }]
    await using bench = await AgentBench.open(script, { agent: { output: { schema }, tools: { look }, maxSteps: 2 } })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(bench.runtime.state.head.lastRun?.output, ANN)
  })

  test('is not missed in a turn that was cancelled, and not in one whose model failed', async () => {
    await using cancelled = await AgentBench.open([{ hang: true }], { agent: { output: { schema } } })
    const run = await cancelled.submit('Go.')
    await cancelled.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    assert.deepEqual(await cancelled.eventsOf('error'), [])
    await using failed = await AgentBench.open([{ error: { status: 400 } }], { agent: { output: { schema } } })
    assert.equal(await failed.play(), 'error')
    const errors = await failed.eventsOf('error')
    assert.equal(errors.length, 1)
    assert.notEqual(errors[0]?.code, 'invalid-output')
  })

  test('can be asked for with a submission, by a plain JSON Schema', async () => {
    const output: TurnOutput = {
      schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
    }
    await using bench = await AgentBench.open([{ text: '{"ok":"yes"}' }, { text: '{"ok":true}' }, { text: 'Plain.' }])
    assert.equal(await bench.play('Is it?', { turn: { output } }), 'complete')
    assert.deepEqual(bench.runtime.state.head.lastRun?.output, { ok: true })
    assert.match(bench.prompts()[1]?.at(-1) ?? '', /ok: expected boolean, received string/)
    await bench.play('And in words?')
    assert.equal(bench.runtime.state.head.lastRun?.output, undefined)
    assert.equal(bench.model.requests[2]?.['responseFormat'], undefined)
  })
})
