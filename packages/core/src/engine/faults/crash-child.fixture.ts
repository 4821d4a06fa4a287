/**
 * The process that `crash.test.ts` kills: streams an answer with a tool call into a database and says on standard output
 * what has been written. Run as: node crash-child.fixture.ts <database> <thread> <tool journal>.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { nativeDriver } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { ProcessOwner } from '../threads/ownership.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ThreadRuntime } from '../thread-runtime.ts'

const [url = '', thread = '', journal = ''] = process.argv.slice(2)
const say = (line: string): void => void writeSync(1, `${line}\n`)

const store = new SqliteStore({ url })
const owner = await ProcessOwner.register(store)
const words = (name: string): string[] => Array.from({ length: 60 }, (_, i) => `${name}${i} `)
const touch: RunnableTool = {
  name: 'touch',
  inputSchema: { type: 'object' },
  execute: async (_input, { idempotencyKey }) => {
    appendFileSync(journal, `${idempotencyKey}\n`)
    return { result: 'touched' }
  },
}
const model = scriptedModel([
  { text: words('before'), toolCalls: [{ name: 'touch', input: { path: 'x' }, inputDeltas: 6 }], delayPerDeltaMs: 1 },
  { reasoning: words('thought'), text: words('after'), delayPerDeltaMs: 1 },
])
const runtime = await ThreadRuntime.open({
  store,
  owner,
  thread,
  agents: { native: { driver: nativeDriver({ id: 'native', model }), tools: [touch] } },
})
runtime.onFrame((frame) => say(`written ${frame.seq}`))
const run = await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Touch it.' }] })
await run.done
await runtime.close()
await owner.close()
await store.close()
say('done')
