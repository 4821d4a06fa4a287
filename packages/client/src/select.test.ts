import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect, type ClientState } from './index.ts'
import { selected, type Kept } from './select.ts'
import { until } from './until.fixture.ts'

it('a selected value stays the same object while only other parts of the state change', async () => {
  const words = Array.from({ length: 50 }, (_, index) => `word${index} `)
  const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Hello' }, { text: words }]) })
  const harness = new Harness({ id: 'selected', agent, modes: [{ id: 'build' }] })
  const server = await serve({ harness })
  const client = await connect({ url: server.url, token: server.token })
  const first = until(client, ({ messages, status }) => status === 'idle' && messages.length === 2)
  client.send({ type: 'submit', prompt: 'Hi' })
  await first
  // A component renders again when what `useSyncExternalStore` reads is another object than before.
  const changes = { all: 0, first: 0, mode: 0, texts: 0 }
  const watch = (name: keyof typeof changes, select: (state: ClientState) => unknown): void => {
    let last: Kept<ClientState, unknown> = selected(client.getState(), select, undefined)
    client.subscribe((state) => {
      const next = selected(state, select, last)
      if (!Object.is(next.selected, last.selected)) changes[name]++
      last = next
    })
  }
  watch('all', (state) => state)
  watch('first', ({ messages }) => messages[1])
  watch('mode', ({ head }) => ({ mode: head.mode, rules: head.rules }))
  watch('texts', ({ messages }) => messages.slice(0, 2).map(({ content }) => content))
  const second = until(client, ({ messages, status }) => status === 'idle' && messages.length === 4)
  client.send({ type: 'submit', prompt: 'More' })
  await second
  assert.ok(changes.all > 3)
  assert.deepEqual([changes.first, changes.mode, changes.texts], [0, 0, 0])
  await client.close()
  await server.close()
  await harness.destroy()
})

it('another selector selects anew from the same state, and keeps a value that is equal', () => {
  const state = { messages: ['one', 'two'] }
  const pick =
    (index: number) =>
    ({ messages }: typeof state) => [messages[index]]
  const first = selected(state, pick(0), undefined)
  assert.deepEqual(selected(state, pick(1), first).selected, ['two'])
  assert.equal(selected(state, pick(0), first).selected, first.selected)
})
