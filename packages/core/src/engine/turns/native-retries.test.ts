import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { AgentBench } from '../agent-bench.fixture.ts'

const note = createTool({ id: 'note', description: 'Notes.', execute: async () => 'noted' })

suite('a model that cannot answer', () => {
  for (const [what, failure] of [
    ['429', { error: { status: 429, retryAfterMs: 3 } }],
    ['529', { error: { status: 529 } }],
    ['500', { error: { status: 500 } }],
    ['an error in the stream before any word', { text: '', streamError: { status: 503 } }],
    ['a connection that breaks before any word', { cut: 'reset' as const }],
    ['a stream that ends before any word', { cut: 'end' as const }],
  ] as const) {
    test(`${what}: is asked again in the same step, nobody sees it, the record says so`, async () => {
      await using bench = await AgentBench.open([failure, { text: 'Here.' }])
      assert.equal(await bench.play(), 'complete')
      assert.equal(bench.model.calls, 2)
      assert.equal(bench.model.requestBodies[0], bench.model.requestBodies[1])
      const events = await bench.events()
      assert.deepEqual(
        events.map((event) => event.type),
        ['start', 'step-start', 'text-delta', 'step-finish', 'finish'],
      )
      const [retry, ...more] = await bench.notes('warning')
      assert.deepEqual(more, [])
      assert.equal(retry?.data?.['type'], 'llm-retry')
      assert.equal(retry.data['attempt'], 2)
    })
  }

  test('honours how long the provider wants to be left alone', async () => {
    await using bench = await AgentBench.open([{ error: { status: 429, retryAfterMs: 7 } }, { text: 'Here.' }])
    await bench.play()
    assert.deepEqual((await bench.notes('warning'))[0]?.data, {
      type: 'llm-retry',
      attempt: 2,
      delayMs: 7,
      status: 429,
    })
  })

  test('is asked again also when options are given that are not set', async () => {
    const retry: { [name: string]: number } = { initialDelayMs: 1 }
    Object.assign(retry, { maxRetries: undefined, maxRetryAfterMs: undefined })
    await using bench = await AgentBench.open([{ error: { status: 429 } }, { text: 'Here.' }], { agent: { retry } })
    assert.equal(await bench.play(), 'complete')
  })

  test('is not asked again when that would be too long', async () => {
    const script = [{ error: { status: 429, retryAfterMs: 3_600_000 } }, { text: 'Here.' }]
    await using bench = await AgentBench.open(script)
    assert.equal(await bench.play(), 'error')
    assert.equal(bench.model.calls, 1)
  })

  test('is left alone for twice as long every time, up to a limit, and not by all at the same moment', async () => {
    const script = [{ error: { status: 500 }, repeat: 5 }, { text: 'Here.' }]
    const retry = { maxRetries: 5, initialDelayMs: 4, maxDelayMs: 20 }
    await using bench = await AgentBench.open(script, { agent: { retry } })
    assert.equal(await bench.play(), 'complete')
    const delays = (await bench.notes('warning')).map(({ data }) => Number(data?.['delayMs']))
    assert.equal(delays.length, 5)
    for (const [index, longest] of [4, 8, 16, 20, 20].entries()) {
      const delay = delays[index] ?? 0
      assert.ok(delay >= longest / 2 && delay <= longest, `${delay} of ${longest}`)
    }
  })

  test('usage of failed attempts counts if the model is asked again in the same step', async () => {
    const failed = { text: '', finishReason: 'error' as const, usage: { inputTokens: 30, outputTokens: 1 } }
    const script = [failed, failed, { text: 'Here.', usage: { inputTokens: 30, outputTokens: 5 } }]
    await using bench = await AgentBench.open(script)
    assert.equal(await bench.play(), 'complete')
    const [step, ...more] = await bench.eventsOf('step-finish')
    assert.deepEqual(more, [])
    assert.deepEqual([step?.usage?.inputTokens, step?.usage?.outputTokens], [90, 7])
    const [finish] = await bench.eventsOf('finish')
    assert.deepEqual([finish?.usage?.inputTokens, finish?.usage?.outputTokens], [90, 7])
    assert.equal(bench.runtime.state.head.usage.own.totalTokens, 97)
  })

  test('is asked no more than so often, and the turn ends with the error', async () => {
    const script = [{ error: { status: 503, message: 'overloaded' }, repeat: true as const }]
    await using bench = await AgentBench.open(script, { agent: { retry: { maxRetries: 2, initialDelayMs: 1 } } })
    assert.equal(await bench.play(), 'error')
    assert.equal(bench.model.calls, 3)
    const [error, ...more] = await bench.eventsOf('error')
    assert.equal(error?.error.message, 'overloaded')
    assert.deepEqual(more, [])
    assert.equal((await bench.eventsOf('finish')).length, 1)
  })

  test('is not asked again for what will not change', async () => {
    for (const error of [{ status: 400 }, { status: 401 }, { status: 500, retryable: false }]) {
      await using bench = await AgentBench.open([{ error }, { text: 'never' }])
      assert.equal(await bench.play(), 'error')
      assert.equal(bench.model.calls, 1)
      assert.equal((await bench.eventsOf('finish')).length, 1)
    }
  })

  test('counts failures in a row: one that answered in between has a clean sheet', async () => {
    const script = [
      { error: { status: 500 } },
      { toolCalls: [{ name: 'note' }] },
      { error: { status: 500 } },
      { text: 'Done.' },
    ]
    await using bench = await AgentBench.open(script, {
      agent: { tools: [note], retry: { maxRetries: 1, initialDelayMs: 1 } },
    })
    assert.equal(await bench.play(), 'complete')
  })

  test('can be cancelled while it is left alone', async () => {
    await using bench = await AgentBench.open([{ error: { status: 429, retryAfterMs: 200_000 } }])
    const run = await bench.submit('Go.')
    while ((await bench.notes('warning')).length === 0) await new Promise((resolve) => setImmediate(resolve))
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    assert.equal((await bench.eventsOf('error')).length, 0)
    assert.equal((await bench.eventsOf('finish')).length, 1)
  })
})

