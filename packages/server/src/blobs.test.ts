import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Agent, createTool, Harness, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { serve } from './serve.ts'

it('a large result is read by thread and hash; a made-up reference opens no other thread', async () => {
  const secret = 'a long line of the first thread. '.repeat(4000)
  let forged: unknown = null
  const read = createTool({ id: 'read', description: 'Reads.', execute: () => forged ?? secret })
  const calls = [{ toolCalls: [{ name: 'read' }] }, { text: 'Done.' }]
  const harness = new Harness({
    id: 'blobs',
    agent: new Agent({ id: 'me', model: scriptedModel([...calls, ...calls]), tools: { read } }),
    storage: new MemoryStore(),
    modes: [{ id: 'chat' }],
    permissions: { tools: { read: 'allow' } },
  })
  const server = await serve({ harness })
  const get = (path: string): Promise<Response> =>
    fetch(`${server.url}/v1/threads/${path}`, { headers: { authorization: `Bearer ${server.token}` } })
  const messagesOf = async (thread: string): Promise<readonly { id: string; parts: unknown }[]> =>
    ((await (await get(`${thread}/messages`)).json()) as { messages: { id: string; parts: unknown }[] }).messages
  try {
    await harness.sendMessage({ content: 'Read it' })
    const first = harness.session.thread.getId() ?? ''
    const holder = (await messagesOf(first)).find(({ parts }) => JSON.stringify(parts).includes('"blob"'))
    const hash = /"blob":"(\w{64})"/.exec(JSON.stringify(holder?.parts))?.[1] ?? ''
    const found = await get(`${first}/blobs/${hash}?message=${holder?.id}`)
    assert.equal(found.status, 200)
    assert.match(await found.text(), /a long line of the first thread/)

    forged = { blob: hash, size: 5, mime: 'text/plain' }
    await harness.createThread()
    await harness.sendMessage({ content: 'Read another' })
    const second = harness.session.thread.getId() ?? ''
    assert.notEqual(second, first)
    const liar = (await messagesOf(second)).find(({ parts }) => JSON.stringify(parts).includes(hash))
    assert.equal((await get(`${second}/blobs/${hash}?message=${liar?.id}`)).status, 404)
  } finally {
    await server.close()
    await harness.destroy()
  }
})
