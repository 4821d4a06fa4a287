import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, type Client, type ClientState } from '@inspan/client'
import { Agent, createTool, Harness, MemoryStore, SqliteStore } from '@inspan/core'
import { createThread } from '@inspan/core/engine'
import { RECORD_VERSIONS } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { serve, type InspanServer } from './serve.ts'
import { stateWhere } from './client-state.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

interface Shared {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly server: InspanServer
  readonly client: Client
  readonly harness: Harness
  readonly storage: SqliteStore
  readonly thread: string
  readonly url: string
}

/** A program that works in a thread, and a server of another process on the same database file. */
async function shared(t: TestContext, env: Record<string, string> = {}): Promise<Shared> {
  const folder = mkdtempSync(join(tmpdir(), 'inspan-held-'))
  const url = join(folder, 'inspan.db')
  const child = spawn(process.execPath, [fileURLToPath(new URL('held-child.fixture.ts', import.meta.url))], {
    env: { ...process.env, DB: url, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const storage = new SqliteStore({ url })
  const note = createTool({
    id: 'note',
    description: 'Writes a note.',
    inputSchema: z.object({ text: z.string() }),
    requireApproval: true,
    execute: async ({ text }) => `noted ${text}`,
  })
  const model = scriptedModel([{ text: 'From the server.' }, { text: 'Once more.' }])
  const harness = new Harness({
    id: 'shared',
    agent: new Agent({ id: 'agent', model, tools: { note } }),
    modes: [{ id: 'build' }],
    storage,
  })
  const server = await serve({ harness })
  const thread = line.toString().trim()
  const client = await connect({ url: server.url, token: server.token, thread })
  t.after(async () => {
    await client.close()
    await server.close()
    await harness.destroy()
    await storage.close()
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  })
  return { child, server, client, harness, storage, thread, url }
}

const texts = ({ messages }: ClientState): string[] => messages.map(({ content, role }) => `${role}: ${content}`)

describe('a thread that another process holds', () => {
  it('is followed; commands are carried out by that process', { timeout: 60_000 }, async (t) => {
    const { child, client } = await shared(t)
    const waiting = await stateWhere(client, ({ pendingApprovals = [] }) => pendingApprovals.length > 0)
    assert.deepEqual(texts(waiting), ['user: Begin', 'assistant: Let me write it down. '])
    const [{ toolCallId } = { toolCallId: '' }] = waiting.pendingApprovals ?? []
    const receipt = await client.send({ type: 'approve', toolCallId }).receipt
    assert.equal(receipt.status, 'done')
    const over = await stateWhere(client, ({ head, status }) => status === 'idle' && head.lastRun !== null)
    assert.equal(texts(over).at(-1), 'assistant: It is written.')
    assert.equal(over.messages.flatMap(({ toolCalls = [] }) => toolCalls)[0]?.output, 'noted one')
    assert.equal(over.connection, 'open')

    const again = await client.send({ type: 'submit', prompt: 'Again' }).receipt
    assert.equal(again.status, 'done')
    const later = await stateWhere(client, ({ head }) => head.lastRun?.runId === again.runId)
    assert.equal(texts(later).at(-1), 'assistant: And again.', 'said by the process that holds the thread')

    child.stdin.end()
    await once(child, 'exit')
    const third = await client.send({ type: 'submit', prompt: 'Still there?' }).receipt
    assert.equal(third.status, 'done')
    const last = await stateWhere(client, ({ head }) => head.lastRun?.runId === third.runId)
    assert.equal(texts(last).at(-1), 'assistant: From the server.')
  })

  it('is taken over when that process dies, and its wait can be answered', { timeout: 60_000 }, async (t) => {
    const { child, client } = await shared(t)
    const waiting = await stateWhere(client, ({ pendingApprovals = [] }) => pendingApprovals.length > 0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const [{ toolCallId } = { toolCallId: '' }] = waiting.pendingApprovals ?? []
    const receipt = await client.send({ type: 'approve', toolCallId }).receipt
    assert.equal(receipt.status, 'done')
    const over = await stateWhere(client, ({ head }) => head.lastRun !== null)
    assert.equal(texts(over).at(-1), 'assistant: From the server.')
    assert.equal(over.messages.flatMap(({ toolCalls = [] }) => toolCalls)[0]?.output, 'noted one')
  })
})

describe('a thread that another process deletes', () => {
  it('is announced to those who watch it', { timeout: 60_000 }, async (t) => {
    const { child, client, thread, url } = await shared(t)
    child.stdin.end()
    await once(child, 'exit')
    const other = new SqliteStore({ url })
    const harness = new Harness({
      id: 'shared',
      agent: new Agent({ id: 'agent', model: scriptedModel([]) }),
      modes: [{ id: 'build' }],
      storage: other,
    })
    const gone = stateWhere(client, ({ problem }) => problem === 'The thread was deleted.')
    // The server lets go of a thread that waits, so that anybody may delete it.
    while ((await other.getStream(thread))?.owner !== null) await sleep(20)
    await harness.session.thread.delete({ threadId: thread })
    await gone
    assert.equal((await client.send({ type: 'rename', title: 'x' }).receipt).reason, 'unknown-id')
    await harness.destroy()
    await other.close()
  })
})

describe('a store that signals changes', () => {
  /** Counts what a server asks of it for a thread. */
  class SignallingStore extends MemoryStore {
    listener: ((stream: string, seq: number) => void) | undefined
    reads = 0
    claims = 0
    onChange(listener: (stream: string, seq: number) => void): () => void {
      this.listener = listener
      return () => (this.listener = undefined)
    }
    override readRecords(...query: Parameters<MemoryStore['readRecords']>): ReturnType<MemoryStore['readRecords']> {
      this.reads++
      return super.readRecords(...query)
    }
    override claim(...wanted: Parameters<MemoryStore['claim']>): ReturnType<MemoryStore['claim']> {
      this.claims++
      return super.claim(...wanted)
    }
  }

  it('is followed at its signal: the records are read at once, and nobody asks for the thread', async () => {
    const storage = new SignallingStore()
    const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
    const harness = new Harness({ id: 'signals', agent, modes: [{ id: 'build' }], storage })
    const server = await serve({ harness })
    const client = await connect({ url: server.url, token: server.token })
    try {
      const { thread } = client.getState()
      // While the server holds the thread itself, nobody else can have written it.
      while (((await storage.getStream(thread))?.owner ?? null) !== null) await sleep(20)
      const { headSeq = 0 } = (await storage.getStream(thread)) ?? {}
      const { claims, reads } = storage
      storage.listener?.(thread, headSeq)
      await sleep(50)
      assert.equal(storage.reads, reads, 'the server has what the signal names')
      storage.listener?.(thread, headSeq + 1)
      while (storage.reads === reads) await sleep(5)
      assert.equal(storage.claims, claims)
    } finally {
      await client.close()
      await server.close()
      await harness.destroy()
    }
    assert.equal(storage.listener, undefined, 'the server unsubscribes')
  })

  it('is followed although its signals get lost', async () => {
    const file = mkdtempSync(join(tmpdir(), 'inspan-lost-'))
    class Silent extends SqliteStore {
      onChange(): () => void {
        return () => undefined
      }
    }
    const storage = new Silent({ url: join(file, 'inspan.db') })
    const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
    const harness = new Harness({ id: 'silent', agent, modes: [{ id: 'build' }], storage })
    const server = await serve({ harness })
    const client = await connect({ url: server.url, token: server.token })
    const other = new SqliteStore({ url: join(file, 'inspan.db') })
    try {
      const { thread } = client.getState()
      while (((await other.getStream(thread))?.owner ?? null) !== null) await sleep(20)
      const { epoch } = await other.claim(thread, 'another process')
      const { headSeq = 0 } = (await other.getStream(thread)) ?? {}
      const record = { v: RECORD_VERSIONS['config.changed'], stream: thread, seq: headSeq + 1, at: Date.now() }
      const body = { type: 'config.changed', model: 'a-model-of-others' } as const
      await other.append({ stream: thread, fence: { owner: 'another process', epoch }, records: [{ ...record, body }] })
      await stateWhere(client, ({ head }) => head.model === body.model)
    } finally {
      await client.close()
      await server.close()
      await harness.destroy()
      await other.close()
      rmSync(file, { recursive: true })
    }
  })
})

describe('data that is replaced', () => {
  class ReplacedStore extends SqliteStore {
    isReplaced = false
    /** Answers no more, as while the connections to a database hang. */
    isHanging = false
    readonly isAsked = Promise.withResolvers<void>()

    override get epoch(): string {
      return this.isReplaced ? 'of other data' : super.epoch
    }

    override getThread(thread: string): ReturnType<SqliteStore['getThread']> {
      if (!this.isHanging) return super.getThread(thread)
      this.isAsked.resolve()
      return new Promise(() => undefined)
    }
  }

  it('is noticed while a look at a thread gets no answer', { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inspan-replaced-'))
    const url = join(folder, 'inspan.db')
    const other = new SqliteStore({ url })
    const storage = new ReplacedStore({ url })
    const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
    const harness = new Harness({ id: 'replaced', agent, modes: [{ id: 'build' }], storage, resourceId: 'r' })
    const elsewhere = { id: 'elsewhere', host: 'another', pid: 1, startTime: '1', bootId: 'b' }
    await other.putOwner({ ...elsewhere, until: Date.now() + 60_000 })
    await createThread(other, { id: 'held', resourceId: 'r' })
    await other.claim('held', elsewhere.id)
    const server = await serve({ harness })
    try {
      const client = await new WireClient(server.url, server.token).opened()
      client.send({ type: 'hello', protocol: 1, clientId: 'test', threads: { held: null } })
      await client.next('snapshot')
      storage.isHanging = true
      await storage.isAsked.promise
      storage.isReplaced = true
      assert.equal(await client.closed, '1001 shutdown')
    } finally {
      await server.close()
      await harness.destroy()
      await other.close()
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a run whose process died', () => {
  it('continues when a server starts, though nobody watches the thread', { timeout: 60_000 }, async (t) => {
    const { child, client, server, storage, thread, url } = await shared(t, { HANGS: 'yes' })
    await stateWhere(client, ({ messages }) => messages.at(-1)?.content === 'Half of ')
    await client.close()
    await server.close()
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.notEqual((await storage.getStream(thread))?.owner ?? null, null, 'the dead process still holds it')
    const second = new SqliteStore({ url })
    const harness = new Harness({
      id: 'shared',
      agent: new Agent({ id: 'agent', model: scriptedModel([{ text: 'Whole.' }]) }),
      modes: [{ id: 'build' }],
      storage: second,
    })
    const another = await serve({ harness })
    const get = async (): Promise<{ head: { lastRun: { outcome: string } | null } }> =>
      (await fetch(`${another.url}/v1/threads/${thread}`, {
        headers: { authorization: `Bearer ${another.token}` },
      }).then((response) => response.json())) as { head: { lastRun: { outcome: string } | null } }
    let { head } = await get()
    while (head.lastRun === null) {
      await sleep(50)
      ;({ head } = await get())
    }
    assert.equal(head.lastRun.outcome, 'complete')
    await another.close()
    await harness.destroy()
    await second.close()
  })
})
