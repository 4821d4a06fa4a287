import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, hasToolCall, stepCountIs } from '@inspan/agent'
import type { AgentEvent } from '@inspan/protocol'
import { z } from 'zod'
import { AgentBench } from '../agent-bench.fixture.ts'

const note = createTool({ id: 'note', description: 'Notes.', execute: async () => 'noted' })
const stop = createTool({ id: 'stop', description: 'Stops.', execute: async () => 'stopping' })
const again = { toolCalls: [{ name: 'note' }], repeat: true } as const

suite('a turn stops', () => {
  test('after so many steps, with the reason of the last', async () => {
    await using bench = await AgentBench.open([again], { agent: { tools: [note], maxSteps: 3 } })
    assert.equal(await bench.play(), 'complete')
    assert.equal(bench.model.calls, 3)
    assert.equal((await bench.eventsOf('finish'))[0]?.finishReason, 'tool-calls')
  })

  test('after as many steps as its submission allows, whatever the agent wants', async () => {
    await using bench = await AgentBench.open([again], { agent: { tools: [note], maxSteps: 3 } })
    await bench.play('Go.', { turn: { maxSteps: 1 } })
    assert.equal(bench.model.calls, 1)
  })

  test('when a condition over its steps holds', async () => {
    await using bench = await AgentBench.open([again], { agent: { tools: [note], stopWhen: stepCountIs(2) } })
    await bench.play()
    assert.equal(bench.model.calls, 2)
  })

  test('when one of several does: a tool was called', async () => {
    const script = [{ toolCalls: [{ name: 'note' }] }, { toolCalls: [{ name: 'stop' }] }, { text: 'never' }]
    await using bench = await AgentBench.open(script, {
      agent: { tools: [note, stop], stopWhen: [stepCountIs(9), hasToolCall('stop')] },
    })
    await bench.play()
    assert.equal(bench.model.calls, 2)
    assert.equal((await bench.eventsOf('tool-result')).length, 2)
  })

  test('with what its steps said and did at hand', async () => {
    const seen: unknown[] = []
    const script = [{ text: 'One.', toolCalls: [{ id: 'c1', name: 'note', input: { a: 1 } }] }, { text: 'Two.' }]
    await using bench = await AgentBench.open(script, {
      agent: {
        tools: [note],
        stopWhen: ({ steps }) => {
          seen.push(...steps)
          return false
        },
      },
    })
    await bench.play()
    assert.deepEqual(seen, [
      {
        stepIndex: 0,
        text: 'One.',
        toolCalls: [{ toolCallId: 'c1', toolName: 'note', args: { a: 1 } }],
        toolResults: [{ toolCallId: 'c1', toolName: 'note', result: 'noted', isError: false }],
        finishReason: 'tool-calls',
        usage: {
          inputTokens: 0,
          outputTokens: 0,
          totalTokens: 0,
          reasoningTokens: 0,
          cachedInputTokens: 0,
          cacheWriteInputTokens: 0,
        },
      },
    ])
  })
})

suite('what is steered while a turn takes its last step', () => {
  for (const [what, first, agent] of [
    ['maxSteps, after an answer', { text: ['One', '.'] }, { maxSteps: 1 }],
    ['maxSteps, after a call', { text: ['One', '.'], toolCalls: [{ name: 'note' }] }, { maxSteps: 1 }],
    ['stopWhen', { text: ['One', '.'], toolCalls: [{ name: 'note' }] }, { stopWhen: stepCountIs(1) }],
  ] as const) {
    test(`stays in the queue at a limit, and begins the next run at once: ${what}`, async () => {
      await using bench = await AgentBench.open([first, { text: 'Heard.' }], { agent: { tools: [note], ...agent } })
      let steered: Promise<unknown> | undefined
      bench.runtime.onEntry((entry) => {
        if (entry.kind === 'delta') steered ??= bench.submit('One more thing.')
      })
      assert.equal(await bench.play(), 'complete')
      await steered
      await bench.runtime.idle()
      assert.equal(bench.model.calls, 2)
      assert.match(bench.prompts()[1]?.at(-1) ?? '', /One more thing/)
      assert.equal(bench.runtime.state.head.queue.size, 0)
      assert.equal((await bench.eventsOf('finish')).length, 2)
    })
  }
})

