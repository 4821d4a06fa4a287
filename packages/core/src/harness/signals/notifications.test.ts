import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { toHarnessMessage, type HarnessEvent, type HarnessMessageContent } from '@inspan/protocol/harness'
import { boundaryAt, forkThread, type RunnableTool } from '../../engine/index.ts'
import type { ThreadControl } from '../threads/thread-control.ts'
import { INBOX_LIMIT } from './inbox.ts'
import type { DeliveryPolicy, NotificationInput } from './notification.ts'
import { controlThread, ThreadBench } from './thread-bench.fixture.ts'
import { ThreadPort } from './thread-port.ts'
import { Notifications } from './notifications.ts'

const done = { text: 'Done.' }
const note = (more: Partial<NotificationInput> = {}): NotificationInput => ({
  source: 'github',
  kind: 'ci-status',
  summary: 'CI failed.',
  ...more,
})

interface Setup {
  readonly bench: ThreadBench
  readonly control: ThreadControl
  readonly events: HarnessEvent[]
}

async function open(
  t: { after(work: () => Promise<void>): void },
  script: Parameters<typeof ThreadBench.open>[0]['script'],
  { delivery, tools }: { delivery?: DeliveryPolicy; tools?: readonly RunnableTool[] } = {},
): Promise<Setup> {
  let control: ThreadControl | undefined
  const offered: RunnableTool[] = [...(tools ?? [])]
  const inbox: RunnableTool = {
    name: 'notification-inbox',
    inputSchema: { type: 'object' },
    execute: async (input, context) => {
      const tool = control?.tools().find(({ name }) => name === 'notification-inbox')
      return tool === undefined ? { result: 'no inbox' } : tool.execute(input, context)
    },
  }
  const bench = await ThreadBench.open({ script, tools: () => [...offered, inbox] })
  const events: HarnessEvent[] = []
  let time = 1_000
  control = controlThread(t, bench, {
    emit: (event) => events.push(event),
    now: () => ++time,
    ...(delivery === undefined ? {} : { delivery }),
  })
  return { bench, control, events }
}

async function contents(bench: ThreadBench): Promise<readonly HarnessMessageContent[]> {
  return (await bench.messages()).flatMap((message) => toHarnessMessage(message).content)
}

const types = async (bench: ThreadBench): Promise<readonly string[]> => (await contents(bench)).map(({ type }) => type)

const UNUSED = { record: () => assert.fail(), steer: () => assert.fail() }

suite('a notification while nothing is going on', () => {
  for (const priority of ['urgent', 'high', 'medium'] as const) {
    test(`is delivered in full and wakes the agent when it is ${priority}`, async (t) => {
      const { bench, control } = await open(t, [done])
      const { action, notification, accepted } = await control.notifications.send(note({ priority }))
      assert.equal((await accepted).action, 'wake')
      await bench.runtime.idle()
      assert.deepEqual([action, notification.status], ['deliver', 'delivered'])
      assert.match(
        JSON.stringify(bench.model.requests[0]),
        new RegExp(`<notification id=.*source=.*github.*priority=.*${priority}.*CI failed\\.</notification>`),
      )
    })
  }

  test('is kept and named before the next run when it is low', async (t) => {
    const { bench, control, events } = await open(t, [done, done])
    const { action, id } = await control.notifications.send(note({ priority: 'low' }))
    await control.notifications.send(note({ priority: 'low', source: 'mail' }))
    assert.equal(action, 'summarize')
    assert.equal(bench.model.requests.length, 0)
    const told = events.find(({ type }) => type === 'notification')
    assert.deepEqual(told, {
      type: 'notification',
      message: 'CI failed.',
      id,
      notificationId: id,
      source: 'github',
      kind: 'ci-status',
      priority: 'low',
      status: 'pending',
    })
    await bench.say('Hello.')
    const [summary] = await contents(bench)
    assert.ok(summary?.type === 'notification_summary')
    assert.deepEqual(
      [summary.pending, summary.bySource, summary.byPriority, summary.notificationIds.length],
      [2, { github: 1, mail: 1 }, { low: 2 }, 2],
    )
    await bench.say('And now?')
    assert.equal((await types(bench)).filter((type) => type === 'notification_summary').length, 1)
  })
})

