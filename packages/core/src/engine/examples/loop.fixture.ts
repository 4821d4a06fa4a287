import { Agent, createTool, hasToolCall, MemoryStore, stepCountIs } from '@inspan/core'
import { createThread, ProcessOwner, runtimeAgent, ThreadRuntime } from '@inspan/core/engine'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'

const look = createTool({ id: 'look', description: 'Looks it up.', execute: () => 'Ann is 7.' })
const model = scriptedModel([
  { error: { status: 429, retryAfterMs: 5 } },
  { toolCalls: [{ name: 'look' }], usage: { inputTokens: 60, outputTokens: 10 } },
  { text: '{"name":"Ann","age":"seven"}', usage: { inputTokens: 90, outputTokens: 10 } },
  { text: '{"name":"Ann","age":7}', usage: { inputTokens: 110, outputTokens: 10 } },
])
const agent = new Agent({
  id: 'clerk',
  model,
  tools: { look },
  output: { schema: z.object({ name: z.string(), age: z.number() }) },
  stopWhen: [stepCountIs(10), hasToolCall('give_up')],
  retry: { maxRetries: 3 },
  budget: { tokens: 300, warnAt: 0.5 },
  hooks: {
    beforeTool: ({ toolName }) => (toolName === 'delete' ? { decline: 'not here' } : undefined),
    afterStep: ({ step }) => console.log(`step ${step.stepIndex}: ${step.finishReason}`),
  },
})

const store = new MemoryStore()
const owner = await ProcessOwner.register(store)
await createThread(store, { id: 'thread', resourceId: 'docs' })
const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents: { clerk: runtimeAgent(agent) } })
runtime.onEntry((entry) => {
  if (entry.kind === 'record' && entry.record.body.type === 'note') console.log(entry.record.body.text)
})

const run = await runtime.submit({ agentId: 'clerk', parts: [{ id: '0', type: 'text', text: 'Who is it?' }] })
console.log(await run.done, runtime.state.head.lastRun?.output)
await runtime.addScore(run.runId, { name: 'correct', value: 1, source: 'judge' })
console.log(await runtime.opinions(run.runId))
await runtime.close()
await owner.close()
