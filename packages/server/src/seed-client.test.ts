import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createTool, Workspace } from '@inspan/core'
import type { JsonObject } from '@inspan/protocol'
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
  readonly sessionId?: string
  readonly config?: Readonly<Record<string, { readonly value: unknown; readonly applies: string }>>
  readonly rewind?: { readonly dryRun: boolean; readonly report: { readonly removed: readonly string[] } }
  readonly messages: readonly {
    readonly id: string
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

  it('is shown the session that it resumes', async () => {
    await using bench = await ServerBench.start([
      { text: 'I will remember.' },
      { text: 'It was seven.' },
      { text: 'Bye.' },
    ])
    const client = new SeedClient(bench.url, bench.token)
    await client.until(() => true)
    client.send({ type: 'submit', prompt: 'Remember seven.' })
    const { sessionId } = await client.until(({ messages, status }) => status === 'idle' && messages.length === 2)
    client.close()
    await bench.fetch('/v1/threads', { method: 'POST', body: '{}' })
    const later = new SeedClient(bench.url, bench.token)
    assert.deepEqual((await later.until(() => true)).messages, [], 'the newest session is another one')
    later.send({ type: 'resume', prompt: 'Which number?', sessionId })
    const resumed = await later.until(({ messages, status }) => status === 'idle' && messages.length === 4)
    assert.deepEqual([resumed.sessionId, resumed.messages[3]?.content], [sessionId, 'It was seven.'])
    later.send({ type: 'submit', prompt: 'Thank you.' })
    const end = await later.until(({ messages, status }) => status === 'idle' && messages.length === 6)
    assert.equal(end.messages[5]?.content, 'Bye.')
    assert.deepEqual(later.errors, [])
    later.close()
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

  it('configures, steers, cancels, resumes and rewinds by the words of the page, and sees each in the state', async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'inspan-seed-'))
    t.after(() => rmSync(root, { recursive: true, force: true }))
    const project = join(root, 'project')
    mkdirSync(project)
    const [started, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const steered = Promise.withResolvers<void>()
    const hold = createTool({
      id: 'hold',
      description: 'Waits.',
      execute: async () => {
        started.resolve()
        await steered.promise
        return 'held'
      },
    })
    const hang = createTool({
      id: 'hang',
      description: 'Never ends.',
      execute: (_input, { abortSignal }) => {
        hanging.resolve()
        return new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve('stopped')))
      },
    })
    const call = (name: string, input: JsonObject = {}) => ({ toolCalls: [{ name, input }] })
    await using bench = await ServerBench.start(
      [
        call('write_file', { path: 'a.txt', content: 'a' }),
        call('hold'),
        { text: 'The backend, then.' },
        call('hang'),
        { text: 'Resumed.' },
      ],
      {
        agent: { tools: { hold, hang } },
        harness: { workspace: new Workspace({ root: project, checkpoints: { folder: join(root, 'kept') } }) },
      },
    )
    const client = new SeedClient(bench.url, bench.token)
    const { sessionId } = await client.until(() => true)
    client.send({ type: 'configure', config: { permissionMode: 'fullAuto', systemPrompt: 'Be brief.', maxTurns: 9 } })
    const { config } = await client.until((state) => state.config?.['maxTurns']?.value === 9)
    assert.deepEqual(config?.['permissionMode'], { value: 'fullAuto', applies: 'now' })

    client.send({ type: 'submit', prompt: 'Go' })
    await started.promise
    // Commands are carried out in order: when the second one shows, the agent has the first.
    client.send(
      { type: 'steer', message: 'Focus on the backend first' },
      { type: 'configure', config: { effort: 'low' } },
    )
    const texts = ({ messages }: SeedShape): string[] => messages.map(({ content }) => content)
    await client.until((state) => state.config?.['effort'] !== undefined)
    steered.resolve()
    await client.until((state) => state.status === 'idle' && texts(state).at(-1) === 'The backend, then.')
    assert.match(bench.model.requestBodies.at(-1) ?? '', /Be brief\..*Focus on the backend first/s)

    client.send({ type: 'submit', prompt: 'And on' })
    await hanging.promise
    await client.until(({ status }) => status === 'running')
    client.send({ type: 'cancel' })
    await client.until(({ status }) => status === 'idle')

    client.send({ type: 'resume', prompt: 'Where were we?', sessionId })
    const { messages } = await client.until((state) => state.status === 'idle' && texts(state).includes('Resumed.'))
    assert.match(bench.model.requestBodies.at(-1) ?? '', /Go.*Where were we\?/s)

    const file = join(project, 'a.txt')
    for (const dryRun of [true, false]) {
      client.send({ type: 'rewind', messageId: messages[0]?.id, dryRun })
      const { rewind } = await client.until((state) => state.rewind?.dryRun === dryRun)
      assert.deepEqual(rewind?.report.removed, ['a.txt'])
      assert.equal(existsSync(file), dryRun)
    }
    assert.deepEqual(client.errors, [])
    client.close()
  })
})
