import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import type { MemoryOptions } from '@inspan/memory'
import type { JsonObject } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { LONG, NOTES, observing, openMemoryBench, type MemoryBench } from '../memory-bench.fixture.ts'

const twin = { id: 'twin', name: 'Twin', description: 'Knows it all.', instructions: 'Not used.', forked: true }
const look = createTool({ id: 'look', description: 'Looks.', category: 'read', execute: () => LONG })
const fork = { name: 'subagent', input: { agentType: 'twin', task: 'Recall the fox.' } }

/** Holds a conversation of `turns` turns, then starts a fork that takes `steps` steps. */
async function talk(options: MemoryOptions, turns: number, steps: number): Promise<MemoryBench> {
  const bench = await openMemoryBench(options, {
    agent: { tools: { look }, maxSteps: 40 },
    config: { subagents: [twin], permissions: { tools: { look: 'allow' } } },
    script: [
      { text: 'Noted.', repeat: turns },
      { text: 'A moment.', toolCalls: [fork] },
      ...(steps === 0 ? [] : [{ text: 'Looking.', toolCalls: [{ name: 'look' }], repeat: steps }]),
      { text: 'A brown one.' },
      { text: 'Brown, it says.', repeat: true },
    ],
  })
  await bench.say(turns)
  await bench.harness.sendMessage({ content: 'Ask the twin.' })
  return bench
}

/** The conversation of a request as text, without the bracket that ends it. */
function said(request: JsonObject | undefined): string {
  return JSON.stringify(request?.['prompt']).slice(0, -1)
}

suite('a fork of a conversation with a memory', () => {
  const observer = (): ReturnType<typeof scriptedModel> => scriptedModel([{ text: NOTES, repeat: true }])
  for (const [name, options] of [
    ['observations', () => observing(observer())],
    ['a history window', () => ({ lastMessages: 10 })],
    ['compaction', () => ({ compaction: { model: scriptedModel([{ text: 'Foxes.', repeat: true }]) } })],
  ] as const) {
    test(`sends what its parent sent, byte for byte, with ${name}`, async () => {
      for (const turns of [4, 7, 8, 9, 10, 14]) {
        await using bench = await talk(options(), turns, 0)
        const [parent, child] = bench.model.requests.slice(turns)
        assert.deepEqual(child?.['tools'], parent?.['tools'])
        assert.ok(said(child).startsWith(said(parent)), `after ${turns} turns`)
        assert.match(said(child).slice(said(parent).length), /Recall the fox\./)
      }
    })
  }

  test('records its own observations from then on, none of them in the thread of its parent', async () => {
    await using bench = await talk(observing(observer()), 8, 20)
    const { storage, threadId } = bench
    const { items } = await storage.listThreads({ limit: 10, includeHidden: true })
    const child = items.find(({ parent }) => parent === threadId)
    const observed = async (id: string): Promise<number> =>
      (await storage.readRecords(id, { limit: 5000 })).items.filter(({ body }) => body.type === 'om.committed').length
    assert.ok((await observed(child?.id ?? '')) > 0)
    const before = bench.all('om_activation').length
    assert.equal(await observed(threadId), before, 'and listeners of the parent receive only its own events')
    assert.match(said(bench.model.requests.at(-1)), /likes foxes/)
    assert.doesNotMatch(said(bench.model.requests.at(-1)), /Looking\./)
  })
})
