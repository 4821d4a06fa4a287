import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { RunnableTool } from '@inspan/protocol/driver'
import { agentEventsOf } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { forkThread } from '../threads/threads.ts'

test('a run that is cancelled while its thread is forked ends once, and the fork has nothing of it but what was said', async () => {
  const begun = Promise.withResolvers<void>()
  const hang: RunnableTool = {
    name: 'hang',
    inputSchema: { type: 'object' },
    execute: async () => {
      begun.resolve()
      return new Promise<never>(() => undefined)
    },
  }
  const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'hang' }] }, { text: 'Hello from the fork.' }])
  const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [hang] } }
  const policy = createPolicy({ rules: { categories: {}, tools: { hang: 'allow' }, patterns: [] } })
  await using bench = await RuntimeBench.open(agents, { policy })
  const run = await bench.submit('go', { agentId: 'native' })
  await begun.promise
  await bench.runtime.change((log) => log.flush())
  const at = (await bench.records()).find(({ body }) => body.type === 'step.started')?.seq ?? 0
  const owner = await ProcessOwner.register(bench.store)
  await Promise.all([
    bench.runtime.cancel(),
    forkThread(bench.store, owner, bench.runtime.state, { id: 'fork', resourceId: 'test', at }),
  ])
  assert.equal(await run.done, 'aborted')
  const finishes = (await bench.records()).flatMap(agentEventsOf).filter(({ type }) => type === 'finish')
  assert.equal(finishes.length, 1)

  const fork = await ThreadRuntime.open({ store: bench.store, owner, thread: 'fork', agents, policy })
  const { run: running, waits, queue } = fork.state.head
  assert.deepEqual([running, waits.size, queue.size], [null, 0, 0])
  const next = await fork.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'And now?' }] })
  assert.equal(await next.done, 'complete')
  const seen = JSON.stringify(model.requests.at(-1))
  assert.ok(seen.includes('go') && seen.includes('And now?') && !seen.includes('"tool-call"'), seen)
  await fork.close()
  await owner.close()
})