suite('an answer that is cut off after it began', () => {
  for (const cut of ['end', 'reset'] as const) {
    test(`(${cut}): stays as a step of its own, and the next attempt is a new step`, async () => {
      await using bench = await AgentBench.open([
        { text: ['Half ', 'a thought'], cut },
        { text: 'A whole one.' },
        { text: 'Later.' },
      ])
      assert.equal(await bench.play(), 'complete')
      const steps = (await bench.eventsOf('step-finish')).map(({ stepIndex, finishReason }) => [
        stepIndex,
        finishReason,
      ])
      assert.deepEqual(steps, [
        [0, 'error'],
        [1, 'stop'],
      ])
      const [user, half, whole] = await bench.messages()
      assert.equal(user?.role, 'user')
      assert.equal(half?.parts[0]?.type === 'text' && half.parts[0].text, 'Half a thought')
      assert.notEqual(half?.error, undefined)
      assert.equal(whole?.parts[0]?.type === 'text' && whole.parts[0].text, 'A whole one.')
      assert.equal((await bench.eventsOf('error')).length, 0, 'the turn went on: nothing failed for who listens')
      // The text of a failed attempt is not sent as the model's words.
      assert.equal(bench.model.requestBodies[1], bench.model.requestBodies[0])
      await bench.play('And then?')
      assert.ok(!JSON.stringify(bench.model.requests[2]).includes('Half'))
    })
  }

  test('uses up none of the steps a turn may take', async () => {
    const script = [{ text: 'Half', cut: 'end' as const, repeat: 2 }, { text: 'Whole.' }]
    await using bench = await AgentBench.open(script, { agent: { maxSteps: 1 } })
    assert.equal(await bench.play(), 'complete')
    assert.equal(bench.model.calls, 3)
    const steps = (await bench.eventsOf('step-finish')).map(({ stepIndex, finishReason }) => [stepIndex, finishReason])
    assert.deepEqual(steps, [
      [0, 'error'],
      [1, 'error'],
      [2, 'stop'],
    ])
  })

  test('uses up none of them in a process that is gone either', async () => {
    const script = [
      { text: 'Half', cut: 'end' as const },
      { text: ['Half', ' again'], hang: true as const },
      { text: 'Whole.' },
    ]
    await using bench = await AgentBench.open(script, { agent: { maxSteps: 1 } })
    const shown = Promise.withResolvers<void>()
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'delta' && JSON.stringify(entry.event).includes(' again')) shown.resolve()
    })
    await bench.submit('Go.')
    await shown.promise
    await bench.restart()
    await bench.runtime.idle()
    assert.equal(bench.model.calls, 3)
    assert.equal((await bench.eventsOf('finish')).at(-1)?.finishReason, 'stop')
  })

  test('an answer that is cut off again and again fails after so many retries, with the error', async () => {
    const script = [{ text: 'Half', cut: 'end' as const, repeat: true as const }]
    await using bench = await AgentBench.open(script, {
      agent: { maxSteps: 1, retry: { maxRetries: 2, initialDelayMs: 1 } },
    })
    assert.equal(await bench.play(), 'error')
    assert.equal(bench.model.calls, 3)
    assert.equal((await bench.eventsOf('error')).length, 1)
  })

  test('orders nothing: its calls are closed and not carried out', async () => {
    let ran = 0
    const count = createTool({ id: 'count', description: 'Counts.', execute: () => ++ran })
    const call = { id: 'c1', name: 'count', input: { to: 3 } }
    await using bench = await AgentBench.open(
      [
        { parts: [{ toolCall: call }, { text: 'and' }], cut: 'end' },
        { toolCalls: [{ ...call, inputDeltas: 4 }], cutAfter: 2, cut: 'end' },
        { toolCalls: [call] },
        { text: 'Done.' },
      ],
      { agent: { tools: [count] } },
    )
    assert.equal(await bench.play(), 'complete')
    assert.equal(ran, 1)
    // A call whose input was cut off does not count.
    const ordered = (await bench.eventsOf('tool-call')).filter(({ meta }) => meta?.interrupted !== true)
    assert.deepEqual(
      ordered.map(({ toolCallId }) => toolCallId),
      (await bench.eventsOf('tool-result')).map(({ toolCallId }) => toolCallId),
    )
    for (const message of await bench.messages()) {
      assert.equal(message.state, 'done')
      assert.ok(message.parts.every((part) => part.state !== 'open'))
    }
  })

  test('an answer with provider-executed calls is in doubt: the next request reports that to the model', async () => {
    const search = { id: 's1', name: 'web_search', input: { query: 'x' }, providerExecuted: true }
    await using bench = await AgentBench.open([
      { parts: [{ text: 'Looking.' }, { toolCall: search }, { text: 'So' }], cut: 'reset' },
      { text: 'I looked again.' },
    ])
    assert.equal(await bench.play(), 'complete')
    assert.match(bench.prompts()[1]?.at(-1) ?? '', /interrupted while it used web_search.*unknown/)
    assert.deepEqual(await outcomes(bench), ['in-doubt'])
  })
})

