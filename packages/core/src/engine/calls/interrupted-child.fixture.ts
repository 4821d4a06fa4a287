/**
 * The process that `interrupted-calls.test.ts` lets die in the middle of a tool. It kills itself, because nobody else
 * could be so exact. Started again, it recovers what it finds and prints what it waits for and what the model saw. Run
 * as: node interrupted-child.fixture.ts <database> <journal> <onInterrupted> [approve | decline].
 */
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import type { OnInterrupted } from '@inspan/protocol/driver'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const [url = '', journal = '', onInterrupted, decision] = process.argv.slice(2)
const say = (line: string): void => void writeSync(1, `${line}\n`)

const send = createTool({
  id: 'send',
  description: 'Sends something that cannot be taken back.',
  onInterrupted: onInterrupted as OnInterrupted,
  execute: (_input, { idempotencyKey }) => {
    const isFirst = !existsSync(journal)
    appendFileSync(journal, `${idempotencyKey}\n`)
    if (isFirst) process.kill(process.pid, 'SIGKILL')
    return 'sent at last'
  },
})

const isNew = !existsSync(url)
const store = new SqliteStore({ url })
if (isNew) await createThread(store, { id: 'thread', resourceId: 'test' })
const owner = await ProcessOwner.register(store)
const answer = (request: unknown): ModelTurn =>
  JSON.stringify(request).includes('"tool-result"') ? { text: 'I see.' } : { toolCalls: [{ id: 'c', name: 'send' }] }
const model = scriptedModel([answer, answer])
const driver = nativeDriver({ id: 'native', model })
const agents = { native: { driver, tools: [runnableTool(send)] } }
const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents })
if (isNew) {
  await runtime.submit({ agentId: 'native', runId: 'r', parts: [{ id: '0', type: 'text', text: 'Send it.' }] })
}
await runtime.idle()
const [wait] = [...runtime.state.head.waits]
if (wait !== undefined) {
  say(`waiting ${JSON.stringify(wait)}`)
  if (decision === 'approve' || decision === 'decline') {
    await runtime.answer(wait.id, { decision })
    await runtime.idle()
  }
}
for (const request of model.requests) say(`asked ${JSON.stringify(request)}`)
await runtime.close()
await owner.close()
await store.close()
say('over')
