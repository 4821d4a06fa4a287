import { appendFileSync } from 'node:fs'
import { nativeDriver } from '@evener/agent'
import type { FaultPoints, Store } from '@evener/protocol'
import { scriptedModel, type ScriptedModel, type Turn } from '@evener/testing'
import { SqliteStore } from '../../stores/sqlite-store.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

export interface Life {
  readonly url: string
  /** Where tools write down that they ran. */
  readonly journal: string
  readonly faults: FaultPoints
  readonly say: (line: string) => void
}

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

function mortalModel(faults: FaultPoints): ScriptedModel {
  const scripted = scriptedModel(Array.from({ length: 20 }, () => answer))
  return {
    ...scripted,
    doStream: async (options) => {
      await faults.reach('model.before')
      const { stream, ...rest } = await scripted.doStream(options)
      const watched = stream.pipeThrough(new TransformStream({ flush: async () => faults.reach('model.after') }))
      return { ...rest, stream: watched }
    },
  }
}

function writing(name: string, journal: string): RunnableTool {
  return {
    name,
    inputSchema: { type: 'object' },
    execute: async (_input, { idempotencyKey }) => {
      appendFileSync(journal, `${name} ${idempotencyKey}\n`)
      return { result: 'ok' }
    },
  }
}

/** Reading changes nothing, and the time of a heartbeat is nobody's to say. */
const WITHOUT_POINTS = /^(open|close|get|list|read|latest|heartbeat)/

/** A store that can die right before and right after everything it writes. */
function mortalStore(inner: Store, faults: FaultPoints): Store {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const call = member.bind(target) as (...args: unknown[]) => unknown
      if (typeof name !== 'string' || WITHOUT_POINTS.test(name)) return call
      return async (...args: unknown[]) => {
        await faults.reach(`${name}.before`)
        const result = await call(...args)
        await faults.reach(`${name}.after`)
        return result
      }
    },
  })
}

/**
 * One run with two calls at once, an approval and a steer, in a process that may die at any point. Started again it takes
 * up what it finds.
 */
export async function liveTurn({ faults, journal, say, url }: Life): Promise<void> {
  const store = mortalStore(new SqliteStore({ url }), faults)
  if ((await store.getThread('thread')) === null) await createThread(store, { id: 'thread', resourceId: 'test' })
  const owner = await ProcessOwner.register(store)
  const driver = nativeDriver({ id: 'native', model: mortalModel(faults) })
  const runtime = await ThreadRuntime.open({
    store,
    owner,
    thread: 'thread',
    agents: { native: { driver, tools: [writing('write', journal), writing('guarded', journal)] } },
    decide: (call) =>
      call.toolName === 'guarded' ? { policy: 'ask', reason: 'guarded' } : { policy: 'allow', reason: 'free' },
    // Its writes have their points in the store already.
    faults: { reach: (name, detail) => (name.startsWith('tool.') ? faults.reach(name, detail) : undefined) },
  })
  for (const { id } of runtime.state.head.waits) say(`found ${id}`)
  const isNew = runtime.state.head.seq === 0
  let isSteered = !isNew
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
  if (isNew) {
    await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Write both.' }] })
    say('accepted Write both.')
  }
  for (;;) {
    await runtime.idle()
    const [wait] = [...runtime.state.head.waits]
    if (wait === undefined) break
    await runtime.answer(wait.id, { decision: 'approve' }, 'ann')
    say(`answered ${wait.id}`)
  }
  await runtime.close()
  await owner.close()
  await store.close()
  say('over')
}