suite('what goes to the model', () => {
  test('reasoning goes back with its signature, byte for byte', async () => {
    const signature = 'EqQBCkYIB+/="\\u2028 ü'
    await using bench = await AgentBench.open(
      [
        { reasoning: ['Let me ', 'think.'], signature, toolCalls: [{ name: 'note' }] },
        { parts: [{ reasoning: '', providerMetadata: { scripted: { redactedData: 'xyz' } } }, { text: 'Done.' }] },
        { text: 'Bye.' },
      ],
      { agent: { tools: [note] } },
    )
    await bench.play()
    await bench.play('And?')
    const { content } = JSON.parse(bench.prompts()[1]?.[1] ?? '{}') as { content?: unknown[] }
    assert.deepEqual(content?.[0], {
      type: 'reasoning',
      text: 'Let me think.',
      providerOptions: { scripted: { signature } },
    })
    assert.ok(JSON.stringify(bench.model.requests[2]).includes('"redactedData":"xyz"'))
  })

  test('options for the provider: of the agent, of the turn over them, of a part of the message', async () => {
    await using bench = await AgentBench.open([{ text: 'Hi.' }], {
      agent: { providerOptions: { scripted: { a: 1, b: 1 }, other: { c: 1 } } },
    })
    await bench.play('', {
      turn: { providerOptions: { scripted: { b: 2 } } },
      parts: [{ id: '0', type: 'text', text: 'Go.', meta: { provider: { scripted: { cite: true } } } }],
    })
    const [request] = bench.model.requests
    assert.deepEqual(request?.['providerOptions'], { scripted: { a: 1, b: 2 }, other: { c: 1 } })
    assert.deepEqual(request['prompt'], [
      {
        role: 'user',
        content: [{ type: 'text', text: 'Go.', providerOptions: { scripted: { cite: true } } }],
      },
    ])
  })

  test('images and files', async () => {
    await using bench = await AgentBench.open([{ text: 'Nice.' }])
    const data = Buffer.from('x'.repeat(60_000)).toString('base64')
    await bench.play('', {
      parts: [
        { id: '0', type: 'image', mimeType: 'image/png', data },
        { id: '1', type: 'file', mimeType: 'application/pdf', data: 'aGk=', fileName: 'a.pdf' },
      ],
    })
    assert.deepEqual(bench.model.requests[0]?.['prompt'], [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data } },
          { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'aGk=' }, filename: 'a.pdf' },
        ],
      },
    ])
  })

  test('settings, and tools as JSON Schema', async () => {
    const add = createTool({
      id: 'add',
      description: 'Adds.',
      inputSchema: z.object({ a: z.number() }),
      execute: ({ a }) => a,
    })
    await using bench = await AgentBench.open([{ text: 'Hi.' }], {
      agent: { tools: { plus: add }, settings: { temperature: 0.2 }, toolChoice: { type: 'auto' } },
    })
    await bench.play()
    const [request] = bench.model.requests
    assert.equal(request?.['temperature'], 0.2)
    assert.deepEqual(request['toolChoice'], { type: 'auto' })
    assert.deepEqual(request['tools'], [
      {
        type: 'function',
        name: 'plus',
        description: 'Adds.',
        inputSchema: {
          $schema: 'http://json-schema.org/draft-07/schema#',
          type: 'object',
          properties: { a: { type: 'number' } },
          required: ['a'],
        },
      },
    ])
  })

  test('instructions, model and tools that are functions are asked for before every step', async () => {
    const asked: string[] = []
    const script = [{ toolCalls: [{ name: 'note' }] }, { text: 'Done.' }]
    await using bench = await AgentBench.open(script, {
      agent: {
        instructions: ({ requestContext }) => {
          asked.push('instructions')
          return `Speak to ${String(requestContext.get('user'))}. ${asked.length}`
        },
        tools: ({ threadId }) => {
          asked.push(`tools of ${threadId}`)
          return [note]
        },
      },
    })
    await bench.play('Go.', { requestContext: { user: 'Ann' } })
    const systems = bench.prompts().map(([system]) => system)
    assert.match(systems[0] ?? '', /Speak to Ann\. /)
    assert.match(systems[1] ?? '', /Speak to Ann\. /)
    assert.notEqual(systems[0], systems[1])
    assert.ok(asked.filter((each) => each === 'tools of thread').length >= 2)
  })
})

