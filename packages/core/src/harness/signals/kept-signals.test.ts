import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Part } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'
import { readThread } from '../../engine/index.ts'

const KEEP = { ifIdle: { behavior: 'persist' } } as const

/** Returns the first part of each recorded message. */
async function kept(store: MemoryStore, threadId: string): Promise<(Part | undefined)[]> {
  const { head } = await readThread(store, threadId)
  const { items } = await store.listMessages(head.lineage, { order: 'oldest', limit: 10 })
  return items.map(({ parts }) => parts[0])
}

suite('what is on record of a signal', () => {
  test('a message of a user: its metadata', async () => {
    const storage = new MemoryStore()
    await using bench = new HarnessBench([], { storage })
    const more = { attributes: { from: 'Ada' }, metadata: { chat: 7 } }
    await bench.harness.sendSignal({ content: 'Hi.', ...more, ...KEEP }).accepted
    assert.deepEqual(await kept(storage, bench.harness.session.thread.requireId()), [
      { id: '0', type: 'text', text: 'Hi.', meta: more },
    ])
  })

  test('a state: what it means besides its text', async () => {
    const storage = new MemoryStore()
    await using bench = new HarnessBench([], { storage })
    const { session } = bench.harness
    const door = { id: 'door', contents: 'open', attributes: { floor: 1 }, tagName: 'the-door' } as const
    await session.signals.sendStateSignal({ ...door, cacheKey: 'a', value: { open: true } })
    await session.signals.sendStateSignal({ ...door, cacheKey: 'b', mode: 'delta', delta: { open: false } })
    const events = bench.all('state_signal')
    assert.deepEqual(await kept(storage, session.thread.requireId()), [
      {
        id: '0',
        type: 'signal',
        kind: 'state_signal',
        text: '<the-door floor="1">open</the-door>',
        data: {
          id: events[0]?.id,
          stateId: 'door',
          mode: 'snapshot',
          cacheKey: 'a',
          version: 1,
          value: { open: true },
          message: 'open',
        },
      },
      {
        id: '0',
        type: 'signal',
        kind: 'state_signal',
        text: '<the-door floor="1">open</the-door>',
        data: {
          id: events[1]?.id,
          stateId: 'door',
          mode: 'delta',
          cacheKey: 'b',
          version: 2,
          delta: { open: false },
          message: 'open',
        },
      },
    ])
    assert.deepEqual(
      events.map(({ cacheKey, mode, stateId, version }) => [stateId, mode, cacheKey, version]),
      [
        ['door', 'snapshot', 'a', 1],
        ['door', 'delta', 'b', 2],
      ],
    )
  })

  test('a state that is sent like any other signal goes by its element', async () => {
    await using bench = new HarnessBench([])
    const state = { type: 'state', tagName: 'weather', contents: 'Rain.' } as const
    await bench.harness.sendSignal(state, KEEP).accepted
    const [event] = bench.all('state_signal')
    assert.deepEqual([event?.stateId, event?.mode, event?.message], ['weather', 'snapshot', 'Rain.'])
  })

  test('a reminder that is sent like any other signal: what its metadata contain', async () => {
    await using bench = new HarnessBench([])
    const reminder = { type: 'system-reminder', contents: 'Mind.', metadata: { path: 'AGENTS.md', gapMs: 5 } } as const
    await bench.harness.sendSignal(reminder, KEEP).accepted
    const [event] = bench.all('system_reminder')
    assert.deepEqual([event?.message, event?.path, event?.gapMs], ['Mind.', 'AGENTS.md', 5])
  })

  test('options for the provider, of any signal', async () => {
    await using bench = new HarnessBench([{ text: 'I see.' }])
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    const ended = bench.next('agent_end')
    await bench.harness.sendSignal({ type: 'reactive', contents: 'Rain.', providerOptions }).accepted
    await ended
    assert.match(JSON.stringify(bench.model.requests[0]), /Rain\..*"cacheControl":\{"type":"ephemeral"\}/)
  })
})
