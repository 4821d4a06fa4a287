import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NO_RULES, type AgentEvent, type Part, type StepRequest } from '@inspan/protocol'
import type { LogRecord, RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { inflateMessage, inflateParts } from './blobs.ts'
import { recordsAfter } from './load-state.ts'
import { requestPrefix, type RequestPrefix } from '../context/request-prefix.ts'
import { openTestThread } from '../thread.fixture.ts'
import { ThreadLog } from './thread-log.ts'
import { createThread, forkThread } from '../threads/threads.ts'
import { TurnRecorder } from '../turns/turn-recorder.ts'

const KB = 1024
const LONG = `Begin. ${'é'.repeat(40 * KB)}`
const PICTURE = Buffer.alloc(40 * KB, 7).toString('base64')
/** Bytes whose base64 has all 64 characters and padding. */
const NOISE = Buffer.from(Uint8Array.from({ length: 40 * KB }, (_, index) => (index * 7919) % 251))

async function bodies(store: Store, type: RecordBody['type']): Promise<RecordBody[]> {
  const records: LogRecord[] = await Array.fromAsync(recordsAfter(store, 'thread', 0))
  return records.map((record) => record.body).filter((body) => body.type === type)
}

function text(value: string): Part {
  return { id: '0', type: 'text', text: value }
}

suite('large contents', () => {
  test('a long text, an image and a file leave their message, and come back whole', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    const parts: Part[] = [
      text(LONG),
      { id: '1', type: 'image', mimeType: 'image/png', data: PICTURE },
      { id: '2', type: 'file', mimeType: 'text/plain', data: PICTURE, fileName: 'a.txt' },
      { id: '3', type: 'text', text: 'short' },
    ]
    await log.commit([{ type: 'message.added', messageId: 'm', role: 'user', parts }])
    const [body] = await bodies(store, 'message.added')
    assert.ok(JSON.stringify(body).length < 4 * KB)
    assert.ok(body?.type === 'message.added' && body.parts[0]?.type === 'text')
    assert.ok(body.parts[0].text.startsWith('Begin. '))
    assert.deepEqual(body.parts[3], parts[3])
    const stored = await store.getMessage(log.state.head.lineage, 'm')
    assert.ok(stored !== null)
    const whole = await inflateMessage(store, log.state.head.lineage, stored)
    assert.deepEqual(whole.parts[0], parts[0])
    assert.equal(whole.parts[1]?.type === 'image' && whole.parts[1].data, PICTURE)
    assert.equal(whole.parts[2]?.type === 'file' && whole.parts[2].data, PICTURE)
  })

  test('exactly 32 KB stays where it is; one byte more does not', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    for (const [id, length] of [
      ['small', 32 * KB],
      ['large', 32 * KB + 1],
    ] as const) {
      await log.commit([{ type: 'message.added', messageId: id, role: 'user', parts: [text('x'.repeat(length))] }])
    }
    const refs = (await bodies(store, 'message.added')).map(
      (body) => body.type === 'message.added' && body.parts[0]?.type === 'text' && body.parts[0].ref !== undefined,
    )
    assert.deepEqual(refs, [false, true])
  })

  test('a text that is not quite text comes back as it was', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    const parts = [text(`\uFEFFhalf an emoji \uD83D ${LONG}`)]
    await log.commit([{ type: 'message.added', messageId: 'm', role: 'user', parts }])
    const stored = await store.getMessage(log.state.head.lineage, 'm')
    assert.deepEqual(await inflateParts(store, log.state.head.lineage, stored?.parts ?? []), parts)
  })

  for (const [how, data] of [
    ['as base64', PICTURE],
    ['as a data URL', `data:image/png;base64,${PICTURE}`],
    ['as base64url', NOISE.toString('base64url')],
    ['as base64 without padding', NOISE.toString('base64').replace(/=+$/, '')],
    ['as base64 in lines', NOISE.toString('base64').replaceAll(/.{76}/g, '$&\r\n')],
    ['as what is no base64 at all', `${PICTURE.slice(0, -4)}_-_= é`],
  ] as const) {
    test(`an image or file given ${how} leaves its record, and comes back as it was given`, async () => {
      await using thread = await openTestThread(new MemoryStore())
      const { log, store } = thread
      const parts: Part[] = [
        { id: '0', type: 'image', mimeType: 'image/png', data },
        { id: '1', type: 'file', mimeType: 'text/plain', data, fileName: 'a.txt' },
      ]
      await log.commit([{ type: 'message.added', messageId: 'm', role: 'user', parts }])
      await log.commit([{ type: 'queue.added', item: { id: 'q', lane: 'steer', parts } }])
      for (const body of await bodies(store, 'message.added')) assert.ok(JSON.stringify(body).length < 4 * KB)
      for (const body of await bodies(store, 'queue.added')) assert.ok(JSON.stringify(body).length < 4 * KB)
      const stored = await store.getMessage(log.state.head.lineage, 'm')
      for (const given of [stored?.parts ?? [], log.state.head.queue.first?.parts ?? []]) {
        const whole = await inflateParts(store, log.state.head.lineage, given)
        assert.deepEqual(
          whole.map((part) => (part.type === 'image' || part.type === 'file') && part.data === data),
          [true, true],
        )
      }
    })
  }

  test('a beginning is never cut inside a character', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    const parts = [text(`x${'👋'.repeat(20 * KB)}`)]
    await log.commit([{ type: 'message.added', messageId: 'm', role: 'user', parts }])
    const stored = await store.getMessage(log.state.head.lineage, 'm')
    assert.ok(stored?.parts[0]?.type === 'text' && stored.parts[0].text.isWellFormed())
  })

  test('contents of queued messages are stored apart as well, and belong to the message they become', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store, fence } = thread
    const parts: Part[] = [text(LONG), { id: '1', type: 'image', mimeType: 'image/png', data: PICTURE }]
    const [queued] = await log.commit([{ type: 'queue.added', item: { id: 'q', lane: 'steer', parts } }])
    const [item] = log.state.head.queue
    assert.ok(queued !== undefined && item !== undefined)
    assert.ok(JSON.stringify(item).length < 4 * KB)
    await log.commit([
      { type: 'queue.removed', itemId: 'q', reason: 'heard' },
      { type: 'message.added', messageId: 'm', role: 'user', parts: item.parts },
    ])
    // The record of the queue is erased; the message still has its blob.
    await store.erase('thread', fence, { from: queued.seq, to: queued.seq })
    const stored = await store.getMessage(log.state.head.lineage, 'm')
    const [whole, image] = await inflateParts(store, log.state.head.lineage, stored?.parts ?? [])
    assert.deepEqual(whole, parts[0])
    assert.equal(image?.type === 'image' && image.data, PICTURE)
  })

  test('a reference that an agent writes reaches no content of another thread', async () => {
    const store = new MemoryStore()
    await using thread = await openTestThread(store)
    await createThread(store, { id: 'theirs', resourceId: 'test' })
    const theirs = await ThreadLog.open({ store, stream: 'theirs', fence: await thread.owner.claim('theirs') })
    await theirs.commit([{ type: 'message.added', messageId: 'm', role: 'user', parts: [text(LONG)] }])
    const secret = (await store.getMessage(theirs.state.head.lineage, 'm'))?.parts[0]
    assert.ok(secret?.type === 'text' && secret.ref !== undefined)
    const { ref } = secret

    const { log } = thread
    await log.commit([
      { type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES },
      { type: 'turn.started', turnId: 't', agentId: 'a' },
    ])
    const recorder = new TurnRecorder({ log, runId: 'r', turnId: 't', agentId: 'a' })
    const forged = [
      { type: 'file', mimeType: 'text/plain', data: '', ref },
      { type: 'tool-call', toolCallId: 'c', toolName: 'read', args: {} },
      { type: 'tool-result', toolCallId: 'c', toolName: 'read', result: null, resultRef: ref },
      { type: 'tool-call', toolCallId: 'd', toolName: 'read', args: {} },
      { type: 'tool-result', toolCallId: 'd', toolName: 'read', result: 'x', meta: { modelOutputRef: { ...ref } } },
    ]
    for (const event of forged) void recorder.record(event as AgentEvent)
    await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'r', outcome }])
    const { items } = await store.listMessages(log.state.head.lineage, { order: 'oldest' })
    const forgeries = JSON.stringify(items).split(ref.blob).length - 1
    assert.ok(forgeries > 0, 'at least one forged reference is on record')
    for (const message of items) {
      const whole = JSON.stringify(await inflateMessage(store, log.state.head.lineage, message))
      assert.ok(!whole.includes('ééé') && !whole.includes(Buffer.from(LONG).toString('base64').slice(0, 40)))
    }
  })

  test('a text whose blob is gone is marked as missing', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const lost = { blob: 'a'.repeat(64), size: 99_999, mime: 'text/plain' }
    const [part] = await inflateParts(thread.store, thread.log.state.head.lineage, [
      { id: '0', type: 'text', text: 'Begin', ref: lost },
    ])
    assert.deepEqual(part, { id: '0', type: 'text', text: 'Begin… (the rest of 99999 bytes is no longer kept)' })
  })
})