suite('usage', () => {
  test('is counted per step and in all, what was cached and thought apart', async () => {
    await using bench = await AgentBench.open(
      [
        { toolCalls: [{ name: 'note' }], usage: { inputTokens: 100, cachedInputTokens: 80, outputTokens: 9 } },
        { text: 'Done.', usage: { inputTokens: 120, outputTokens: 11, reasoningTokens: 6, cacheWriteInputTokens: 20 } },
      ],
      { agent: { tools: [note] } },
    )
    await bench.play()
    const steps = (await bench.eventsOf('step-finish')).map(({ usage }) => usage)
    assert.deepEqual(
      steps.map((usage) => [usage?.inputTokens, usage?.cachedInputTokens, usage?.outputTokens, usage?.reasoningTokens]),
      [
        [20, 80, 9, 0],
        [100, 0, 11, 6],
      ],
    )
    const [finish] = await bench.eventsOf('finish')
    assert.equal(finish?.usage?.outputTokens, 20)
    assert.equal(finish.usage.totalTokens, 240)
    assert.equal(bench.runtime.state.head.usage.own.outputTokens, 20)
    assert.equal(bench.runtime.state.head.usage.own.cachedInputTokens, 80)
  })
})

suite('tools of a step', () => {
  test('run at once, and each result is recorded when it is there', async () => {
    const slow = Promise.withResolvers<string>()
    const first = createTool({ id: 'first', description: 'Waits for the second.', execute: () => slow.promise })
    const second = createTool({
      id: 'second',
      description: 'Ends first.',
      execute: () => {
        slow.resolve('one')
        return 'two'
      },
    })
    const script = [
      {
        toolCalls: [
          { id: 'a', name: 'first' },
          { id: 'b', name: 'second' },
        ],
      },
      { text: 'Done.' },
    ]
    await using bench = await AgentBench.open(script, { agent: { tools: [first, second] } })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(
      new Set((await bench.eventsOf('tool-result')).map(({ result }) => result)),
      new Set(['one', 'two']),
    )
  })

  test('calls with the same id are kept apart', async () => {
    const script = [
      {
        toolCalls: [
          { id: 'x', name: 'note', inputDeltas: 2, input: { a: 1 } },
          { id: 'x', name: 'note', inputDeltas: 2, input: { a: 2 } },
        ],
      },
      {
        toolCalls: [
          { id: 'x', name: 'note' },
          { id: '', name: 'note' },
        ],
      },
      { text: 'Done.' },
    ]
    await using bench = await AgentBench.open(script, { agent: { tools: [note] } })
    assert.equal(await bench.play(), 'complete')
    const results = (await bench.eventsOf('tool-result')).map(({ toolCallId }) => toolCallId)
    assert.equal(new Set(results).size, 4)
  })

  test('tools of a step that come twice, word for word and under one id, are one call', async () => {
    const call = { id: 'x', name: 'count', input: { a: 1 }, inputDeltas: 3 }
    let ran = 0
    const count = createTool({ id: 'count', description: 'Counts.', execute: () => ++ran })
    const script = [{ toolCalls: [call, call, { ...call, input: { a: 2 } }, call] }, { text: 'Done.' }]
    await using bench = await AgentBench.open(script, { agent: { tools: [count] } })
    assert.equal(await bench.play(), 'complete')
    assert.equal(ran, 2)
    const ordered = await bench.eventsOf('tool-call')
    assert.deepEqual(
      ordered.map(({ args }) => args),
      [{ a: 1 }, { a: 2 }],
    )
    assert.equal((await bench.eventsOf('tool-result')).length, 2)
  })

  test('tools of a step that the provider ran itself stay with what it said, and are not run by us', async () => {
    const search = { id: 's', name: 'web_search', input: { q: 1 }, providerExecuted: true, result: { hits: 2 } }
    await using bench = await AgentBench.open([{ parts: [{ toolCall: search }, { text: 'Found.' }] }, { text: 'Yes.' }])
    await bench.play()
    await bench.play('Sure?')
    const said = JSON.parse(bench.prompts()[1]?.[1] ?? '{}') as { role?: string; content?: unknown[] }
    assert.equal(said.role, 'assistant')
    assert.deepEqual(said.content, [
      { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: { q: 1 }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'web_search', output: { type: 'json', value: { hits: 2 } } },
      { type: 'text', text: 'Found.' },
    ])
  })
})