suite('a notification while a run is going on', () => {
  const during = async (
    t: { after(work: () => Promise<void>): void },
    input: NotificationInput,
    more: readonly object[] = [],
  ): Promise<Setup> => {
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const work: RunnableTool = {
      name: 'work',
      inputSchema: { type: 'object' },
      execute: async () => {
        begun.resolve()
        await gate.promise
        return { result: 'worked' }
      },
    }
    const setup = await open(t, [{ toolCalls: [{ name: 'work', input: {} }] }, done, ...more], { tools: [work] })
    const said = setup.bench.say('Go.')
    await begun.promise
    await setup.control.notifications.send(input)
    gate.resolve()
    await said
    await setup.control.settled()
    return setup
  }

  test('is delivered in full when it is urgent', async (t) => {
    const { bench } = await during(t, note({ priority: 'urgent' }))
    assert.equal(bench.model.requests.length, 2)
    assert.match(JSON.stringify(bench.model.requests[1]), /CI failed/)
  })

  test('is only named when it is medium, and stays unread', async (t) => {
    const { bench, control } = await during(t, note())
    assert.equal(bench.model.requests.length, 2)
    assert.match(JSON.stringify(bench.model.requests[1]), /1 unread notification from github/)
    assert.doesNotMatch(JSON.stringify(bench.model.requests[1]), /CI failed/)
    assert.equal(control.notifications.inbox.pending().length, 1)
  })

  test('is named at once and delivered in full afterwards when it is high', async (t) => {
    const { bench, control } = await during(t, note({ priority: 'high' }), [{ text: 'I see.' }])
    assert.equal(bench.model.requests.length, 3)
    assert.doesNotMatch(JSON.stringify(bench.model.requests[1]), /CI failed/)
    assert.match(JSON.stringify(bench.model.requests[2]), /CI failed/)
    assert.deepEqual(
      control.notifications.inbox.list().map(({ status }) => status),
      ['delivered'],
    )
  })
})

suite('who decides what becomes of a notification', () => {
  const delivery: DeliveryPolicy = {
    decide: ({ kind }) => (kind === 'secret' ? 'discard' : undefined),
    sources: { mail: 'persist' },
    priorities: { urgent: 'summarize' },
  }
  const cases = {
    'a function first': [note({ kind: 'secret', source: 'mail' }), 'discard'],
    'then the source': [note({ source: 'mail', priority: 'urgent' }), 'persist'],
    'then the priority': [note({ priority: 'urgent' }), 'summarize'],
    'then the default': [note({ priority: 'low' }), 'summarize'],
  } as const
  for (const [title, [input, expected]] of Object.entries(cases)) {
    test(title, async (t) => {
      const { bench, control } = await open(t, [], { delivery })
      const { action } = await control.notifications.send(input)
      assert.equal(action, expected)
      assert.equal(bench.model.requests.length, 0)
      assert.equal(control.notifications.inbox.list().length, expected === 'discard' ? 0 : 1)
    })
  }
})

suite('the inbox', () => {
  const low = (more: Partial<NotificationInput> = {}): NotificationInput => note({ priority: 'low', ...more })

  test('takes the same event once, also when it comes twice at the same time', async (t) => {
    const { control } = await open(t, [])
    const sent = await Promise.all([1, 2, 3].map(() => control.notifications.send(low({ dedupeKey: 'run-1' }))))
    assert.deepEqual(
      sent.map(({ action }) => action),
      ['summarize', 'duplicate', 'duplicate'],
    )
    assert.equal(new Set(sent.map(({ id }) => id)).size, 1)
    const other = await control.notifications.send(low({ dedupeKey: 'run-1', source: 'mail' }))
    assert.equal(other.action, 'summarize')
  })

  test('lets the newest replace those before it, and reports it', async (t) => {
    const { control, events } = await open(t, [])
    const { id } = await control.notifications.send(low({ coalesceKey: 'pr-7', summary: 'One comment.' }))
    const sent = await control.notifications.send(low({ coalesceKey: 'pr-7', summary: 'Two comments.' }))
    assert.deepEqual(
      [sent.action, sent.id, sent.notification.summary, sent.notification.coalescedCount],
      ['coalesced', id, 'Two comments.', 2],
    )
    assert.equal(control.notifications.inbox.list().length, 1)
    assert.deepEqual(
      events.flatMap((event) =>
        event.type === 'notification' ? [[event.notificationId, event.message, event.status]] : [],
      ),
      [
        [id, 'One comment.', 'pending'],
        [id, 'Two comments.', 'pending'],
      ],
    )
  })

  test('is delivered at once by one with a higher priority than those it replaces', async (t) => {
    const { bench, control } = await open(t, [done])
    const { id } = await control.notifications.send(low({ coalesceKey: 'pr-7', summary: 'One comment.' }))
    const sent = await control.notifications.send(
      note({ coalesceKey: 'pr-7', summary: 'It is on fire.', priority: 'urgent' }),
    )
    assert.equal((await sent.accepted).action, 'wake')
    await bench.runtime.idle()
    assert.deepEqual(
      [sent.action, sent.id, sent.notification.status, sent.notification.coalescedCount],
      ['deliver', id, 'delivered', 2],
    )
    assert.match(JSON.stringify(bench.model.requests[0]), /It is on fire/)
    assert.equal(control.notifications.inbox.list().length, 1)
  })

  test('survives the process, and is not emptied by what the conversation does', async (t) => {
    const { bench, control } = await open(t, [])
    const { id } = await control.notifications.send(low({ payload: { run: 7 } }))
    await bench.restart()
    const { inbox } = new Notifications({ port: bench.port, emit: () => undefined })
    assert.deepEqual(inbox.get(id).payload, { run: 7 })
  })

  test('the inbox of a fork is empty: notifications were for its parent', async (t) => {
    const { bench, control } = await open(t, [done])
    await control.notifications.send(low())
    await bench.say('Hello.')
    const { state } = bench.runtime
    const at = await boundaryAt(bench.store, state.head.lineage, state.head.seq)
    const fork = await forkThread(bench.store, bench.owner, state, { resourceId: 'test', at })
    assert.ok(state.head.settings.size > 0)
    const head = { ...state.head, stream: fork.id }
    const port = new ThreadPort({ ...UNUSED, state: { ...state, head } }, bench.store, {
      agentId: () => '',
    })
    assert.deepEqual(new Notifications({ port, emit: () => undefined }).inbox.list(), [])
  })

  test('is bounded: what was read goes first, then what matters least', async (t) => {
    const { control } = await open(t, [])
    const { inbox } = control.notifications
    const urgent = await control.notifications.send(low({ summary: 'first' }))
    await inbox.put({ ...inbox.get(urgent.id), priority: 'urgent' })
    const read = await control.notifications.send(low({ summary: 'read' }))
    await inbox.setStatus(read.id, 'seen', 2_000)
    for (let n = 0; n < INBOX_LIMIT; n++) await control.notifications.send(low({ summary: `n${n}` }))
    const left = inbox.list()
    assert.equal(left.length, INBOX_LIMIT)
    assert.ok(left.some(({ id }) => id === urgent.id))
    assert.ok(!left.some(({ id }) => id === read.id))
    assert.ok(!left.some(({ summary }) => summary === 'n0'))
  })

  test('keeps no payload that would swell the thread', async (t) => {
    const { control } = await open(t, [])
    const { id } = await control.notifications.send(low({ payload: 'x'.repeat(10_000), summary: 'y'.repeat(5_000) }))
    const kept = control.notifications.inbox.get(id)
    assert.deepEqual([kept.payload, kept.summary.length], [{ tooLarge: 10_002 }, 2_000])
  })
})

