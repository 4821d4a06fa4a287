/**
 * The process that `recovery-table.test.ts` lets die while another thread works on a task delegated by a tool. It kills
 * itself, because nobody else could be so exact. Started again, it recovers what it finds, answers all waits and prints
 * `over`. Run as: node delegate-child.fixture.ts <database> <journal> <point>.
 */
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { nativeDriver } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { faultPointsFromEnv, scriptedModel, type ModelTurn } from '@inspan/testing'
import { delegateTool } from '../calls/delegate.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const [url = '', journal = '', point = ''] = process.argv.slice(2)
const isFirst = !existsSync(url)
const faults = faultPointsFromEnv()
const dieAt = (here: string): void => {
  if (isFirst && point === here) process.kill(process.pid, 'SIGKILL')
}

const write: RunnableTool = {
  name: 'write',
  inputSchema: { type: 'object' },
  execute: async (_input, { idempotencyKey }) => {
    appendFileSync(journal, `${idempotencyKey}\n`)
    dieAt('its tool has run')
    return { result: 'written' }
  },
}

/** Answers depend on the request, so that it does not matter which process asks, or how often. */
const isTold = (request: unknown): boolean => JSON.stringify(request).includes('"tool-result"')
const working = (request: unknown): ModelTurn => {
  if (isTold(request)) return { text: 'It is written.' }
  if (isFirst && point === 'its model answers') return { text: 'Half an', hang: true }
  return { toolCalls: [{ id: 'w', name: 'write', input: {} }] }
}
const asking = (request: unknown): ModelTurn =>
  isTold(request)
    ? { text: 'The worker is done.' }
    : { toolCalls: [{ id: 'd', name: 'delegate', input: { task: 'Write it.' } }] }
const modelOf = (answer: (request: unknown) => ModelTurn): ReturnType<typeof scriptedModel> =>
  scriptedModel(Array.from({ length: 20 }, () => answer))

const store = new SqliteStore({ url })
if (isFirst) await createThread(store, { id: 'parent', resourceId: 'test' })
const owner = await ProcessOwner.register(store)
const worker = { driver: nativeDriver({ id: 'worker', model: modelOf(working) }), tools: [write] }
const delegate = delegateTool({
  store,
  owner,
  agents: { worker },
  decide: () => ({ policy: 'ask', reason: 'it is a task' }),
  faults,
  onOpen: (task) => {
    task.onFrame(({ operations }) => {
      if (JSON.stringify(operations).includes('Half an')) dieAt('its model answers')
    })
    const answerAll = async (): Promise<void> => {
      for (const { id } of task.state.head.waits) await task.answer(id, { decision: 'approve' }).catch(() => undefined)
    }
    task.onEntry((entry) => {
      if (entry.kind !== 'record') return
      if (entry.record.body.type === 'run.parked') {
        dieAt('its approval waits')
        void answerAll()
      }
      if (entry.record.body.type === 'run.ended') dieAt('it is over')
    })
    // Answers the waits of an earlier process.
    void answerAll()
  },
})
const driver = nativeDriver({ id: 'native', model: modelOf(asking) })
const runtime = await ThreadRuntime.open({
  store,
  owner,
  thread: 'parent',
  agents: { native: { driver, tools: [delegate] } },
  faults,
})
if (runtime.state.head.seq === 0) {
  await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Have it written.' }] })
}
await runtime.idle()
await runtime.close()
await owner.close()
await store.close()
writeSync(1, 'over\n')
