import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonValue } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { toHarnessMessage, type HarnessMessageContent } from '@inspan/protocol/harness'
import { sendSignal, sendStateSignal, type SignalAccepted } from './send-signal.ts'
import { signalXml } from './signal-xml.ts'
import { saveSystemReminder } from './system-reminder.ts'
import { ThreadBench } from './thread-bench.fixture.ts'

const done = { text: 'Done.' }
const call = { toolCalls: [{ id: 'c1', name: 'work', input: {} }] }

/** A tool that is at work until it is let go. */
function worker(): { tool: RunnableTool; atWork: Promise<void>; letGo: () => void } {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const execute = async (): Promise<{ result: JsonValue }> => {
    begun.resolve()
    await gate.promise
    return { result: 'worked' }
  }
  return {
    tool: { name: 'work', inputSchema: { type: 'object' }, execute },
    atWork: begun.promise,
    letGo: () => gate.resolve(),
  }
}

async function contents(bench: ThreadBench): Promise<readonly HarnessMessageContent[]> {
  return (await bench.messages()).flatMap((message) => toHarnessMessage(message).content)
}

function shown(bench: ThreadBench, request: number): string {
  return JSON.stringify(bench.model.requests[request])
}

suite('a signal to the model', () => {
  test('is an element that nothing in it can close', () => {
    assert.equal(
      signalXml('note', 'a < b & </note><x>', { who: 'me "&" you', count: 2, none: null }),
      '<note who="me &quot;&amp;&quot; you" count="2">a &lt; b &amp; &lt;/note&gt;&lt;x&gt;</note>',
    )
  })

  for (const name of ['', 'a b', '1a', 'a>', '"']) {
    test(`is not called ${JSON.stringify(name)}, nor has such an attribute`, () => {
      assert.throws(() => signalXml(name, 'x'), /cannot be used as the tag name/)
      assert.throws(() => signalXml('a', 'x', { [name]: 'y' }), /cannot be used as the attribute name/)
    })
  }
})

suite('a signal while nothing is going on', () => {
  const cases = {
    wake: [{}, { action: 'wake' }, 1],
    persist: [{ ifIdle: { behavior: 'persist' } }, { action: 'persist' }, 0],
    discard: [{ ifIdle: { behavior: 'discard' } }, { action: 'discard' }, 0],
  } as const
  for (const [action, [routing, expected, requests]] of Object.entries(cases)) {
    test(`is there to ${action}`, async () => {
      await using bench = await ThreadBench.open({ script: [done] })
      const id = 'rain-1'
      const sent = await sendSignal(bench.port, { id, type: 'reactive', contents: 'It rains.' }, routing)
      const { accepted, action: done_, runId } = sent
      await bench.runtime.idle()
      assert.deepEqual([accepted, done_], [true, expected.action])
      assert.equal(runId !== undefined, action === 'wake')
      assert.equal(bench.model.requests.length, requests)
      const said = await contents(bench)
      assert.equal((await bench.port.getMessage(id)) !== null, action !== 'discard', 'its id is that of the message')
      if (action === 'discard') assert.deepEqual(said, [])
      else assert.deepEqual(said[0], { type: 'reactive_signal', id, tagName: 'signal', message: 'It rains.' })
    })
  }

  test('a signal while nothing is going on that is a user’s message is just that, with files', async () => {
    await using bench = await ThreadBench.open({ script: [done] })
    const file = { type: 'file', data: 'aGk=', mediaType: 'application/x', filename: 'a.x' } as const
    await sendSignal(bench.port, { content: [{ type: 'text', text: 'Look.' }, file] })
    await bench.runtime.idle()
    assert.deepEqual((await contents(bench)).slice(0, 2), [{ type: 'text', text: 'Look.' }, file])
  })

  test('may decide where it goes, unless its sender decides otherwise', async () => {
    await using bench = await ThreadBench.open({ script: [] })
    const words = { content: 'Later.', ifIdle: { behavior: 'persist' } } as const
    assert.equal((await sendSignal(bench.port, words)).action, 'persist')
    assert.equal((await sendSignal(bench.port, words, { ifIdle: { behavior: 'discard' } })).action, 'discard')
    assert.deepEqual(await contents(bench), [{ type: 'text', text: 'Later.' }])
  })

  test('takes files only with a user’s message', async () => {
    await using bench = await ThreadBench.open({ script: [] })
    const contents = [{ type: 'file', data: '', mediaType: 'x/y' }] as const
    await assert.rejects(sendSignal(bench.port, { type: 'reactive', contents }), /takes text only/)
  })
})