suite('the tool notification-inbox', () => {
  test('is there when there is something to read', async (t) => {
    const { control } = await open(t, [])
    const has = (): boolean => control.tools().some(({ name }) => name === 'notification-inbox')
    assert.equal(has(), false)
    await control.notifications.send(note({ priority: 'low' }))
    assert.equal(has(), true)
  })

  test('lists, finds, reads and puts away', async (t) => {
    const results: JsonObject[] = []
    const { bench, control } = await open(t, [])
    const first = await control.notifications.send(note({ priority: 'low', payload: { branch: 'main' } }))
    const second = await control.notifications.send(note({ priority: 'low', source: 'mail', summary: 'Hi there.' }))
    const tool = control.tools().find(({ name }) => name === 'notification-inbox')
    const use = async (input: JsonObject): Promise<JsonObject> => {
      const context = {
        signal: AbortSignal.timeout(60_000),
        idempotencyKey: 'k',
        toolCallId: 'c',
        runId: 'r',
        turnId: 't',
        threadId: 'thread',
        agentId: 'native',
        progress: () => undefined,
      }
      const outcome = (await tool?.execute(input, context)) as { result: JsonObject }
      results.push(outcome.result)
      return outcome.result
    }
    const ids = async (input: JsonObject): Promise<readonly unknown[]> =>
      ((await use(input))['notifications'] as unknown as { id: string }[]).map(({ id }) => id)
    assert.deepEqual(await ids({ action: 'list' }), [second.id, first.id])
    assert.deepEqual(await ids({ action: 'list', source: 'mail' }), [second.id])
    assert.deepEqual(await ids({ action: 'search', query: 'MAIN ci' }), [first.id])
    const read = await use({ action: 'read', id: first.id })
    assert.deepEqual((read['notification'] as JsonObject)['payload'], { branch: 'main' })
    assert.deepEqual(await ids({ action: 'list', status: 'seen' }), [first.id])
    await use({ action: 'archive', id: first.id })
    await use({ action: 'read', id: first.id })
    await use({ action: 'dismiss', id: second.id })
    assert.deepEqual(await ids({ action: 'list' }), [])
    assert.deepEqual(
      control.notifications.inbox.list().map(({ status }) => status),
      ['archived', 'dismissed'],
    )
    for (const wrong of [{ action: 'burn' }, {}, { action: 'read', id: 'nobody' }, { action: 'search' }]) {
      assert.equal((await use(wrong))['isError'], true)
    }
    assert.equal(bench.model.requests.length, 0)
  })
})
