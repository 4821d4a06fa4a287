/** What clients of a thread are sent: how often, how much, and that it is encoded once for all of them. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { connect } from '@inspan/client'
import { applyFrame, viewFrom, type DeltaFrame } from '@inspan/protocol/log'
import { toHarnessState, type ServerMessage } from '@inspan/protocol/wire'
import { watchThread } from './connection/watch.ts'
import { stateWhere } from './client-state.fixture.ts'
import { openFeed } from './feed.fixture.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

const begin: DeltaFrame = {
  type: 'delta',
  seq: 1,
  operations: [
    {
      type: 'set',
      path: ['messages', 'm'],
      value: {
        id: 'm',
        order: 1,
        at: 0,
        role: 'assistant',
        state: 'open',
        parts: [{ id: '0', type: 'text', text: '', state: 'open' }],
      },
    },
  ],
}

const piece = (seq: number): DeltaFrame => ({
  type: 'delta',
  seq,
  operations: [{ type: 'append-text', path: ['messages', 'm', 'parts', '0', 'text'], value: `${seq} ` }],
})

/** Timers run only when a test lets them, and the clock shows the time that they were given. */
function stopTime(context: TestContext): (milliseconds: number) => void {
  let now = 1_000_000
  context.mock.timers.enable({ apis: ['setTimeout'] })
  context.mock.method(performance, 'now', () => now)
  return (milliseconds) => {
    now += milliseconds
    context.mock.timers.tick(milliseconds)
  }
}

describe('the changes of a thread', () => {
  it('are sent at once after a pause, and then every 40 ms as one', async (t) => {
    const pass = stopTime(t)
    const { feed, receive } = await openFeed()
    const sent: ServerMessage[] = []
    const send = (text: string): void => void sent.push(JSON.parse(text) as ServerMessage)
    watchThread({ feed, window: 50, isOnly: true, send, isOpen: () => true }, null)
    receive(begin)
    assert.equal(sent.length, 2, 'the snapshot and the first change')
    for (let seq = 2; seq <= 20; seq++) {
      receive(piece(seq))
      if (seq % 5 === 0) pass(9)
    }
    assert.equal(sent.length, 2, '36 ms')
    pass(4)
    assert.equal(sent.length, 3)
    receive(piece(21))
    // Sent before its time, e.g. ahead of a receipt: what follows has to wait its 40 ms from there.
    feed.flush()
    receive(piece(22))
    pass(39)
    assert.equal(sent.length, 4)
    pass(1)
    assert.equal(sent.length, 5)
    pass(1000)
    receive(piece(23))
    assert.equal(sent.length, 6, 'again at once')
    const [first, ...deltas] = sent
    assert.equal(first?.type, 'snapshot')
    let view = viewFrom(first.snapshot)
    for (const delta of deltas) {
      assert.equal(delta.type, 'delta')
      assert.equal(delta.operations.length, 1)
      view = applyFrame(view, delta)
    }
    const numbers = Array.from({ length: 22 }, (_, index) => `${index + 2} `)
    assert.equal(toHarnessState(view).messages[0]?.content, numbers.join(''))
    await feed.close()
  })

  it('are encoded once, however many clients follow one or several threads', async (t) => {
    const { feed, push } = await openFeed()
    const sent = new Map<string, number>()
    const send = (text: string): void => void sent.set(text, (sent.get(text) ?? 0) + 1)
    for (let client = 0; client < 100; client++) {
      watchThread({ feed, window: 50, isOnly: client % 2 === 0, send, isOpen: () => true }, feed.seq)
    }
    const { stringify } = JSON
    let ops = 0
    t.mock.method(JSON, 'stringify', (value: unknown) => {
      if (typeof value === 'object' && value !== null && 'operations' in value) ops++
      return stringify(value)
    })
    push(begin)
    assert.equal(ops, 1)
    assert.deepEqual([...sent.values()], [50, 50])
    const [plain = '', named = ''] = [...sent.keys()]
    assert.deepEqual(JSON.parse(named), { ...(JSON.parse(plain) as object), thread: feed.thread })
    await feed.close()
  })
})

describe('a long thread', () => {
  it('is sent as its newest messages only; older ones are read by page', async () => {
    const count = 30
    await using bench = await ServerBench.start(Array.from({ length: count }, (_, at) => ({ text: `answer ${at}` })))
    const owner = await connect({ url: bench.url, token: bench.token })
    for (let at = 0; at < count; at++) {
      await owner.send({ type: 'submit', prompt: `question ${at}` }).receipt
      await stateWhere(
        owner,
        ({ messages, status }) => status === 'idle' && messages.at(-1)?.content === `answer ${at}`,
      )
    }
    const { thread } = owner.getState()
    for (const [window, shown] of [
      [undefined, 50],
      [3, 3],
      [200, 60],
    ] as const) {
      const client = await new WireClient(bench.url, bench.token).opened()
      const wanted = window === undefined ? {} : { window }
      client.send({ type: 'hello', protocol: 1, clientId: 'test', threads: { [thread]: null }, ...wanted })
      const { snapshot } = await client.next('snapshot')
      assert.equal(snapshot.messages.length, shown)
      assert.match(JSON.stringify(snapshot.messages.at(-1)), /answer 29/)
      await client.close()
    }
    const pages: string[] = []
    let before: number | null | undefined
    while (before !== null) {
      const page = await owner.routes.messages(thread, { limit: 7, ...(before === undefined ? {} : { before }) })
      assert.ok(page.messages.length <= 7)
      pages.unshift(...page.messages.map(({ parts }) => JSON.stringify(parts)))
      ;({ before } = page)
    }
    assert.equal(pages.length, 2 * count)
    for (const [at, text] of pages.entries()) {
      assert.match(text, new RegExp(`"${at % 2 === 0 ? 'question' : 'answer'} ${Math.floor(at / 2)}"`))
    }
    // A rewind between two pages: the second one shows that the first has to be read again.
    const first = await owner.routes.messages(thread, { limit: 7 })
    assert.equal(first.rewrittenAt, owner.getState().head.rewrittenAt)
    const messageId = first.messages.find(({ role }) => role === 'user')?.id ?? ''
    const { status } = await owner.send({ type: 'rewind', messageId, scope: 'conversation' }).receipt
    assert.equal(status, 'done')
    const second = await owner.routes.messages(thread, { limit: 7, before: first.before ?? 0 })
    assert.ok(second.rewrittenAt > first.rewrittenAt)
    assert.equal(owner.getState().head.rewrittenAt, second.rewrittenAt)
    await owner.close()
  })
})
