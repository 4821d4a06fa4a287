import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createTool, MemoryStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadLog } from '@inspan/core/engine'
import { ServerBench } from './server.fixture.ts'
import { collectDeliveries } from './webhook-deliveries.ts'

const SECRET = 'a secret that nobody knows'

/** Takes deliveries; refuses the first `refusals` of them. */
class Receiver implements AsyncDisposable {
  readonly taken: { readonly body: string; readonly signature: string; readonly event: string }[] = []
  /** The ids of those that were refused. */
  readonly refused: string[] = []
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
        const { headers } = request
        response.writeHead(isRefused ? 503 : 204).end()
        if (isRefused) return void this.refused.push(String(headers['x-inspan-event']))
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

  bodies(): ({ readonly type: string } & Readonly<Record<string, unknown>>)[] {
    return this.taken.map(({ body }) => JSON.parse(body) as { type: string })
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
  it('report an ended run, signed, and again until they are taken', async () => {
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

  it('report what waits for a person, once, and nothing that they did not ask for', async () => {
    await using receiver = new Receiver()
    const url = await receiver.start()
    const ask = createTool({
      id: 'wipe',
      description: 'Wipes.',
      inputSchema: { type: 'object' },
      execute: () => 'gone',
    })
    await using bench = await ServerBench.start([{ toolCalls: [{ name: 'wipe', input: {} }] }], {
      agent: { tools: { wipe: ask } },
      serve: { webhooks: { hooks: [{ url, secret: SECRET, events: ['wait'] }], retryMs: 1 } },
    })
    await submit(bench)
    await receiver.count(1)
    const { threads } = (await (await bench.fetch('/v1/overview')).json()) as {
      threads: { pendingApprovals: { waitId: string }[] }[]
    }
    const [told] = receiver.bodies()
    assert.deepEqual(
      [told?.type, told?.['kind'], told?.['waitId']],
      ['wait', 'approval', threads[0]?.pendingApprovals[0]?.waitId],
    )
  })

  it('report nothing about a call that is repeated after a restart and answered from the store', async () => {
    const store = new MemoryStore()
    const owner = await ProcessOwner.register(store)
    await createThread(store, { id: 't', resourceId: 'r' })
    const log = await ThreadLog.open({ store, stream: 't', fence: await owner.claim('t') })
    const wait = (id: string) => ({ id, kind: 'approval', subject: { toolName: 'wipe' }, description: 'wipe' }) as const
    const answer = { decision: 'approve' } as const
    await log.commit([{ type: 'wait.opened', wait: wait('asked') }])
    await log.commit([{ type: 'wait.answered', waitId: 'asked', answer }])
    await log.commit([
      { type: 'wait.opened', wait: wait('again'), answered: true },
      { type: 'wait.answered', waitId: 'again', answer },
    ])
    const { deliveries } = await collectDeliveries(store, 't', 0, [{ url: 'http://127.0.0.1:1', secret: SECRET }])
    assert.deepEqual(
      deliveries.map(({ body }) => (JSON.parse(body) as { waitId: string }).waitId),
      ['asked'],
    )
    await owner.close()
    await store.close()
  })

  it('report a limit with the time of its reset, before the run that it ends', async () => {
    await using receiver = new Receiver()
    const url = await receiver.start()
    const hour = 3_600_000
    await using bench = await ServerBench.start([{ error: { status: 429, retryAfterMs: hour } }], {
      serve: { webhooks: { hooks: [{ url, secret: SECRET }], retryMs: 1 } },
    })
    const before = Date.now()
    await submit(bench)
    await receiver.count(2)
    const [limit, ended] = receiver.bodies()
    assert.deepEqual(
      [limit?.type, limit?.['agentId'], ended?.type, ended?.['outcome']],
      ['limit', 'agent', 'run-ended', 'error'],
    )
    const resetsAt = Number(limit?.['resetsAt'])
    assert.ok(resetsAt >= before + hour && resetsAt <= Date.now() + hour)
  })

  it('can be distinguished from forged, changed and replayed ones', async () => {
    await using receiver = new Receiver(1)
    const url = await receiver.start()
    let clock = 1_700_000_000_000
    const webhooks = { hooks: [{ url, secret: SECRET }], retryMs: 1, now: () => (clock += 5000) }
    await using bench = await ServerBench.start([{ text: 'One' }, { text: 'Two' }], { serve: { webhooks } })
    await submit(bench)
    await receiver.count(1)
    await submit(bench)
    await receiver.count(2)
    const [first, second] = receiver.taken
    assert.ok(first !== undefined && second !== undefined)
    const isValid = (body: string, signature: string, secret = SECRET): boolean => {
      const [, time, given] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? []
      return given === createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    }
    assert.ok(isValid(first.body, first.signature) && isValid(second.body, second.signature))
    assert.ok(!isValid(first.body, second.signature), 'a signature belongs to one body')
    assert.ok(!isValid(first.body, first.signature.replace(/t=\d+/, 't=1800000000')), 'its time cannot be renewed')
    assert.ok(!isValid(first.body, first.signature, 'another secret of enough length'))
    // The attempt that was refused has the same id: a receiver that took it would know the second one.
    assert.deepEqual(receiver.refused, [first.event])
    assert.notEqual(first.event, second.event)
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

  it('that do not answer hold up no others', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = createServer(() => asked.resolve())
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    let isGivenUp = false
    silent.on('connection', (socket) => socket.on('close', () => (isGivenUp = true)))
    await using receiver = new Receiver()
    const urls = [`http://127.0.0.1:${(silent.address() as AddressInfo).port}/hook`, await receiver.start()]
    {
      await using bench = await ServerBench.start([{ text: 'Hello' }, { text: 'Again' }], {
        serve: { webhooks: { hooks: urls.map((url) => ({ url, secret: SECRET })) } },
      })
      await submit(bench)
      await asked.promise
      await submit(bench)
      await receiver.count(2)
      assert.equal(isGivenUp, false)
    }
    silent.close()
    await once(silent, 'close')
  })

  it('need a secret', async () => {
    const webhooks = { hooks: [{ url: 'http://127.0.0.1:1', secret: 'short' }] }
    await assert.rejects(ServerBench.start([], { serve: { webhooks } }), /secret/)
  })
})
