import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ServerBench } from './server.fixture.ts'

const SECRET = 'a secret that nobody knows'

/** Takes deliveries; refuses the first `refusals` of them. */
class Receiver implements AsyncDisposable {
  readonly taken: { readonly body: string; readonly signature: string; readonly event: string }[] = []
  readonly #server: Server
  #waiting: (() => void)[] = []
  refusals: number

  constructor(refusals = 0) {
    this.refusals = refusals
    this.#server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      request.on('end', () => {
        const isRefused = this.refusals-- > 0
        response.writeHead(isRefused ? 503 : 204).end()
        if (isRefused) return
        const { headers } = request
        const signature = String(headers['x-inspan-signature'])
        this.taken.push({ body, signature, event: String(headers['x-inspan-event']) })
        for (const wake of this.#waiting.splice(0)) wake()
      })
    })
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  async count(wanted: number): Promise<void> {
    while (this.taken.length < wanted) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

async function submit(bench: ServerBench): Promise<void> {
  const body = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Hi' }] })
  await bench.fetch('/v1/commands', { method: 'POST', body })
}

describe('webhooks', () => {
  it('tell of an ended run, signed, and again until they are taken', async () => {
    await using receiver = new Receiver(2)
    const url = await receiver.start()
    await using bench = await ServerBench.start([{ text: 'Hello' }], {
      serve: { webhooks: { hooks: [{ url, secret: SECRET }], retryMs: 1 } },
    })
    await submit(bench)
    await receiver.count(1)
    const [{ body, event, signature } = { body: '', event: '', signature: '' }] = receiver.taken
    const told = JSON.parse(body) as { id: string; type: string; outcome: string }
    assert.deepEqual([told.type, told.outcome, told.id], ['run-ended', 'complete', event])
    const [, time, given] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? []
    assert.equal(given, createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex'))
  })

  it('are kept in a file, so that a restart loses none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-webhooks-'))
    await using receiver = new Receiver(1000)
    const url = await receiver.start()
    const webhooks = { hooks: [{ url, secret: SECRET }], retryMs: 1, file: join(folder, 'outbox.json') }
    {
      await using bench = await ServerBench.start([{ text: 'Hello' }], { serve: { webhooks } })
      const refused = receiver.refusals
      await submit(bench)
      while (receiver.refusals === refused) await new Promise((resolve) => setImmediate(resolve))
    }
    receiver.refusals = 0
    {
      await using _later = await ServerBench.start([], { serve: { webhooks } })
      await receiver.count(1)
    }
    assert.equal((JSON.parse(receiver.taken[0]?.body ?? '{}') as { type: string }).type, 'run-ended')
    await rm(folder, { recursive: true })
  })

  it('need a secret', async () => {
    const webhooks = { hooks: [{ url: 'http://127.0.0.1:1', secret: 'short' }] }
    await assert.rejects(ServerBench.start([], { serve: { webhooks } }), /secret/)
  })
})