suite('a signal while a run is going on', () => {
  const sent = async (behavior: 'deliver' | 'persist' | 'discard'): Promise<[SignalAccepted, ThreadBench]> => {
    const { atWork, letGo, tool } = worker()
    const bench = await ThreadBench.open({ script: [call, done, { text: 'Extra.' }], tools: () => [tool] })
    const said = bench.say('Go.')
    await atWork
    const accepted = await sendSignal(
      bench.port,
      { type: 'notification', contents: 'CI failed.', attributes: { source: 'ci' } },
      { ifActive: { behavior } },
    )
    letGo()
    await said
    return [accepted, bench]
  }

  test('is delivered before the next step of the same run', async () => {
    const [accepted, bench] = await sent('deliver')
    await using _bench = bench
    assert.deepEqual(accepted, { accepted: true, action: 'deliver', runId: bench.runtime.state.head.lastRun?.runId })
    assert.equal(bench.model.requests.length, 2)
    assert.match(shown(bench, 1), /<notification source=\\"ci\\">CI failed.<\/notification>/)
  })

  test('is kept, and nobody is notified', async () => {
    const [accepted, bench] = await sent('persist')
    await using _bench = bench
    assert.deepEqual(accepted, { accepted: true, action: 'persist' })
    assert.ok((await contents(bench)).some(({ type }) => type === 'notification'))
  })

  test('is thrown away', async () => {
    const [accepted, bench] = await sent('discard')
    await using _bench = bench
    assert.deepEqual(accepted, { accepted: true, action: 'discard' })
    assert.ok(!(await contents(bench)).some(({ type }) => type === 'notification'))
  })

  test('a signal during a run that waits answers nothing, and is delivered when the run continues', async () => {
    const ask: RunnableTool = {
      name: 'work',
      inputSchema: { type: 'object' },
      execute: async (_input, { resume }) =>
        resume === undefined
          ? { suspend: { kind: 'question', description: 'Well?' } }
          : { result: resume.value ?? null },
    }
    await using bench = await ThreadBench.open({ script: [call, done], tools: () => [ask] })
    await bench.say('Go.')
    const accepted = await sendSignal(bench.port, { type: 'reactive', contents: 'Hurry.' })
    assert.equal(accepted.action, 'deliver')
    assert.equal(bench.waits().length, 1)
    await bench.answer({ decision: 'answer', value: 'Well.' })
    assert.equal(bench.model.requests.length, 2)
    assert.match(shown(bench, 1), /Hurry\./)
  })
})

suite('a state signal', () => {
  const state = (cacheKey: string, contents: string) => ({ id: 'browser', cacheKey, contents })

  test('is not said again as long as its key is the same', async () => {
    await using bench = await ThreadBench.open({ script: [] })
    assert.deepEqual(await sendStateSignal(bench.port, state('a', 'On page A.')), { skipped: false, version: 1 })
    assert.deepEqual(await sendStateSignal(bench.port, state('a', 'On page A.')), {
      skipped: true,
      reason: 'unchanged',
    })
    const delta = { ...state('b', 'Now on B.'), mode: 'delta' } as const
    assert.deepEqual(await sendStateSignal(bench.port, delta), { skipped: false, version: 2 })
    assert.deepEqual(
      (await contents(bench)).map((content) =>
        content.type === 'state_signal' ? [content.mode, content.message, content.cacheKey, content.version] : [],
      ),
      [
        ['snapshot', 'On page A.', 'a', 1],
        ['delta', 'Now on B.', 'b', 2],
      ],
    )
    assert.equal(bench.model.requests.length, 0)
  })

  test('is remembered by the thread, not by the process', async () => {
    await using bench = await ThreadBench.open({ script: [] })
    await sendStateSignal(bench.port, state('a', 'On page A.'))
    await bench.restart()
    assert.deepEqual(await sendStateSignal(bench.port, state('a', 'On page A.')), {
      skipped: true,
      reason: 'unchanged',
    })
  })
})

test('a system reminder is kept in the conversation and returned as a message', async () => {
  await using bench = await ThreadBench.open({ script: [done] })
  const message = await saveSystemReminder(bench.port, {
    message: 'Two hours have passed.',
    reminderType: 'gap',
    metadata: { gapMs: 7_200_000 },
  })
  assert.equal(message?.role, 'user')
  assert.deepEqual(message.content, [
    { type: 'system_reminder', message: 'Two hours have passed.', reminderType: 'gap', gapMs: 7_200_000 },
  ])
  assert.equal(bench.model.requests.length, 0)
  await bench.say('Go on.')
  assert.match(shown(bench, 0), /<system-reminder type=\\"gap\\">Two hours have passed.<\/system-reminder>/)
})
