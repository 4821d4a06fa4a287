import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { RuntimeAgents } from '../turns/active-run.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { createThread } from '../threads/threads.ts'
import { admitCommand } from './ledger.ts'
import { Sweep, type SweptThread } from './sweep.ts'

function agents(): RuntimeAgents {
  const turn = { toolCalls: [{ name: 'note', input: { text: 'x' } }] }
  const model = scriptedModel([turn, { text: 'Then not.' }])
  const note = createTool({
    id: 'note',
    description: 'Writes a note.',
    inputSchema: z.object({ text: z.string() }),
    execute: async () => 'noted',
  })
  return { native: { driver: nativeDriver({ id: 'native', model }), tools: [runnableTool(note)] } }
}

/** For tests that close the thread themselves. */
function swept(runtime: SweptThread['runtime']): SweptThread {
  return { runtime, leave: async () => undefined }
}

suite('a sweep', () => {
  test('declines an approval that is due in a thread that no process has open, once', async () => {
    let clock = 1_000_000
    const now = (): number => clock
    // The process that asked has the time-out; the one that finds the wait has not: the time is on record.
    await using bench = await RuntimeBench.open(agents(), { now })
    await bench.restart({ approvalTimeout: 60_000 })
    await bench.submit('go', { agentId: 'native' })
    const wait = await bench.wait()
    assert.equal(wait.due, clock + 60_000)
    await bench.runtime.close()
    const opened: string[] = []
    const open = async (thread: string): Promise<SweptThread> => {
      opened.push(thread)
      await bench.restart()
      return swept(bench.runtime)
    }
    const sweep = new Sweep(bench.store, { open, now })
    await sweep.once()
    assert.deepEqual(opened, [], 'it is not due yet')
    clock += 60_000
    await sweep.once()
    assert.deepEqual(opened, ['thread'])
    await bench.runtime.idle()
    const row = await bench.store.getWait('thread', wait.id)
    assert.deepEqual([row?.state, row?.answeredBy], ['answered', 'timeout'])
    assert.equal((await bench.bodies('wait.answered'))[0]?.answer.decision, 'decline')
    await sweep.once()
    assert.deepEqual(opened, ['thread'])
    assert.equal((await bench.bodies('wait.answered')).length, 1)
    await sweep.stop()
  })

  test('ends the wait for a limit at its time', async () => {
    let clock = 1_000_000
    const now = (): number => clock
    await using bench = await RuntimeBench.open(agents(), { now })
    const wait = { id: 'w', kind: 'limit', subject: {}, description: 'Until the limit ends.', due: clock + 5 } as const
    await bench.runtime.change((log) => log.commit([{ type: 'wait.opened', wait }]))
    const sweep = new Sweep(bench.store, { open: async () => swept(bench.runtime), now })
    await sweep.once()
    assert.equal(bench.runtime.state.head.waits.size, 1)
    clock += 5
    await sweep.once()
    assert.equal(bench.runtime.state.head.waits.size, 0)
    assert.deepEqual((await bench.bodies('wait.answered'))[0]?.answer, { decision: 'answer', value: { isOver: true } })
  })

  test('carries out accepted commands, and continues after a thread that cannot be opened', async () => {
    await using bench = await RuntimeBench.open(agents())
    const key = { principal: 'ann', clientId: 'page', commandId: timeOrderedId() }
    const command = { type: 'rename', title: 'Found' } as const
    await admitCommand(bench.store, { command, key, target: 'thread', at: Date.now() - 5000 })
    const failed: string[] = []
    let isHeld = true
    const sweep = new Sweep(bench.store, {
      open: async () => {
        if (isHeld) throw new Error('held')
        return swept(bench.runtime)
      },
      onError: (_error, thread) => failed.push(thread),
    })
    await sweep.once()
    assert.deepEqual(failed, ['thread'])
    assert.equal((await bench.store.getCommand(key))?.state, 'accepted')
    isHeld = false
    await sweep.once()
    assert.equal(bench.runtime.state.head.title, 'Found')
  })

  test('does not open a thread whose command another process has carried out since it was listed', async () => {
    await using bench = await RuntimeBench.open(agents())
    await createThread(bench.store, { id: 'second', resourceId: 'test' })
    const keys = ['thread', 'second'].map((target) => ({
      target,
      key: { principal: 'ann', clientId: 'page', commandId: timeOrderedId() },
    }))
    const command = { type: 'rename', title: 'Found' } as const
    for (const { key, target } of keys) {
      await admitCommand(bench.store, { command, key, target, at: Date.now() - 5000 })
    }
    const opened: string[] = []
    const sweep = new Sweep(bench.store, {
      open: async (thread) => {
        opened.push(thread)
        for (const { key } of keys) await bench.store.settleCommand({ key, outcome: { status: 'done' } })
        return undefined
      },
    })
    await sweep.once()
    assert.deepEqual(opened, ['thread'])
  })

  test('leaves a command to the process that has just admitted it', async () => {
    await using bench = await RuntimeBench.open(agents())
    const key = { principal: 'ann', clientId: 'page', commandId: timeOrderedId() }
    const at = Date.now()
    await admitCommand(bench.store, { command: { type: 'rename', title: 'New' }, key, target: 'thread', at })
    let now = at + 500
    const sweep = new Sweep(bench.store, { open: async () => swept(bench.runtime), now: () => now })
    await sweep.once()
    assert.equal((await bench.store.getCommand(key))?.state, 'accepted')
    now = at + 1000
    await sweep.once()
    assert.equal((await bench.store.getCommand(key))?.state, 'done')
  })
})
