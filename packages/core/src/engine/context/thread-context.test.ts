import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTool } from '@inspan/agent'
import type { ContextCutRecord } from '@inspan/protocol/log'
import { AgentBench, type AgentBenchOptions, type ModelScript } from '../agent-bench.fixture.ts'

const WINDOW = 8000

/** About 400 of the provider's tokens. */
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(36)

function talk(
  options: AgentBenchOptions = {},
  script: ModelScript = [{ text: 'Noted.', repeat: true }],
): Promise<AgentBench> {
  return AgentBench.open(script, { ...options, model: { contextWindow: WINDOW, ...options.model } })
}

async function cutsOf(bench: AgentBench): Promise<ContextCutRecord[]> {
  return (await bench.records()).flatMap(({ body }) => (body.type === 'context.cut' ? [body] : []))
}

async function playUntilCut(bench: AgentBench): Promise<void> {
  for (let turn = 0; turn < 40; turn++) {
    await bench.play(LONG)
    if ((await cutsOf(bench)).length > 0) return
  }
  assert.fail('nothing was cut')
}

/** Asserts that each request begins with all of the one before, except at this many places. */
function assertExtends(bench: AgentBench, breaks: number): void {
  const prompts = bench.prompts()
  const broken = prompts.slice(1).filter((prompt, index) => {
    const before = prompts[index] ?? []
    return before.some((message, at) => prompt[at] !== message)
  })
  assert.equal(broken.length, breaks)
}

describe('a thread that outgrows the window of its model', () => {
  it('keeps working when the window is known, and no request is refused', async () => {
    await using bench = await talk({ runtime: { windowOf: () => WINDOW } })
    for (let turn = 0; turn < 60; turn++) assert.equal(await bench.play(`${turn}: ${LONG}`), 'complete')
    const cuts = await cutsOf(bench)
    assert.equal(bench.model.refused, 0)
    assert.ok(cuts.length >= 3, `${cuts.length} cuts`)
    assertExtends(bench, cuts.length)
  })

  it('keeps working when the window is unknown: it is cut once per refusal, and the step repeated', async () => {
    await using bench = await talk()
    for (let turn = 0; turn < 60; turn++) assert.equal(await bench.play(`${turn}: ${LONG}`), 'complete')
    const cuts = await cutsOf(bench)
    assert.ok(cuts.length >= 3, `${cuts.length} cuts`)
    assert.equal(bench.model.refused, cuts.length)
    assertExtends(bench, cuts.length)
  })

  it('is cut to about 60 % of the window', async () => {
    await using bench = await talk({ runtime: { windowOf: () => WINDOW } })
    await playUntilCut(bench)
    const tokens = Buffer.byteLength(bench.model.requestBodies.at(-1) ?? '') / 4
    assert.ok(tokens > WINDOW * 0.45 && tokens < WINDOW * 0.7, `${tokens} tokens`)
  })

  it('tells the model how many messages were left out', async () => {
    await using bench = await talk({ runtime: { windowOf: () => WINDOW } })
    await playUntilCut(bench)
    const [cut] = await cutsOf(bench)
    const first = bench.prompts().at(-1)?.[0] ?? ''
    assert.match(first, new RegExp(`${cut?.omitted} earlier messages of this conversation were left out`))
    const messages = await bench.messages()
    assert.equal(messages.filter(({ order }) => order <= (cut?.coversTo ?? 0)).length, cut?.omitted)
  })

  it('keeps the task, and every call with its result, when one run outgrows it', async () => {
    const read = createTool({ id: 'read', description: 'Reads', inputSchema: {}, execute: async () => LONG })
    let calls = 0
    const script: ModelScript = {
      turns: [() => (++calls < 50 ? { toolCalls: [{ name: 'read' }] } : { text: 'Done.' })].flatMap((turn) =>
        Array.from({ length: 50 }, () => turn),
      ),
    }
    await using bench = await talk({ agent: { tools: { read } }, runtime: { windowOf: () => WINDOW } }, script)
    assert.equal(await bench.play('Read everything.'), 'complete')
    assert.equal(bench.model.refused, 0)
    assert.ok((await cutsOf(bench)).length >= 2)
    for (const prompt of bench.prompts()) {
      const text = prompt.join('\n')
      assert.ok(text.includes('Read everything.'))
      const called = [...text.matchAll(/"type":"tool-call","toolCallId":"([^"]+)"/g)].map(([, id]) => id)
      const answered = [...text.matchAll(/"type":"tool-result","toolCallId":"([^"]+)"/g)].map(([, id]) => id)
      assert.deepEqual(answered, called)
    }
  })

  it('keeps the beginning and the end of one message that is larger than the window', async () => {
    await using bench = await talk({ runtime: { windowOf: () => WINDOW } })
    assert.equal(await bench.play(`BEGINNING ${LONG.repeat(40)} THE END`), 'complete')
    const [cut] = await cutsOf(bench)
    const [message] = await bench.messages()
    assert.equal(cut?.omitted, 0)
    assert.deepEqual(Object.keys(cut?.shortened ?? {}), [message?.id])
    const [request = ''] = bench.model.requestBodies
    assert.match(request, /BEGINNING/)
    assert.match(request, /THE END/)
    assert.match(request, /characters were left out here/)
    await bench.play('And now?')
    assert.equal(bench.model.refused, 0)
    assertExtends(bench, 0)
  })

  it('fails with a clear code when nothing can be left out', async () => {
    await using bench = await talk({ model: { contextWindow: 10 } })
    assert.equal(await bench.play('Hi'), 'error')
    const [error] = await bench.eventsOf('error')
    assert.equal(error?.code, 'context-overflow')
    assert.ok(bench.model.calls <= 4, `${bench.model.calls} calls`)
  })

  it('sends the same after a restart as before it', async () => {
    await using bench = await talk({ runtime: { windowOf: () => WINDOW } })
    await playUntilCut(bench)
    await bench.play('One more.')
    await bench.restart()
    await bench.play('After the restart.')
    const [before, after] = bench.prompts().slice(-2)
    assert.deepEqual(after?.slice(0, before?.length), before)
  })

  it('sends byte for byte what the runs before said, whether it was kept in memory or is read again', async () => {
    // Larger than what is kept within a record.
    const read = createTool({ id: 'read', description: 'Reads', execute: async () => LONG.repeat(20) })
    const said: ModelScript = [
      { reasoning: 'Hm.', text: 'I look.', toolCalls: [{ name: 'read' }, { name: 'read' }] },
      { text: 'Seen.' },
      { text: 'Again.' },
      { toolCalls: [{ name: 'read' }] },
      { text: 'Once more.' },
      { text: 'After the restart.' },
      { text: 'Then.' },
    ]
    await using bench = await AgentBench.open(said, { agent: { tools: { read } } })
    await bench.runtime.record([
      { type: 'message.added', messageId: 'm', role: 'user', parts: [{ id: '0', type: 'text', text: 'Before.' }] },
    ])
    for (const text of ['One.', 'Two.', 'Three.']) assert.equal(await bench.play(text), 'complete')
    await bench.restart()
    for (const text of ['Four.', 'Five.']) assert.equal(await bench.play(text), 'complete')
    assert.equal(bench.prompts().length, said.length)
    assert.match(bench.prompts().at(-1)?.[0] ?? '', /Before\./)
    assertExtends(bench, 0)
  })
})
