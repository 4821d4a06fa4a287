import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { describe, it } from 'node:test'
import { MemoryStore } from '@inspan/core'
import type { RawSpool } from '@inspan/protocol/driver'
import { applyFrame, viewFrom } from '@inspan/protocol/log'
import { toHarnessState, type ServerMessage } from '@inspan/protocol/wire'
import { WebSocket } from 'ws'
import { uuidV7 } from './commands/uuid.ts'
import type { ServeOptions } from './options.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

const hello = { type: 'hello', protocol: 1, clientId: 'test' } as const

async function greeted(bench: ServerBench, more: object = {}): Promise<WireClient> {
  const client = await new WireClient(bench.url, bench.token).opened()
  client.send({ ...hello, ...more })
  return client
}

/** Sends a message and waits until its own run is over: the one before it may still end meanwhile. */
async function say(bench: ServerBench, prompt: string, thread?: string): Promise<void> {
  const client = await greeted(bench, thread === undefined ? {} : { threads: { [thread]: null } })
  let view = viewFrom((await client.next('snapshot')).snapshot)
  client.send({ type: 'commands', commands: [{ type: 'submit', prompt, id: uuidV7() }] })
  const asked = (): boolean => toHarnessState(view).messages.some(({ content }) => content === prompt)
  while (!asked() || toHarnessState(view).status !== 'idle') view = applyFrame(view, await client.next('delta'))
  await client.close()
}

describe('hello', () => {
  it('is answered with version, epoch and thread, then a snapshot', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    const answer = await client.next('hello')
    const { snapshot, thread } = await client.next('snapshot')
    assert.deepEqual([answer.protocol, answer.thread, answer.principal], [1, thread, 'owner'])
    assert.equal(snapshot.head.stream, thread)
    assert.equal(answer.seq, snapshot.seq)
    assert.deepEqual(
      client.messages.map(({ type }) => type),
      ['hello', 'snapshot'],
    )
    await client.close()
  })

  it('a newer client is answered in the version of the server, and an older one is served, too', async () => {
    await using bench = await ServerBench.start([])
    for (const [protocol, answered] of [
      [99, 1],
      [0, 0],
    ]) {
      const client = await greeted(bench, { protocol, fromTheFuture: true })
      assert.equal((await client.next('hello')).protocol, answered)
      await client.next('snapshot')
      await client.close()
    }
  })

  it('hello that is malformed is refused, and the connection stays usable', async () => {
    await using bench = await ServerBench.start([])
    const client = await new WireClient(bench.url, bench.token).opened()
    for (const bad of [{ type: 'hello' }, { type: 'nonsense' }, [], 7, { ...hello, window: -1 }]) {
      client.send(bad as object)
      assert.equal((await client.next('error')).code, 'invalid-input')
    }
    client.socket.send('{"type":"hello","protocol":1,"clientId":"x","threads":{"__proto__":5}}')
    assert.equal((await client.next('error')).code, 'invalid-input')
    client.socket.send('not json')
    assert.equal((await client.next('error')).code, 'invalid-input')
    client.send(hello)
    await client.next('snapshot')
    await client.close()
  })
})

describe('a cursor', () => {
  it('a cursor that is current is answered by silence, and one in between by what followed', async () => {
    await using bench = await ServerBench.start([{ text: 'one' }, { text: 'two' }])
    const client = await greeted(bench)
    const { epoch } = await client.next('hello')
    const first = await client.next('snapshot')
    const { thread } = first
    let view = viewFrom(first.snapshot)
    client.send({ type: 'commands', commands: [{ type: 'submit', prompt: 'Hi', id: uuidV7() }] })
    const { seq } = await client.next('delta')
    await client.close()
    // What the client has seen up to its first delta.
    for (const message of client.messages.slice(0, client.messages.findIndex(({ type }) => type === 'delta') + 1)) {
      if (message.type === 'delta') view = applyFrame(view, message)
    }
    await say(bench, 'again', thread)
    const later = await greeted(bench, { epoch, threads: { [thread]: seq } })
    const { seq: newest } = await later.next('hello')
    view = applyFrame(view, await later.next('delta'))
    assert.equal(newest, view.seq)
    const fresh = await greeted(bench)
    const whole = await fresh.next('snapshot')
    assert.deepEqual(toHarnessState(view), toHarnessState(viewFrom(whole.snapshot)))
    const current = await greeted(bench, { epoch, threads: { [thread]: whole.snapshot.seq } })
    await current.next('hello')
    current.send({ type: 'commands', commands: [{ type: 'rename', title: 'x', id: uuidV7() }] })
    assert.equal((await current.next('delta')).seq, whole.snapshot.seq + 1)
    assert.ok(!current.messages.some(({ type }) => type === 'snapshot'))
    for (const each of [later, fresh, current]) await each.close()
  })

  it('a cursor of another epoch or of the future gets a snapshot with the reason', async () => {
    await using bench = await ServerBench.start([{ text: 'one' }])
    await say(bench, 'Hi')
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: { id: string }[] }
    const thread = threads[0]?.id ?? ''
    for (const [more, reason] of [
      [{ epoch: 'another', threads: { [thread]: 3 } }, 'epoch'],
      [{ threads: { [thread]: 10 ** 9 } }, 'gap'],
    ] as const) {
      const client = await greeted(bench, more)
      assert.equal((await client.next('snapshot')).resync, reason)
      await client.close()
    }
  })

  it('a cursor of a thread that does not exist is refused', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench, { threads: { nowhere: 5 } })
    const error = await client.next('error')
    assert.deepEqual([error.code, error.thread], ['not-found', 'nowhere'])
    await client.close()
  })
})

