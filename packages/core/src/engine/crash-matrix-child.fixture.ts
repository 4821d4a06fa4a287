/**
 * The process that `crash-matrix.test.ts` kills at every point in turn: one run with two calls at once, an approval and
 * a steer. Started again it takes up what it finds. Run as: node crash-matrix-child.fixture.ts <database> <journal>.
 */
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { nativeDriver } from '@evener/agent'
import { faultPointsFromEnv, scriptedModel, type Turn } from '@evener/testing'
import { SqliteStore } from '../stores/sqlite-store.ts'
import { ProcessOwner } from './ownership.ts'
import type { RunnableTool } from './runnable-tool.ts'
import { ThreadRuntime } from './thread-runtime.ts'
import { createThread } from './threads.ts'

const [url = '', journal = ''] = process.argv.slice(2)
const faults = faultPointsFromEnv()
const say = (line: string): void => void writeSync(1, `${line}\n`)

/** Answers by what it is asked, so that it does not matter which process asks, or how often. */
const answer = (request: unknown): Turn =>
  JSON.stringify(request).includes('"tool-result"')
    ? { text: ['All ', 'done.'] }
    : {
        text: 'Working.',
        toolCalls: [
          { id: 'c1', name: 'write', input: { path: 'a' } },
          { id: 'c2', name: 'guarded', input: { path: 'b' } },
        ],
      }
const scripted = scriptedModel(Array.from({ length: 20 }, () => answer))

const model: typeof scripted = {
  ...scripted,
  doStream: async (options) => {
    await faults.reach('model.before')
    const { stream, ...rest } = await scripted.doStream(options)
    const watched = stream.pipeThrough(new TransformStream({ flush: async () => faults.reach('model.after') }))
    return { ...rest, stream: watched }
  },
}

const tool = (name: string): RunnableTool => ({
  name,
  inputSchema: { type: 'object' },
  execute: async (_input, { idempotencyKey }) => {
    appendFileSync(journal, `${name} ${idempotencyKey}\n`)
    return { result: 'ok' }
  },
})

const isNew = !existsSync(url)
const store = new SqliteStore({ url })
if (isNew) await createThread(store, { id: 'thread', resourceId: 'test' })
const owner = await ProcessOwner.register(store)
const runtime = await ThreadRuntime.open({
  store,
  owner,
  thread: 'thread',
  agents: { native: { driver: nativeDriver({ id: 'native', model }), tools: [tool('write'), tool('guarded')] } },
  decide: (call) =>
    call.toolName === 'guarded' ? { policy: 'ask', reason: 'guarded' } : { policy: 'allow', reason: 'free' },
  faults,
})
let isSteered = runtime.state.head.seq > 0
runtime.onEntry((entry) => {
  if (entry.kind !== 'record') return
  if (entry.record.body.type === 'wait.opened') say(`waiting ${entry.record.body.wait.id}`)
  if (entry.record.body.type === 'call.started' && !isSteered) {
    isSteered = true
    void runtime
      .submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Hurry.' }] })
      .then(() => say('accepted Hurry.'))
  }
})
if (runtime.state.head.seq === 0) {
  await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Write both.' }] })
  say('accepted Write both.')
}
for (;;) {
  await runtime.idle()
  const [wait] = [...runtime.state.head.waits]
  if (wait === undefined) break
  await runtime.answer(wait.id, { decision: 'approve' }, 'ann')
}
await runtime.close()
await owner.close()
await store.close()
say('over')
