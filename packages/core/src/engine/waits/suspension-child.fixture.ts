/**
 * The process that `suspension.test.ts` kills while one of its tools waits for an answer. Prints what it waits for and
 * how the run ended. Run as: node suspension-child.fixture.ts <database> <journal> [answer].
 */
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { z } from 'zod'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const [url = '', journal = '', answer] = process.argv.slice(2)
const say = (line: string): void => void writeSync(1, `${line}\n`)

const deploy = createTool({
  id: 'deploy',
  description: 'Deploys, when it knows where to.',
  inputSchema: z.object({ version: z.string() }),
  suspendSchema: z.object({ question: z.string() }),
  resumeSchema: z.object({ target: z.string() }),
  execute: async ({ version }, { idempotencyKey, resumeData, suspend }) => {
    if (resumeData === undefined) return suspend({ question: `Where does ${version} go?` }, { kind: 'question' })
    appendFileSync(journal, `${version} to ${resumeData.target} ${idempotencyKey}\n`)
    return `deployed to ${resumeData.target}`
  },
})

const isNew = !existsSync(url)
const store = new SqliteStore({ url })
if (isNew) await createThread(store, { id: 'thread', resourceId: 'test' })
const owner = await ProcessOwner.register(store)
const script = (request: unknown): ModelTurn =>
  JSON.stringify(request).includes('deployed to')
    ? { text: 'It is out.' }
    : { toolCalls: [{ id: 'c1', name: 'deploy', input: { version: '1.2' } }] }
const runtime = await ThreadRuntime.open({
  store,
  owner,
  thread: 'thread',
  agents: {
    native: {
      driver: nativeDriver({ id: 'native', model: scriptedModel([script, script, script]) }),
      tools: [runnableTool(deploy)],
    },
  },
})
if (isNew) await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Deploy 1.2.' }] })
await runtime.idle()
const [wait] = [...runtime.state.head.waits]
say(`waiting ${JSON.stringify(wait)}`)
if (answer === undefined) {
  // Keeps running until it is killed.
  setInterval(() => undefined, 1000)
} else {
  await runtime.answer(wait?.id ?? '', { decision: 'answer', value: { target: answer } })
  await runtime.idle()
  await runtime.close()
  await owner.close()
  await store.close()
  say('done')
}
