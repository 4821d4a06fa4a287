/** A bot for a chat service. A webhook reports what waits for a person; the reply in the chat answers it. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect } from '@inspan/client'
import { Agent, createTool, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { ChatRoom } from './chat-room.ts'

interface Delivery {
  readonly type: 'wait' | 'run-ended' | 'limit'
  readonly waitId?: string
  readonly description?: string
  readonly outcome?: string
}

const secret = randomBytes(32).toString('hex')
const room = new ChatRoom(['yes'])
const deployed: string[] = []
const deploy = createTool({
  id: 'deploy',
  description: 'Deploys a version.',
  category: 'execute',
  inputSchema: z.object({ version: z.string() }),
  execute: ({ version }) => `deployed ${deployed.push(version)} version`,
})

const harness = new Harness({
  id: 'webhook-bot',
  agent: new Agent({
    id: 'deployer',
    model: scriptedModel([
      { toolCalls: [{ name: 'deploy', input: { version: '1.2.0' } }] },
      { text: 'Version 1.2.0 is out.' },
    ]),
    tools: { deploy },
  }),
  modes: [{ id: 'work' }],
  permissions: { categories: { execute: 'ask' } },
})

const ended = Promise.withResolvers<void>()
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    // Anybody can send something here, so what is not signed with our secret is refused.
    const isOurs = isSigned(request, body)
    response.writeHead(isOurs ? 204 : 401).end()
    if (isOurs) void handle(JSON.parse(body) as Delivery)
  })
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

const server = await serve({ harness, webhooks: { hooks: [{ url, secret }] } })
const client = await connect({ url: server.url, token: server.token })

const forged = await fetch(url, { method: 'POST', body: '{"type":"run-ended","outcome":"forged"}' })
console.log(`a forged delivery gets ${forged.status}`)

console.log('ann: deploy 1.2.0')
client.send({ type: 'submit', prompt: 'Deploy 1.2.0.' })
await ended.promise

await client.close()
await server.close()
await harness.destroy()
receiver.close()

async function handle({ type, waitId, description, outcome }: Delivery): Promise<void> {
  if (type === 'wait' && waitId !== undefined) {
    room.onReply((reply) => {
      client.send({ type: 'answer', waitId, decision: reply === 'yes' ? 'approve' : 'decline' })
    })
    room.post(`${description} Shall I?`)
  } else if (type === 'run-ended') {
    // The webhook may be faster than the client's own connection.
    const answer = await lastAnswer()
    room.post(`${answer} (${outcome}, deployed: ${deployed.join(', ')})`)
    ended.resolve()
  }
}

async function lastAnswer(): Promise<string> {
  for (;;) {
    const { status, messages } = client.getState()
    const last = messages.at(-1)
    if (status === 'idle' && last?.role === 'assistant') return last.content
    await new Promise<void>((resolve) => {
      const unsubscribe = client.subscribe(() => {
        unsubscribe()
        resolve()
      })
    })
  }
}

function isSigned({ headers }: IncomingMessage, body: string): boolean {
  const [, time = '', given = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-inspan-signature'])) ?? []
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest()
  return given !== '' && timingSafeEqual(Buffer.from(given, 'hex'), expected)
}