/** Returns the recorded outcomes of the calls of a thread. */
async function outcomes(bench: AgentBench): Promise<unknown[]> {
  return (await bench.records()).flatMap(({ body }) => (body.type === 'tool-result' ? [body.outcome] : []))
}

test('provider-executed calls are in doubt after a crash as well', async () => {
  const search = { id: 's1', name: 'web_search', input: { query: 'x' }, providerExecuted: true }
  await using bench = await AgentBench.open([
    { parts: [{ toolCall: search }, { text: ['So', ' far'] }], hang: true },
    { text: 'I looked again.' },
  ])
  const shown = Promise.withResolvers<void>()
  bench.runtime.onEntry((entry) => {
    if (entry.kind === 'delta' && JSON.stringify(entry.event).includes(' far')) shown.resolve()
  })
  await bench.submit('Go.')
  await shown.promise
  // Waits until the call is on disk, or another process could not know of it.
  while (!(await bench.records()).some(({ body }) => body.type === 'tool-call')) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  await bench.restart()
  await bench.runtime.idle()
  assert.equal(bench.model.calls, 2)
  assert.match(bench.prompts()[1]?.at(-1) ?? '', /interrupted while it used web_search.*unknown/)
  assert.deepEqual(await outcomes(bench), ['in-doubt'])
})

test('a second finish changes nothing', async () => {
  await using bench = await AgentBench.open([
    {
      parts: [
        { text: 'Hi.' },
        {
          raw: {
            type: 'finish',
            finishReason: { unified: 'stop' },
            usage: { inputTokens: { total: 5 }, outputTokens: { total: 1 } },
          },
        },
      ],
      usage: { inputTokens: 900, outputTokens: 90 },
      finishReason: 'length',
    },
  ])
  assert.equal(await bench.play(), 'complete')
  const finishes = await bench.eventsOf('finish')
  assert.equal(finishes.length, 1)
  assert.equal(finishes[0]?.finishReason, 'stop')
  assert.equal(finishes[0]?.usage?.inputTokens, 5)
})

test('the last result that a provider reports for its own tool is kept', async () => {
  const call = { toolCallId: 'p1', toolName: 'web_search' }
  await using bench = await AgentBench.open([
    {
      parts: [
        { raw: { type: 'tool-call', ...call, input: '{}', providerExecuted: true } },
        { raw: { type: 'tool-result', ...call, result: { found: 1 }, preliminary: true } },
        { raw: { type: 'tool-result', ...call, result: { found: 2 } } },
        { text: 'Two.' },
      ],
    },
  ])
  assert.equal(await bench.play(), 'complete')
  assert.deepEqual(
    (await bench.eventsOf('tool-result')).map(({ result }) => result),
    [{ found: 2 }],
  )
  assert.deepEqual(await outcomes(bench), [undefined])
})