describe('commands', () => {
  it('sent twice, or again after a reconnect, are carried out once and get the same receipt', async () => {
    await using bench = await ServerBench.start([{ text: 'one' }, { text: 'never' }])
    const client = await greeted(bench)
    await client.next('snapshot')
    const command = { type: 'submit', prompt: 'Hi', id: uuidV7() }
    client.send({ type: 'commands', commands: [command, command] })
    const receipts = [await client.next('receipt'), await client.next('receipt')]
    assert.equal(receipts[0]?.runId, receipts[1]?.runId)
    await client.close()
    const again = await greeted(bench)
    await again.next('snapshot')
    again.send({ type: 'commands', commands: [command] })
    const repeated = await again.next('receipt')
    assert.deepEqual([repeated.status, repeated.runId], ['done', receipts[0]?.runId])
    again.send({ type: 'commands', commands: [{ ...command, prompt: 'Other' }] })
    assert.equal((await again.next('receipt')).status, 'conflict')
    assert.equal(bench.model.requests.length, 1)
    await again.close()
  })

  it('get their receipt after the delta that shows the effect, and only their sender gets it', async () => {
    await using bench = await ServerBench.start([])
    const [one, two] = [await greeted(bench), await greeted(bench, { clientId: 'other' })]
    await one.next('snapshot')
    await two.next('snapshot')
    one.send({ type: 'commands', commands: [{ type: 'rename', title: 'New', id: uuidV7() }] })
    const { seq } = await one.next('receipt')
    const types = one.messages.map(({ type }) => type)
    assert.ok(types.indexOf('delta') < types.indexOf('receipt'))
    assert.equal((await two.next('delta')).seq, seq)
    two.send({ type: 'commands', commands: [{ type: 'dance', id: uuidV7() }] })
    await two.next('receipt')
    assert.equal(two.messages.filter(({ type }) => type === 'receipt').length, 1)
    await one.close()
    await two.close()
  })

  it('commands that are unknown or invalid are refused by themselves; the others of the batch are carried out', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    const ids = [uuidV7(), uuidV7(), uuidV7()]
    client.send({
      type: 'commands',
      commands: [
        { type: 'teleport', id: ids[0] },
        { type: 'submit', id: ids[1] },
        { type: 'rename', title: 'Kept', id: ids[2] },
      ],
    })
    const receipts = [await client.next('receipt'), await client.next('receipt'), await client.next('receipt')]
    const reasons = ids.map((id) => receipts.find((receipt) => receipt.id === id)?.reason)
    assert.deepEqual(reasons, ['unsupported', 'invalid', undefined])
    const { message } = receipts.find((receipt) => receipt.id === ids[1]) ?? {}
    assert.match(String(message), /^The command is invalid: prompt: [^\n{]+\.$/, 'names the field, in one line')
    await client.close()
  })

  it('commands that delete a thread notify those who watch it, and get their receipt again when they are sent again', async () => {
    const removed: string[] = []
    const spool: RawSpool = {
      remove: () => assert.fail('A thread goes as a whole.'),
      removeThread: ({ threadId }) => Promise.resolve(removed.push(threadId) > 0),
    }
    await using bench = await ServerBench.start([{ text: 'Hi' }], { harness: { spool } })
    await say(bench, 'Hello')
    const [one, two] = [await greeted(bench), await greeted(bench, { clientId: 'other' })]
    const { thread } = await one.next('snapshot')
    await two.next('snapshot')
    const command = { type: 'delete', id: uuidV7(), thread }
    one.send({ type: 'commands', commands: [command] })
    assert.equal((await one.next('receipt')).status, 'done')
    assert.deepEqual((await two.next('error')).thread, thread)
    one.send({ type: 'commands', commands: [command] })
    assert.equal((await one.next('receipt')).status, 'done')
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: unknown[] }
    assert.deepEqual(threads, [])
    assert.deepEqual(removed, [thread], 'the raw output of its agents went along')
    await one.close()
    await two.close()
  })

  it('fork, rewind and configure a thread, for all who watch it', async () => {
    await using bench = await ServerBench.start([{ text: 'one' }, { text: 'two' }])
    await say(bench, 'first')
    await say(bench, 'second')
    const client = await greeted(bench)
    const { snapshot, thread } = await client.next('snapshot')
    const [, , second] = snapshot.messages
    const send = async (command: object): Promise<{ status: string; thread?: string; reason?: string }> => {
      client.send({ type: 'commands', commands: [{ ...command, id: uuidV7(), thread }] })
      return client.next('receipt')
    }
    const { thread: fork = '' } = await send({ type: 'fork', messageId: snapshot.messages[1]?.id })
    const page = await bench.fetch(`/v1/threads/${fork}/messages`)
    assert.equal(((await page.json()) as { messages: unknown[] }).messages.length, 2)
    assert.equal((await send({ type: 'mode', mode: 'plan' })).status, 'done')
    assert.equal((await send({ type: 'mode', mode: 'nowhere' })).reason, 'unknown-id')
    assert.equal((await send({ type: 'rewind', messageId: second?.id, scope: 'conversation' })).status, 'done')
    assert.equal((await send({ type: 'rewind', messageId: snapshot.messages[0]?.id })).reason, 'unsupported')
    const fresh = await greeted(bench, { threads: { [thread]: null } })
    const now = await fresh.next('snapshot')
    assert.deepEqual([now.snapshot.messages.length, now.snapshot.head.mode], [2, 'plan'])
    await client.close()
    await fresh.close()
  })

  it('are refused if their sender saw another run', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    const expect = { runId: 'run-of-yesterday' }
    client.send({ type: 'commands', commands: [{ type: 'submit', prompt: 'x', id: uuidV7(), expect }] })
    assert.equal((await client.next('receipt')).reason, 'wrong-run')
    await client.close()
  })

  it('record who sent them', async () => {
    const storage = new MemoryStore()
    await using bench = await ServerBench.start([{ text: 'Hi' }], { serve: { principal: 'ann' }, harness: { storage } })
    await say(bench, 'Hello')
    const { items } = await storage.listThreads({})
    const records = await storage.readRecords(items[0]?.id ?? '', {})
    const said = records.items.find(({ body }) => body.type === 'message.added')
    assert.equal(said?.by, 'ann')
  })
})