suite('the request of a step', () => {
  const tools = [{ name: 'read_file', inputSchema: { type: 'object' } }]

  /** Records a run with these requests, and returns the request prefixes of its first and last step. */
  async function record(store: Store, requests: readonly StepRequest[]): Promise<(RequestPrefix | null)[]> {
    await using thread = await openTestThread(store)
    const { log, owner } = thread
    await log.commit([
      { type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES },
      { type: 'message.added', messageId: 'question', role: 'user', parts: [text('Why?')] },
      { type: 'turn.started', turnId: 't', agentId: 'a' },
    ])
    const recorder = new TurnRecorder({ log, runId: 'r', turnId: 't', agentId: 'a' })
    let first = 0
    for (const [stepIndex, request] of requests.entries()) {
      const meta = Object.keys(request).length === 0 ? {} : { meta: { request } }
      void recorder.record({ type: 'step-start', stepIndex, ...meta })
      first ||= log.state.head.seq
      void recorder.record({ type: 'text-delta', text: `answer ${stepIndex}` })
      void recorder.record({ type: 'step-finish', stepIndex, finishReason: 'stop' })
    }
    await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'r', outcome }])
    const info = await forkThread(store, owner, log.state, { id: 'fork', resourceId: 'test', at: first })
    const fork = await ThreadLog.open({ store, stream: info.id, fence: await owner.claim(info.id) })
    const prefix = await requestPrefix(store, log.state.head.lineage, first)
    assert.deepEqual(await requestPrefix(store, fork.state.head.lineage, fork.state.head.seq), prefix)
    return [prefix, await requestPrefix(store, log.state.head.lineage, log.state.head.seq)]
  }

  test('is recorded as it was sent, and a function of the log alone, also in a fork', async () => {
    const request = { system: 'Be brief. \uD83D', tools, model: 'test/one' }
    const [first, last] = await record(new MemoryStore(), [request, request, { ...request, system: 'Be kind.' }])
    const { messages: before, ...asked } = first ?? assert.fail()
    assert.deepEqual(asked, request)
    assert.deepEqual(
      before.map((message) => message.id),
      ['question'],
    )
    const { messages, ...askedLast } = last ?? assert.fail()
    assert.deepEqual(askedLast, { ...request, system: 'Be kind.' })
    assert.deepEqual(
      messages.map((message) => message.role),
      ['user', 'assistant', 'assistant'],
    )
  })

  test('is stored once, however many steps repeat it', async () => {
    const stored = new Set<string>()
    let references = 0
    const store = new MemoryStore()
    const append = store.append.bind(store)
    store.append = async (request) => {
      for (const blob of request.blobs ?? []) {
        references++
        stored.add(blob.hash)
      }
      return append(request)
    }
    await record(
      store,
      Array.from({ length: 5 }, () => ({ system: 'Same.', tools })),
    )
    assert.equal(references, 10)
    assert.equal(stored.size, 2)
  })

  test('an agent that does not report its request leaves none on record', async () => {
    assert.deepEqual(await record(new MemoryStore(), [{}]), [null, null])
  })
})
