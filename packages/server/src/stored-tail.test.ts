import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTool } from '@inspan/core'
import { applyFrame, viewFrom, type ThreadView } from '@inspan/protocol/log'
import { toHarnessState } from '@inspan/protocol/wire'
import { uuidV7 } from './commands/uuid.ts'
import { serve, type InspanServer } from './serve.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

/** Takes so long that what came before it is sent by itself. */
const slow = createTool({
  id: 'slow',
  description: 'Waits.',
  category: 'read',
  execute: async () => {
    await sleep(60)
    return 'waited'
  },
})
const write = createTool({ id: 'write', description: 'Writes.', category: 'edit', execute: () => 'written' })
const wait = (text: string) => ({ text, toolCalls: [{ name: 'slow', input: {} }] })
const ask = { text: 'I will write.', toolCalls: [{ name: 'write', input: {} }] }

/** A server that is replaced by another one on the same harness, which remembers nothing of what was sent. */
class Restarted implements AsyncDisposable {
  readonly bench: ServerBench
  #server: InspanServer
  thread = ''
  epoch = ''

  private constructor(bench: ServerBench) {
    this.bench = bench
    this.#server = bench.server
  }

  static async start(script: Parameters<typeof ServerBench.start>[0]): Promise<Restarted> {
    const permissions = { categories: { read: 'allow', edit: 'ask' } } as const
    return new Restarted(await ServerBench.start(script, { agent: { tools: [slow, write] }, harness: { permissions } }))
  }

  async restart(): Promise<void> {
    const { port, token } = this.#server
    await this.#server.close()
    this.#server = await serve({ harness: this.bench.harness, port, token })
  }

  async watch(cursor: number | null = null, more: object = {}): Promise<WireClient> {
    const client = await new WireClient(this.#server.url, this.#server.token).opened()
    const threads = this.thread === '' ? {} : { epoch: this.epoch, threads: { [this.thread]: cursor } }
    client.send({ type: 'hello', protocol: 1, clientId: 'test', ...threads, ...more })
    const { epoch, thread } = await client.next('hello')
    this.epoch = epoch
    this.thread = thread ?? this.thread
    return client
  }

  /** Carries out a command and returns the replica after every delta, until one holds for which the test waits. */
  async follow(command: object, holds: (view: ThreadView) => boolean): Promise<readonly ThreadView[]> {
    const client = await this.watch()
    let view = viewFrom((await client.next('snapshot')).snapshot)
    const views = [view]
    client.send({ type: 'commands', commands: [{ ...command, id: uuidV7() }] })
    while (!holds(view)) {
      view = applyFrame(view, await client.next('delta'))
      views.push(view)
    }
    await client.close()
    return views
  }

  async current(): Promise<ThreadView> {
    const client = await this.watch()
    const { snapshot } = await client.next('snapshot')
    await client.close()
    return viewFrom(snapshot)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
    await this.bench[Symbol.asyncDispose]()
  }
}

const isOver = ({ head }: ThreadView): boolean => head.run === null && head.lastRun !== null
const isAsked = ({ head }: ThreadView): boolean => head.waits.size > 0
const say = (prompt: string): object => ({ type: 'submit', prompt })

suite('a server that was restarted', { timeout: 60_000 }, () => {
  test('sends the tail after any cursor its predecessor gave out, also one from the middle of an open run', async () => {
    await using place = await Restarted.start([
      wait('First.'),
      wait('Second.'),
      { text: 'Done.' },
      wait('Again.'),
      ask,
      { text: 'Written.' },
    ])
    const views = [...(await place.follow(say('Begin.'), isOver)), ...(await place.follow(say('Write.'), isAsked))]
    const cursors = (): number => new Set(views.map(({ seq }) => seq)).size
    assert.ok(cursors() >= 6, `${cursors()} cursors`)
    for (const isAnswered of [false, true]) {
      if (isAnswered) {
        const waitId = [...(views.at(-1)?.head.waits.keys() ?? [])][0]
        views.push(...(await place.follow({ type: 'answer', waitId, decision: 'approve' }, isOver)).slice(1))
      }
      await place.restart()
      const current = await place.current()
      for (const view of views.filter(({ seq }) => seq < current.seq)) {
        const client = await place.watch(view.seq)
        const replica = applyFrame(view, await client.next('delta'))
        assert.deepEqual(toHarnessState(replica), toHarnessState(current))
        assert.deepEqual(JSON.parse(JSON.stringify(replica)), JSON.parse(JSON.stringify(current)))
        await client.close()
        assert.ok(!client.messages.some(({ type }) => type === 'snapshot'))
      }
    }
  })

  test('sends no more than what may have changed: the messages of earlier runs are left out', async () => {
    await using place = await Restarted.start([{ text: 'one' }, { text: 'two' }, { text: 'three' }])
    const first = await place.follow(say('1'), isOver)
    const cursor = first.at(-1)?.seq ?? 0
    const oldIds =
      first
        .at(-1)
        ?.messages.toArray()
        .map(({ id }) => id) ?? []
    await place.follow(say('2'), ({ head, messages }) => head.run === null && messages.length === 4)
    await place.restart()
    const client = await place.watch(cursor)
    const set = (await client.next('delta')).operations.map(({ path }) => path[1])
    assert.equal(set.length, 3)
    assert.ok(!oldIds.some((id) => set.includes(id)))
    await client.close()
  })

  test('asks for a resync after a rewind, and when more has changed than the client shows', async () => {
    await using place = await Restarted.start([{ text: 'one' }, { text: 'two' }])
    const first = await place.follow(say('1'), isOver)
    const both = await place.follow(say('2'), ({ head, messages }) => head.run === null && messages.length === 4)
    await place.restart()
    const narrow = await place.watch(first.at(0)?.seq, { window: 2 })
    assert.equal((await narrow.next('snapshot')).resync, 'gap')
    await narrow.close()
    const messageId = first.at(-1)?.messages.at(-1)?.id
    await place.follow({ type: 'rewind', messageId, scope: 'conversation' }, ({ messages }) => messages.length < 4)
    await place.restart()
    const client = await place.watch(both.at(-1)?.seq)
    const { resync, snapshot } = await client.next('snapshot')
    assert.deepEqual([resync, snapshot.messages.length < 4], ['gap', true])
    await client.close()
  })
})
