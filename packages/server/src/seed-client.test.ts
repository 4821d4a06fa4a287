import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTool } from '@inspan/core'
import { z } from 'zod'
import { WebSocket } from 'ws'
import { ServerBench } from './server.fixture.ts'

/*
 * A client as somebody would write it who knows only this: commands go in as `{ type: "commands", commands }`; a
 * `state` comes first, then `delta`s with `set` and `append-text`, whose paths are keys and indexes.
 */
class SeedClient {
  // What a script without types would hold.
  state: Record<string, unknown> = {}
  readonly errors: string[] = []
  readonly #socket: WebSocket
  #waiting: (() => void)[] = []

  constructor(url: string, token: string) {
    this.#socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${token}` } })
    this.#socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Record<string, unknown>
      if (message['type'] === 'state') this.state = message['state'] as Record<string, unknown>
      if (message['type'] === 'error') this.errors.push(String(message['message']))
      if (message['type'] === 'delta') for (const op of message['operations'] as Operation[]) apply(this.state, op)
      for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  send(...commands: object[]): void {
    this.#socket.send(JSON.stringify({ type: 'commands', commands }))
  }

  async until(holds: (state: SeedShape) => boolean): Promise<SeedShape> {
    while (this.state['status'] === undefined || !holds(this.state as unknown as SeedShape)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.state as unknown as SeedShape
  }

  async failed(): Promise<string> {
    while (this.errors.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.errors.shift() ?? ''
  }

  close(): void {
    this.#socket.close()
  }
}

interface Operation {
  readonly type: 'set' | 'append-text'
  readonly path: readonly string[]
  readonly value: unknown
}

interface SeedShape {
  readonly status: string
  readonly messages: readonly {
    readonly role: string
    readonly content: string
    readonly toolCalls?: readonly { readonly name: string; readonly status: string; readonly output?: string }[]
  }[]
  readonly pendingApprovals?: readonly { readonly toolCallId: string; readonly toolName: string }[]
}

function apply(state: Record<string, unknown>, { path, type, value }: Operation): void {
  const last = path.at(-1) ?? ''
  let place = state
  for (const key of path.slice(0, -1)) place = place[key] as Record<string, unknown>
  assert.ok(type === 'set' || type === 'append-text', 'an unknown op')
  place[last] = type === 'set' ? value : String(place[last]) + String(value)
}

const write = createTool({
  id: 'write_note',
  description: 'Writes a note.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => `wrote ${text}`,
})

describe('a bare WebSocket script that knows only states, deltas and commands', () => {
  it('submits a prompt and follows the answer', async () => {
    await using bench = await ServerBench.start([{ text: ['Good ', 'morning', '.'] }])
    const client = new SeedClient(bench.url, bench.token)
    const first = await client.until(() => true)
    assert.deepEqual({ status: first.status, messages: first.messages }, { status: 'idle', messages: [] })
    client.send({ type: 'submit', prompt: 'Hello' })
    const { messages } = await client.until(({ messages: all, status }) => status === 'idle' && all.length === 2)
    assert.deepEqual(
      messages.map(({ content, role }) => [role, content]),
      [
        ['user', 'Hello'],
        ['assistant', 'Good morning.'],
      ],
    )
    client.close()
  })

  it('approves one call and denies another, with a reason that reaches the model', async () => {
    const call = (text: string): object => ({ toolCalls: [{ name: 'write_note', input: { text } }] })
    await using bench = await ServerBench.start([call('a'), call('b'), { text: 'Done.' }] as never, {
      agent: { tools: { write_note: write } },
    })
    const client = new SeedClient(bench.url, bench.token)
    await client.until(() => true)
    client.send({ type: 'submit', prompt: 'Write' })
    const asked = await client.until(({ status }) => status === 'awaiting-approval')
    const [first] = asked.pendingApprovals ?? []
    assert.equal(first?.toolName, 'write_note')
    client.send({ type: 'approve', toolCallId: first?.toolCallId })
    const again = await client.until(
      ({ pendingApprovals = [] }) =>
        pendingApprovals.length === 1 && pendingApprovals[0]?.toolCallId !== first?.toolCallId,
    )
    client.send({ type: 'deny', toolCallId: again.pendingApprovals?.[0]?.toolCallId, reason: 'not this one' })
    const end = await client.until(({ messages, status }) => status === 'idle' && messages.length > 1)
    const calls = end.messages.flatMap(({ toolCalls = [] }) => toolCalls)
    assert.deepEqual(
      calls.map(({ status }) => status),
      ['complete', 'denied'],
    )
    assert.match(JSON.stringify(bench.model.requests.at(-1)), /not this one/)
    client.close()
  })

  it('takes a batch in order, and sees why a command was refused', async () => {
    await using bench = await ServerBench.start([{ text: 'One' }, { text: 'Two' }])
    const client = new SeedClient(bench.url, bench.token)
    await client.until(() => true)
    client.send({ type: 'submit', prompt: 'first' }, { type: 'submit', prompt: 'second' })
    const said = ({ messages }: SeedShape): string[] =>
      messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    // Whether the agent hears the second one before or after its first step is a matter of timing.
    const end = await client.until((state) => state.status === 'idle' && said(state).length === 2)
    assert.deepEqual(said(end), ['first', 'second'])
    client.send({ type: 'approve', toolCallId: 'nothing' })
    assert.match(await client.failed(), /nothing/)
    client.send({ type: 'dance' })
    assert.match(await client.failed(), /does not know/)
    client.close()
  })
})
