import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { NO_RULES } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { CountingStore } from './counting-store.fixture.ts'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const work: RunnableTool = { name: 'work', inputSchema: { type: 'object' }, execute: async () => ({ result: 'ok' }) }
const ALLOWED = { policy: createPolicy({ rules: { ...NO_RULES, tools: { work: 'allow' } } }) }

suite('what was said before', () => {
  test('is read once for a run, however many steps it has', async () => {
    const steps = Array.from({ length: 20 }, (_, index) => ({ toolCalls: [{ id: `c${index}`, name: 'work' }] }))
    const model = scriptedModel([{ text: 'Hello.' }, ...steps, { text: 'Done.' }])
    const store = new CountingStore()
    const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [work] } }
    await using bench = await RuntimeBench.open(agents, { ...ALLOWED, store })
    await (
      await bench.submit('Hi', { agentId: 'native' })
    ).done
    const before = store.reads
    assert.equal(await (await bench.submit('Work', { agentId: 'native' })).done, 'complete')
    assert.equal(model.requests.length, 22)
    assert.ok(store.reads - before <= 2, `${store.reads - before} reads`)
    assert.match(JSON.stringify(model.requests.at(-1)), /Hello\..*Work/, 'and all of it is there')
  })

  test('is read backwards only as far as it is wanted, and after a point', async () => {
    const seen: string[][] = []
    const agent = new ForeignAgent('cli', [
      async function* (_turn, host) {
        const read = async (query: Parameters<typeof host.history>[0]): Promise<void> => {
          const texts: string[] = []
          for await (const { parts } of host.history(query))
            texts.push(...parts.flatMap((part) => ('text' in part ? [part.text] : [])))
          seen.push(texts)
        }
        await read({ order: 'newest', limit: 2 })
        await read({ order: 'oldest', limit: 1 })
        const orders: number[] = []
        for await (const { order } of host.history({ order: 'oldest' })) orders.push(order)
        await read({ order: 'newest', after: orders[1] ?? 0 })
        await read({ order: 'oldest', after: orders[1] ?? 0 })
        yield { type: 'text-delta', text: 'Read.' }
      },
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    for (const text of ['one', 'two', 'three']) {
      await bench.runtime.record([
        { type: 'message.added', messageId: text, role: 'user', parts: [{ id: '0', type: 'text', text }] },
      ])
    }
    await (
      await bench.submit('four', { agentId: 'cli' })
    ).done
    assert.deepEqual(seen, [['four', 'three'], ['one'], ['four', 'three'], ['three', 'four']])
  })
})
