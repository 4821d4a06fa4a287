import { Agent, createTool, MemoryStore } from '@inspan/core'
import { createThread, ProcessOwner, runtimeAgent, ThreadRuntime } from '@inspan/core/engine'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'

const deploy = createTool({
  id: 'deploy',
  description: 'Deploys a version, when it knows where to.',
  category: 'execute',
  inputSchema: z.object({ version: z.string() }),
  suspendSchema: z.object({ question: z.string() }),
  resumeSchema: z.object({ target: z.string() }),
  execute: async ({ version }, { idempotencyKey, progress, resumeData, suspend }) => {
    if (resumeData === undefined) return suspend({ question: `Where does ${version} go?` }, { kind: 'question' })
    progress(`deploying under ${idempotencyKey.split(':')[1]}`)
    return { version, target: resumeData.target, log: 'a thousand lines' }
  },
  toModelOutput: ({ target }) => `Deployed to ${target}.`,
})

const model = scriptedModel([
  { toolCalls: [{ id: 'c1', name: 'deploy', input: { version: 12 } }] },
  { toolCalls: [{ id: 'c2', name: 'deploy', input: { version: '1.2' } }] },
  { text: 'It is out.' },
])
const agent = new Agent({ id: 'ops', model, instructions: 'You deploy.', tools: { deploy } })

const store = new MemoryStore()
const owner = await ProcessOwner.register(store)
await createThread(store, { id: 'thread', resourceId: 'docs' })
const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents: { ops: runtimeAgent(agent) } })
runtime.onEntry((entry) => {
  if (entry.kind === 'record' && entry.record.body.type === 'tool-result') console.log(entry.record.body.result)
})

const run = await runtime.submit({ agentId: 'ops', parts: [{ id: '0', type: 'text', text: 'Deploy 1.2.' }] })
await runtime.idle()
const [wait] = [...runtime.state.head.waits]
console.log(wait?.kind, wait?.payload)

// Maybe another process, maybe tomorrow.
await runtime.answer(wait?.id ?? '', { decision: 'answer', value: { target: 'production' } })
console.log(await run.done, '- the model saw:', JSON.stringify(model.requests[2]).includes('Deployed to production.'))
await runtime.close()
await owner.close()
