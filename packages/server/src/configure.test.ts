import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect, type Client, type ClientState } from '@inspan/client'
import { Agent, createTool, Harness, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { serve, type InspanServer } from './serve.ts'
import { until } from './until.fixture.ts'

const idle = ({ head, status }: ClientState): boolean => status === 'idle' && head.lastRun !== null

/** Resolves when the run of a prompt is over. */
async function say(client: Client, prompt: string): Promise<ClientState> {
  const { runId } = await client.send({ type: 'submit', prompt }).receipt
  return until(client, (state) => idle(state) && state.head.lastRun?.runId === runId)
}

class Served implements AsyncDisposable {
  readonly planner = scriptedModel([{ text: 'planned' }, { text: 'planned again' }], { modelId: 'planner' })
  readonly builder = scriptedModel([{ text: 'built' }], { modelId: 'builder' })
  readonly storage = new MemoryStore()
  readonly harness: Harness
  server: InspanServer | undefined
  client: Client | undefined

  constructor() {
    this.harness = new Harness({
      id: 'configured',
      storage: this.storage,
      modes: [
        { id: 'plan', agent: new Agent({ id: 'planner', model: this.planner }) },
        { id: 'build', agent: new Agent({ id: 'builder', model: this.builder }), defaultModelId: 'house/large' },
      ],
      resolveModel: (id) => (id.startsWith('house/') ? this.builder : this.planner),
    })
  }

  async open(): Promise<Client> {
    this.server = await serve({ harness: this.harness })
    this.client = await connect({ url: this.server.url, token: this.server.token })
    return this.client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client?.close()
    await this.server?.close()
    await this.harness.destroy()
  }
}

describe('configure', () => {
  it('chooses the agent that takes the next turn, by entering its mode with the model of that mode', async () => {
    await using served = new Served()
    const client = await served.open()
    assert.equal((await say(client, 'First')).messages.at(-1)?.content, 'planned')
    assert.equal((await client.send({ type: 'configure', config: { agent: 'builder' } }).receipt).status, 'done')
    const after = await say(client, 'Second')
    assert.equal(after.messages.at(-1)?.content, 'built')
    assert.deepEqual(
      [after.config?.mode, after.config?.model],
      [
        { value: 'build', applies: 'now' },
        { value: 'house/large', applies: 'now' },
      ],
    )
    const unknown = await client.send({ type: 'configure', config: { agent: 'nobody' } }).receipt
    assert.equal(unknown.reason, 'unknown-id')
    const torn = await client.send({ type: 'configure', config: { agent: 'planner', mode: 'build' } }).receipt
    assert.equal(torn.reason, 'unknown-id')
  })

  it('configuring a mode also sets the model of the mode, by either command', async () => {
    for (const command of [
      { type: 'mode', mode: 'build' },
      { type: 'configure', config: { mode: 'build' } },
    ] as const) {
      await using served = new Served()
      const client = await served.open()
      await client.send(command).receipt
      assert.deepEqual([client.getState().head.mode, client.getState().head.model], ['build', 'house/large'])
    }
  })

  it('reaches the model with its next turn, and outlives a restart of the server', async () => {
    await using served = new Served()
    const client = await served.open()
    const config = {
      systemPrompt: 'Answer in rhyme.',
      effort: 'high',
      maxTurns: 3,
      permissionMode: 'acceptEdits',
    } as const
    await client.send({ type: 'configure', config }).receipt
    await served.server?.close()
    const server = await serve({ harness: served.harness })
    const again = await connect({ url: server.url, token: server.token })
    const shown = (await say(again, 'Hi')).config
    assert.deepEqual(Object.fromEntries(Object.entries(shown ?? {}).map(([name, { value }]) => [name, value])), {
      ...config,
    })
    assert.match(JSON.stringify(served.planner.requests[0]), /Answer in rhyme\./)
    await again.close()
    await server.close()
  })

  it('during a run: the state shows what applies at once, from the next step and from the next turn', async () => {
    const gate = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const wait = createTool({
      id: 'wait',
      description: 'Waits.',
      category: 'read',
      inputSchema: z.object({}),
      execute: async () => {
        started.resolve()
        await gate.promise
        return 'waited'
      },
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'wait', input: {} }] }, { text: 'done' }])
    const harness = new Harness({
      id: 'configured',
      agent: new Agent({ id: 'agent', model, tools: { wait } }),
      modes: [{ id: 'build' }],
      permissions: { categories: { read: 'allow' } },
      resolveModel: () => model,
    })
    const server = await serve({ harness })
    const client = await connect({ url: server.url, token: server.token })
    await client.send({ type: 'submit', prompt: 'Go' }).receipt
    await started.promise
    const config = { permissionMode: 'fullAuto', model: 'house/next', effort: 'low', systemPrompt: 'Short.' } as const
    await client.send({ type: 'configure', config }).receipt
    const applies = ({ config: shown = {} }: ClientState): Record<string, string> =>
      Object.fromEntries(Object.entries(shown).map(([name, { applies: from }]) => [name, from]))
    assert.deepEqual(applies(client.getState()), {
      permissionMode: 'now',
      model: 'next-step',
      effort: 'next-turn',
      systemPrompt: 'next-turn',
    })
    gate.resolve()
    const during = await until(client, ({ config: shown }) => shown?.model?.applies === 'now')
    assert.ok(during.head.run === null || during.config?.effort?.applies === 'next-turn')
    const after = await until(client, idle)
    assert.deepEqual(new Set(Object.values(applies(after))), new Set(['now']))
    await client.close()
    await server.close()
    await harness.destroy()
  })
})
