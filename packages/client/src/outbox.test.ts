import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect, webStorageOutbox, type Client, type OutboxContents } from './index.ts'
import { uuidV7 } from './uuid.ts'
import { until } from './until.fixture.ts'

it('a command that was sent while the server was away outlives a reload of the page, and happens once', async () => {
  const kept = new Map<string, string>()
  const page = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
  }
  const model = scriptedModel([{ text: 'Hello' }, { text: 'Never' }])
  const harness = new Harness({ id: 'outbox', agent: new Agent({ id: 'agent', model }), modes: [{ id: 'build' }] })
  let server = await serve({ harness })
  const { port, token, url } = server
  const options = { url, token, outbox: webStorageOutbox(page), retry: { firstMs: 5, longestMs: 20 } }
  const before = await connect(options)
  await server.close()
  await until(before, ({ connection }) => connection !== 'open')
  const { id } = before.send({ type: 'submit', prompt: 'Still there?' })
  // A reload ends the page without warning: only what is stored is left of it.
  await before.close()
  server = await serve({ harness, port, token })
  const after = await connect(options)
  await until(after, ({ messages, status }) => status === 'idle' && messages.at(-1)?.role === 'assistant')
  assert.deepEqual(
    after.getState().messages.map(({ content }) => content),
    ['Still there?', 'Hello'],
  )
  await until(after, ({ pending }) => pending.length === 0)
  assert.ok(!(kept.get('inspan.outbox') ?? '').includes(id))
  assert.equal(model.requests.length, 1)
  await after.close()
  await server.close()
  await harness.destroy()
})

const NO_COMMANDS = '{"clientId":"c","commands":[null,7,{"id":"x"}]}'

it('an outbox that cannot be read begins anew, and does not keep the page from connecting', async () => {
  const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
  const harness = new Harness({ id: 'outbox', agent, modes: [{ id: 'build' }] })
  const server = await serve({ harness })
  const { token, url } = server
  for (const text of [
    '{"clientId":"c',
    'null',
    '[]',
    '7',
    '{"clientId":7,"commands":[]}',
    '{"clientId":"c"}',
    NO_COMMANDS,
  ]) {
    const kept = new Map([['inspan.outbox', text]])
    const page = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, saved: string) => void kept.set(name, saved),
    }
    const client = await connect({ url, token, outbox: webStorageOutbox(page) })
    assert.equal((await client.send({ type: 'rename', title: 'Here' }).receipt).status, 'done', text)
    await client.close()
    assert.match(
      kept.get('inspan.outbox') ?? '',
      /^\{"clientId":"[0-9a-f-]{36}","commands":\[\],"principal":"owner"\}$/,
    )
  }
  await server.close()
  await harness.destroy()
})

/** What a page keeps over a reload. */
class PageStorage {
  readonly #kept = new Map<string, string>()

  constructor(contents?: OutboxContents) {
    if (contents !== undefined) this.setItem('inspan.outbox', JSON.stringify(contents))
  }

  getItem(name: string): string | null {
    return this.#kept.get(name) ?? null
  }

  setItem(name: string, text: string): void {
    this.#kept.set(name, text)
  }
}

const texts = (client: Client): string[] => client.getState().messages.map(({ content }) => content)

it('messages of an hour ago are sent only when their user confirms them; other commands are sent as ever', async () => {
  const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Good morning.' }]) })
  const harness = new Harness({ id: 'outbox', agent, modes: [{ id: 'build' }] })
  const { id: thread } = await harness.session.thread.create({ title: 'Before' })
  const server = await serve({ harness })
  const madeAt = Date.now() - 61 * 60_000
  const made = [
    { type: 'submit', prompt: 'Good evening' },
    { type: 'follow-up', message: 'Good night' },
    { type: 'rename', title: 'After' },
  ] as const
  const commands = made.map((command) => {
    const id = uuidV7(madeAt)
    return { id, command: { ...command, id, thread }, madeAt }
  })
  const outbox = webStorageOutbox(new PageStorage({ clientId: 'page', commands }))
  const client = await connect({ url: server.url, token: server.token, outbox })
  await until(client, ({ head, pending }) => pending.length === 2 && head.title === 'After')
  assert.deepEqual(
    client.getState().pending.map(({ id, isStale }) => [id, isStale]),
    [
      [commands[0]?.id, true],
      [commands[1]?.id, true],
    ],
  )
  client.discard(commands[1]?.id ?? '')
  client.confirm(commands[0]?.id ?? '')
  await until(client, ({ messages, pending, status }) => pending.length + messages.length === 2 && status === 'idle')
  assert.deepEqual(texts(client), ['Good evening', 'Good morning.'])
  await client.close()
  await server.close()
  await harness.destroy()
})

it('a command that one person made while disconnected is not sent as another, but when the first one is back', async () => {
  const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Hello Ann.' }]) })
  const harness = new Harness({ id: 'outbox', agent, modes: [{ id: 'build' }] })
  await harness.session.thread.create()
  const storage = new PageStorage()
  const retry = { firstMs: 5, longestMs: 20 }
  const as = async (principal: string) => {
    const server = await serve({ harness, principal })
    const client = await connect({ url: server.url, token: server.token, outbox: webStorageOutbox(storage), retry })
    return { server, client }
  }
  const before = await as('ann')
  await before.server.close()
  await until(before.client, ({ connection }) => connection !== 'open')
  const { id } = before.client.send({ type: 'submit', prompt: 'This is Ann.' })
  await before.client.close()

  const other = await as('bob')
  assert.equal((await other.client.send({ type: 'rename', title: 'By Bob' }).receipt).status, 'done')
  assert.deepEqual(
    other.client.getState().pending.map((each) => [each.id, each.principal]),
    [[id, 'ann']],
  )
  assert.deepEqual(texts(other.client), [])
  await other.client.close()
  await other.server.close()

  const again = await as('ann')
  await until(again.client, ({ messages, status }) => status === 'idle' && messages.length === 2)
  assert.deepEqual(texts(again.client), ['This is Ann.', 'Hello Ann.'])
  await again.client.close()
  await again.server.close()
  await harness.destroy()
})
