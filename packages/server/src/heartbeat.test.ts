/** How both sides notice that the other one is gone. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { connect } from '@inspan/client'
import { WebSocket } from 'ws'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

/** Time stands still but for what a test lets pass. */
function stopTime(context: TestContext): (milliseconds: number) => void {
  context.mock.timers.enable({ apis: ['setInterval'] })
  return (milliseconds) => context.mock.timers.tick(milliseconds)
}

describe('every 15 seconds', () => {
  it('an event stream gets a comment, which an EventSource ignores', async (t) => {
    const pass = stopTime(t)
    await using bench = await ServerBench.start([])
    const headers = { authorization: `Bearer ${bench.token}` }
    const request = httpRequest(`${bench.url}/v1/events`, { headers }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    response.on('error', () => undefined)
    while (!text.includes('"type":"snapshot"')) await once(response, 'data')
    pass(14_000)
    assert.doesNotMatch(text, /^:/m)
    const pings = (): number => text.match(/^: ping$/gm)?.length ?? 0
    pass(1_000)
    while (pings() < 1) await once(response, 'data')
    pass(15_000)
    while (pings() < 2) await once(response, 'data')
    request.destroy()
  })

  it('a WebSocket client gets a ping of the protocol, and one that said no hello only that of WebSockets', async (t) => {
    const pass = stopTime(t)
    await using bench = await ServerBench.start([])
    const client = await new WireClient(bench.url, bench.token).opened()
    client.send({ type: 'hello', protocol: 1, clientId: 'test' })
    await client.next('snapshot')
    const seed = await new WireClient(bench.url, bench.token, []).opened()
    await seed.next('state')
    const pinged = once(seed.socket, 'ping')
    pass(15_000)
    await client.next('ping')
    await pinged
    assert.deepEqual(
      seed.messages.map(({ type }) => type),
      ['state'],
    )
    await client.close()
    await seed.close()
  })
})

describe('a client in the process of the server', () => {
  it('stays connected however long nothing happens', async (t) => {
    // Its patience, too, is measured in the time that passes here.
    t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
    await using bench = await ServerBench.start([])
    const client = await connect({ transport: bench.server.transport() })
    const changes: string[] = []
    client.subscribe(({ connection }) => changes.push(connection))
    for (let beat = 0; beat < 10; beat++) {
      t.mock.timers.tick(15_000)
      await setImmediate()
    }
    assert.deepEqual(changes, [])
    await client.close()
  })

  it('is pinged no more once it has left', async (t) => {
    const pass = stopTime(t)
    await using bench = await ServerBench.start([])
    const types: string[] = []
    const opened = Promise.withResolvers<void>()
    const connection = bench.server.transport().open({
      onOpen: opened.resolve,
      onMessage: ({ type }) => types.push(type),
      onClose: () => types.push('closed'),
    })
    await opened.promise
    connection.send({ type: 'hello', protocol: 1, clientId: 'test' })
    while (!types.includes('snapshot')) await setImmediate()
    pass(15_000)
    await setImmediate()
    connection.close()
    pass(60_000)
    await setImmediate()
    assert.deepEqual(types, ['hello', 'snapshot', 'ping', 'closed'])
  })
})

describe('a WebSocket client that answers no pings', () => {
  it('is disconnected with the reason, while one that answers stays', async (t) => {
    const pass = stopTime(t)
    await using bench = await ServerBench.start([])
    const headers = { authorization: `Bearer ${bench.token}` }
    const url = `${bench.url.replace('http', 'ws')}/v1/ws`
    const [silent, answering] = [false, true].map(
      (autoPong) => new WebSocket(url, ['inspan.v1'], { headers, autoPong }),
    ) as [WebSocket, WebSocket]
    await Promise.all([once(silent, 'open'), once(answering, 'open')])
    const closed = once(silent, 'close') as Promise<[number, Buffer]>
    for (let beat = 0; beat < 3; beat++) {
      const answered = once(answering, 'ping')
      pass(15_000)
      await answered
      // The server has this answer once it has answered what was sent after it.
      const received = once(answering, 'message')
      answering.send('{}')
      await received
    }
    const [code, reason] = await closed
    assert.deepEqual([code, reason.toString()], [4008, 'idle'])
    assert.equal(answering.readyState, WebSocket.OPEN)
    answering.terminate()
  })
})
