import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

async function recorded(bench: RuntimeBench): Promise<CancelReceipt | undefined> {
  const [cancelled] = await bench.bodies('run.cancelled')
  return cancelled?.receipt
}

async function openBench(policy: 'allow' | 'ask', onBegun: () => void = () => undefined): Promise<RuntimeBench> {
  const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'write' }] }, { text: 'Done.' }])
  const execute = async (): Promise<never> => {
    onBegun()
    return new Promise<never>(() => undefined)
  }
  const write = { name: 'write', inputSchema: { type: 'object' }, execute }
  const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [write] } }
  return RuntimeBench.open(agents, {
    policy: createPolicy({ rules: { categories: {}, tools: { write: policy }, patterns: [] } }),
  })
}

suite('the receipt of a cancel equals the record, and names', () => {
  test('the calls that were running, and the messages that stay queued', async () => {
    const begun = Promise.withResolvers<void>()
    await using bench = await openBench('allow', begun.resolve)
    await bench.submit('go', { agentId: 'native' })
    await begun.promise
    await bench.runtime.followUp({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'And then?' }] })
    const receipt = await bench.runtime.cancel()
    const queued = [...bench.runtime.state.head.queue.keys()]
    assert.equal(queued.length, 1)
    assert.deepEqual(receipt, { how: 'clean', calls: ['c'], orphansKilled: 0, queued })
    assert.deepEqual(await recorded(bench), receipt)
  })

  test('the calls that waited, if the run waits without a process', async () => {
    await using bench = await openBench('ask')
    await bench.submit('go', { agentId: 'native' })
    await bench.wait()
    await bench.restart()
    const receipt = await bench.runtime.cancel()
    assert.deepEqual(receipt, { how: 'gone', calls: ['c'], orphansKilled: 0, queued: [] })
    assert.deepEqual(await recorded(bench), receipt)
  })

  test('an agent that does not stop as gone', async () => {
    const agent = new ForeignAgent('cli', [])
    const begun = Promise.withResolvers<void>()
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => agent.describe(),
      open: async (binding, host) => ({
        ...(await agent.open(binding, host)),
        run: async function* () {
          yield { type: 'start' } as const
          begun.resolve()
          await new Promise(() => undefined)
        },
      }),
    }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    await bench.submit('go', { agentId: 'cli' })
    await begun.promise
    const receipt = await bench.runtime.cancel()
    assert.equal(receipt.how, 'gone')
    assert.deepEqual(await recorded(bench), receipt)
  })
})