describe('what leaves the process', () => {
  it('is the public part of the head', async () => {
    await using bench = await ServerBench.start([{ text: 'Hi' }])
    const session = await bench.harness.createSession()
    await session.thread.create()
    await session.sendMessage({ content: 'Hello', requestContext: { apiKey: 'sk-private' } })
    const client = await greeted(bench)
    const { snapshot } = await client.next('snapshot')
    assert.equal(snapshot.messages.length, 2)
    assert.ok(!JSON.stringify(client.messages).includes('sk-private'))
    assert.deepEqual([snapshot.head.bindings, snapshot.head.state], [{}, {}])
    await client.close()
  })
})

describe('server-sent events', () => {
  /** Reads events until `count` have come; each as its id and message. */
  function events(bench: ServerBench, path: string, count: number, headers: Record<string, string> = {}) {
    return new Promise<{ status: number; text: string; events: { id?: string; data: ServerMessage }[] }>(
      (resolve, reject) => {
        let text = ''
        const options = { headers: { authorization: `Bearer ${bench.token}`, ...headers } }
        const request = httpRequest(`${bench.url}${path}`, options, (response) => {
          const done = (): void => {
            const found = text.split('\n\n').flatMap((block) => {
              const data = /^data: (.*)$/m.exec(block)?.[1]
              const id = /^id: (.*)$/m.exec(block)?.[1]
              return data === undefined
                ? []
                : [{ ...(id === undefined ? {} : { id }), data: JSON.parse(data) as ServerMessage }]
            })
            if (found.length < count && response.statusCode === 200) return
            request.destroy()
            resolve({ status: response.statusCode ?? 0, text, events: found })
          }
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            text += chunk
            done()
          })
        })
        request.on('error', reject)
        request.end()
      },
    )
  }

  it('begin with a retry hint, carry ids, and continue after the last one', async () => {
    await using bench = await ServerBench.start([{ text: 'one' }, { text: 'two' }])
    await say(bench, 'Hi')
    const first = await events(bench, '/v1/events', 2)
    assert.match(first.text, /^retry: \d+\n\n/)
    const snapshot = first.events[1]
    assert.equal(snapshot?.data.type, 'snapshot')
    const thread = snapshot?.data.type === 'snapshot' ? snapshot.data.thread : ''
    await say(bench, 'again', thread)
    const path = `/v1/events?thread=${encodeURIComponent(thread)}`
    const more = await events(bench, path, 2, { 'last-event-id': snapshot?.id ?? '' })
    assert.deepEqual(
      more.events.map(({ data }) => data.type),
      ['hello', 'delta'],
    )
  })

  it('continue in the thread they followed, also if none is named and another is the newest by now', async () => {
    await using bench = await ServerBench.start([])
    const { events: found } = await events(bench, '/v1/events', 2)
    const snapshot = found[1]
    const thread = snapshot?.data.type === 'snapshot' ? snapshot.data.thread : ''
    const rename = { commands: [{ type: 'rename', title: 'Still this one', thread }] }
    await bench.fetch('/v1/commands', { method: 'POST', body: JSON.stringify(rename) })
    await bench.fetch('/v1/threads', { method: 'POST', body: '{}' })
    const [hello, delta] = (await events(bench, '/v1/events', 2, { 'last-event-id': snapshot?.id ?? '' })).events
    assert.equal(hello?.data.type === 'hello' && hello.data.thread, thread)
    assert.match(JSON.stringify(delta?.data), /Still this one/)
  })

  it('refuse the cursor of another thread', async () => {
    await using bench = await ServerBench.start([])
    const make = async (): Promise<string> => {
      const answer = await bench.fetch('/v1/threads', { method: 'POST', body: '{}' })
      return ((await answer.json()) as { thread: { id: string } }).thread.id
    }
    const [one, two] = [await make(), await make()]
    const { events: found } = await events(bench, `/v1/events?thread=${one}`, 2)
    const id = found[1]?.id ?? ''
    const refused = await bench.fetch(`/v1/events?thread=${two}`, { headers: { 'last-event-id': id } })
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /does not belong/)
  })

  it('serve a client of version 0, too', async () => {
    await using bench = await ServerBench.start([])
    const { events: found } = await events(bench, '/v1/events?protocol=0', 1)
    const [{ data, id } = {}] = found
    assert.equal(data?.type, 'state')
    assert.match(id ?? '', /\/\d+$/)
    await bench.fetch('/v1/threads', { method: 'POST', body: '{}' })
    const again = await events(bench, '/v1/events?protocol=0', 1, { 'last-event-id': id ?? '' })
    assert.equal(again.events[0]?.id, id, 'the same thread, although another one is the newest')
  })
})