suite('what a tool shows the model', () => {
  test('is kept apart from its result, however large, and is the same in every later request', async () => {
    const data = Buffer.from('x'.repeat(60_000)).toString('base64')
    const shot = createTool({
      id: 'shot',
      description: 'Looks at the screen.',
      execute: () => ({ width: 3, height: 2 }),
      toModelOutput: () => ({ type: 'content', value: [{ type: 'file', mediaType: 'image/png', data }] }),
    })
    await using bench = await AgentBench.open(
      [{ toolCalls: [{ id: 'c1', name: 'shot' }] }, { text: 'Nice.' }, { text: 'Still nice.' }],
      { agent: { tools: [shot] } },
    )
    await bench.play()
    await bench.restart()
    await bench.play('Again?')
    assert.deepEqual((await bench.eventsOf('tool-result'))[0]?.result, { width: 3, height: 2 })
    assert.ok(!JSON.stringify(await bench.records()).includes(data), 'the record only says where it is')
    const [second, third] = bench.prompts().slice(1)
    assert.deepEqual(JSON.parse(second?.[2] ?? '{}'), {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'shot',
          output: {
            type: 'content',
            value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data } }],
          },
        },
      ],
    })
    assert.equal(third?.[2], second?.[2])
  })
})

suite('a cancelled answer', () => {
  test('stays in the conversation as far as it went, without half a thought', async () => {
    await using bench = await AgentBench.open([
      { parts: [{ reasoning: 'Hmm' }, { text: ['So far', ' so good'] }], hang: true },
      { text: 'Next.' },
    ])
    const heard = Promise.withResolvers<void>()
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'delta' && JSON.stringify(entry.event).includes('so good')) heard.resolve()
    })
    const run = await bench.submit('Go.')
    await heard.promise
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    const events: AgentEvent[] = await bench.events()
    assert.equal(events.filter(({ type }) => type === 'finish').length, 1)
    assert.equal(events.filter(({ type }) => type === 'error').length, 0)
    await bench.play('Go on.')
    assert.match(JSON.stringify(bench.model.requests[1]), /So far so good/)
  })
})

suite('a model that does not listen to its signal', () => {
  for (const how of ['cancel', 'a limit of time'] as const) {
    test(`is left alone between two words, and the turn ends as it would with any other: ${how}`, async () => {
      const stopped = Promise.withResolvers<void>()
      let signal: AbortSignal | undefined
      let late = 0
      const endless = new ReadableStream<{ type: 'text-delta'; id: string; delta: string }>({
        pull: async (controller) => {
          if (signal?.aborted === true) late++
          await new Promise((resolve) => setImmediate(resolve))
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'more ' })
        },
        cancel: () => stopped.resolve(),
      })
      const deaf = { specificationVersion: 'v4', provider: 'deaf', modelId: 'deaf', supportedUrls: {} } as const
      const budget = how === 'cancel' ? {} : { budget: { ms: 200 } }
      await using bench = await AgentBench.open([], {
        agent: {
          ...budget,
          model: {
            ...deaf,
            doGenerate: () => Promise.reject(new Error('no')),
            doStream: async ({ abortSignal }: { abortSignal?: AbortSignal }) => {
              signal = abortSignal
              return { stream: endless }
            },
          },
        },
      })
      const heard = Promise.withResolvers<void>()
      bench.runtime.onEntry((entry) => {
        if (entry.kind === 'delta') heard.resolve()
      })
      const run = await bench.submit('Go.')
      await heard.promise
      if (how === 'cancel') await bench.runtime.cancel()
      const outcome = await run.done
      await stopped.promise
      assert.equal(late, 0, 'it is asked for nothing more')
      assert.equal(outcome, how === 'cancel' ? 'aborted' : 'complete')
      assert.equal((await bench.eventsOf('finish')).length, 1)
    })
  }
})