describe('compression', () => {
  /** How many bytes came over the network for an answer, relative to its messages, and by which extension. */
  async function sizeOf(options: Partial<ServeOptions>, host?: string): Promise<[ratio: number, extension: string]> {
    const words = Array.from({ length: 200 }, (_, index) => `Word ${index * 7919} of a long answer. `)
    await using bench = await ServerBench.start([{ text: words }], { serve: options })
    const socket = new WebSocket(`ws://127.0.0.1:${bench.server.port}/v1/ws`, ['inspan.v1'], {
      headers: { authorization: `Bearer ${bench.token}`, ...(host === undefined ? {} : { host }) },
    })
    let [before, read, messages] = [0, 0, 0]
    socket.on('upgrade', ({ socket: network }) => {
      before = network.bytesRead
      socket.once('close', () => (read = network.bytesRead - before))
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'hello', protocol: 1, clientId: 'c' }))
    socket.send(JSON.stringify({ type: 'commands', commands: [{ type: 'submit', prompt: 'Go' }] }))
    for await (const [data] of on(socket, 'message') as AsyncIterable<[Buffer]>) {
      messages += data.length
      if (data.includes('"lastRun"],"value":{')) break
    }
    const { extensions } = socket
    socket.close()
    await once(socket, 'close')
    return [read / messages, extensions]
  }

  it('is used for clients of other machines, and not on this machine', async () => {
    const options = { host: '0.0.0.0', allowRemote: true, allowedHosts: ['inspan.example'] }
    const [remote, extension] = await sizeOf(options, 'inspan.example')
    assert.ok(remote < 0.6, String(remote))
    // Both sides remember what came before. Without that, messages below a kilobyte would be sent as they are.
    assert.equal(extension, 'permessage-deflate')
    const [local, none] = await sizeOf({})
    assert.ok(local > 1, String(local))
    assert.equal(none, '')
  })
})

describe('closing the server', () => {
  it('notifies clients, ends streams and leaves nothing running', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    await bench.server.close()
    assert.equal(await client.closed, '1001 shutdown')
    await assert.rejects(bench.fetch('/v1/modes'))
  })
})
