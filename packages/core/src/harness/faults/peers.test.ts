/**
 * What users of other harnesses have met, case by case: each test would fail here if we had the defect. Grouped by
 * subject; the words in the titles are what should happen, not what went wrong.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { HarnessEvent, HarnessMessage } from '@inspan/protocol/harness'
import { z } from 'zod'
import { Agent, createTool, Harness, MemoryStore } from '../../index.ts'
import { HarnessBench, nextEvent } from '../harness.fixture.ts'
import { call, done, journalTool, withTools } from './peers.fixture.ts'

suite('stopping', () => {
  test('a call that waits is settled by an abort', async () => {
    await using bench = new HarnessBench([{ toolCalls: [call('ask_user', 'q1', { question: 'x?' })] }])
    await bench.harness.sendMessage({ content: 'Go.' })
    await bench.harness.abort()
    const messages = await bench.harness.session.thread.listActiveMessages()
    const message = messages.find(({ role }) => role === 'assistant')
    assert.ok(message?.content.some(({ type }) => type === 'tool_result'))
    assert.equal(bench.harness.session.displayState.get().pendingSuspensions.size, 0)
  })

  test('a tool that does not listen does not keep the run from ending', async () => {
    const begun = Promise.withResolvers<void>()
    const deaf = createTool({
      id: 'deaf',
      description: 'deaf',
      inputSchema: z.object({}),
      execute: async () => {
        begun.resolve()
        return new Promise<string>(() => undefined)
      },
    })
    await using bench = new HarnessBench([{ toolCalls: [call('deaf')] }], { tools: { deaf } })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    const said = bench.harness.sendMessage({ content: 'Go.' })
    await begun.promise
    await bench.harness.abort()
    await said
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    assert.equal(bench.harness.session.displayState.get().isRunning, false)
  })

  test('a message right after an abort has its events, and the session is not left running', async () => {
    const script = [{ text: ['a', 'b'], hang: true as const }, { text: 'Second.' }]
    await using bench = new HarnessBench(script)
    const speaking = bench.next('message_update')
    const first = bench.harness.sendMessage({ content: 'One.' })
    await speaking
    const aborted = bench.harness.abort()
    const second = bench.harness.sendMessage({ content: 'Two.' })
    await Promise.all([first, aborted, second])
    if (bench.model.requests.length === 1) await bench.harness.sendMessage({ content: 'Three.' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.equal(bench.harness.session.displayState.get().isRunning, false)
    assert.ok(bench.all('message_end').some(({ message }) => textOf(message) === 'Second.'))
  })

  test('steering does not abort: it is delivered in the same run', async () => {
    const gate = Promise.withResolvers<void>()
    const journal: string[] = []
    const work = journalTool('work', journal, gate.promise)
    await using bench = new HarnessBench([{ toolCalls: [call('work')] }, done], { tools: { work } })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    const started = bench.next('tool_start')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    await started
    const steered = bench.harness.steer({ content: 'Mind the tests.' })
    gate.resolve()
    await Promise.all([said, steered])
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['complete'],
    )
    assert.match(bench.model.requestBodies[1] ?? '', /Mind the tests/)
  })

  test('leaving for another thread does not leave this one wedged', async () => {
    await using bench = new HarnessBench([{ text: 'x', hang: true as const }, { text: 'Back.' }])
    const speaking = bench.next('message_update')
    const first = await bench.harness.createThread()
    const said = bench.harness.sendMessage({ content: 'Go.' })
    await speaking
    await bench.harness.createThread()
    await said
    await bench.harness.switchThread({ threadId: first.id })
    await bench.harness.sendMessage({ content: 'Again.' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })
})

suite('events', () => {
  test('one that was kept stays what it was', async () => {
    await using bench = new HarnessBench([{ text: ['one ', 'two ', 'three'] }])
    await bench.harness.sendMessage({ content: 'Go.' })
    const texts = bench.all('message_update').map(({ message }) => textOf(message))
    assert.deepEqual(texts, ['one ', 'one two ', 'one two three'])
  })

  test('reach everybody although another listener leaves while one is emitted', async () => {
    await using bench = new HarnessBench([done])
    const heard: string[] = []
    const stop = bench.harness.subscribe(() => stop())
    bench.harness.subscribe((event) => void heard.push(event.type))
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      heard,
      bench.events.map(({ type }) => type),
    )
  })

  test('a snapshot is made for many events at once, and never changes', async () => {
    await using bench = new HarnessBench([{ text: Array.from({ length: 500 }, () => 'word ') }])
    const before = bench.harness.session.displayState.get()
    const copy = structuredClone({ ...before, currentMessage: null })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.ok(bench.all('display_state_changed').length < 100)
    assert.deepEqual({ ...before, currentMessage: null }, copy)
    assert.notEqual(bench.harness.session.displayState.get(), before)
  })

  test('streamed text can be passed on piece by piece: twice the text is twice the bytes', async () => {
    const bytes = async (words: number): Promise<number> => {
      await using bench = new HarnessBench([{ text: Array.from({ length: words }, () => 'word ') }])
      await bench.harness.sendMessage({ content: 'Go.' })
      // Whole messages and snapshots are for listeners in the same process, where they share what did not change.
      const whole = new Set<HarnessEvent['type']>(['message_update', 'display_state_changed'])
      return [...bench.kept].reduce((sum, [{ type }, json]) => sum + (whole.has(type) ? 0 : json.length), 0)
    }
    const [base, one, two] = [await bytes(1), await bytes(400), await bytes(800)]
    const ratio = (two - base) / (one - base)
    assert.ok(ratio > 1.9 && ratio < 2.1, `${ratio}`)
  })

  for (const [who, tool, config] of [
    ['toolCategoryResolver', {}, { toolCategoryResolver: (name: string) => (name === 'sculpt' ? 'edit' : null) }],
    ['the tool itself', { category: 'edit' }, {}],
  ] as const) {
    test(`files are noted whatever the tool that changed them is called: ${who} says that it edits`, async () => {
      const sculpt = createTool({ id: 'sculpt', description: 'Edits.', ...tool, execute: () => 'ok' })
      const script = [{ toolCalls: [call('sculpt', 'c1', { path: 'a.ts' })] }, done]
      await using bench = new HarnessBench(script, {
        tools: { sculpt },
        ...config,
        permissions: { tools: { sculpt: 'allow' } },
      })
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.deepEqual([...bench.harness.session.displayState.get().modifiedFiles.keys()], ['a.ts'])
    })
  }

  test('signals are events of their own, not only pieces of messages', async () => {
    await using bench = new HarnessBench([done])
    await bench.harness.createThread()
    await bench.harness.saveSystemReminderMessage({ message: 'Mind.', reminderType: 'x' })
    await bench.harness.sendSignal({ type: 'reactive', contents: 'y' }, { ifIdle: { behavior: 'persist' } }).accepted
    await bench.harness.sendNotificationSignal({ source: 's', kind: 'k', summary: 'z', priority: 'low' })
    await bench.harness.sendMessage({ content: 'Go.' })
    for (const type of ['system_reminder', 'reactive_signal', 'notification', 'notification_summary'] as const) {
      assert.equal(bench.all(type).length, 1, type)
    }
  })

  test('the approval that was answered leaves the display at once', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench([{ toolCalls: [call('a')] }, done], withTools(journal, 'a'))
    const asked = bench.next('tool_approval_required')
    const said = bench.harness.sendMessage({ content: 'Go.' })
    await asked
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    assert.equal(bench.harness.session.displayState.get().pendingApproval, null)
    await said
  })
})

suite('threads and locks', () => {
  function locks(): { held: Set<string>; threadLock: { acquire(id: string): void; release(id: string): void } } {
    const held = new Set<string>()
    return {
      held,
      threadLock: {
        acquire: (id) => {
          if (held.has(id)) throw new Error(`${id} is locked`)
          held.add(id)
        },
        release: (id) => void held.delete(id),
      },
    }
  }

  test('init may be called again', async () => {
    let beats = 0
    const handler = { id: 'h', intervalMs: 60_000, handler: () => void beats++ }
    await using bench = new HarnessBench([done], { heartbeatHandlers: [handler] })
    await Promise.all([bench.harness.init(), bench.harness.init()])
    await bench.harness.init()
    assert.equal(beats, 1)
  })

  test('a thread that does not exist is not locked', async () => {
    const { held, threadLock } = locks()
    await using bench = new HarnessBench([], { threadLock })
    const { id } = await bench.harness.createThread()
    await assert.rejects(bench.harness.switchThread({ threadId: 'nobody' }))
    assert.deepEqual([...held], [id])
    assert.equal(bench.harness.session.thread.getId(), id)
  })

  test('another resource, a deleted thread and the end of the harness let the lock go', async () => {
    const { held, threadLock } = locks()
    await using bench = new HarnessBench([], { threadLock })
    await bench.harness.createThread()
    await bench.harness.setResourceId({ resourceId: 'other' })
    assert.equal(held.size, 0)
    const { id } = await bench.harness.createThread()
    await bench.harness.memory.deleteThread({ threadId: id })
    assert.equal(held.size, 0)
    await bench.harness.createThread()
    await bench.harness.destroy()
    assert.equal(held.size, 0)
  })

  test('a clone needs no memory to be configured', async () => {
    await using bench = new HarnessBench([done])
    await bench.harness.sendMessage({ content: 'Go.' })
    const clone = await bench.harness.cloneThread()
    const messages = await bench.harness.session.thread.listMessages({ threadId: clone.id })
    assert.equal(messages.length, 2)
  })

  test('a rename without a thread is an error and not silence', async () => {
    await using bench = new HarnessBench([])
    await assert.rejects(bench.harness.renameThread({ title: 'x' }))
  })

  test('a list can be read page by page, and the newest thread is found without reading them all', async () => {
    const storage = new MemoryStore()
    const asked: { limit?: number }[] = []
    const watched = new Proxy(storage, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (key === 'listThreads') asked.push(args[0] as { limit?: number })
          return (value as (...all: unknown[]) => unknown).apply(target, args)
        }
      },
    })
    await using bench = new HarnessBench([], { storage: watched })
    for (let n = 0; n < 5; n++) await bench.harness.createThread({ title: `t${n}` })
    const page = await bench.harness.session.thread.list({ limit: 2 })
    assert.equal(page.length, 2)
    assert.ok(page.next)
    asked.length = 0
    await bench.harness.selectOrCreateThread()
    assert.ok(
      asked.every(({ limit }) => limit !== undefined && limit <= 10),
      JSON.stringify(asked),
    )
    await bench.harness.destroy()
    await storage.close()
  })

  test('a setting that is made without a thread is that of the next one', async () => {
    await using bench = new HarnessBench([])
    await bench.harness.session.thread.setSetting({ key: 'theme', value: 'dark' })
    await bench.harness.createThread()
    assert.equal(bench.harness.session.thread.getSetting({ key: 'theme' }), 'dark')
  })

  test('a setting that cannot be kept is an error and not silence', async () => {
    const storage = new MemoryStore()
    await using bench = new HarnessBench([], { storage })
    await bench.harness.createThread()
    storage.append = () => Promise.reject(new Error('disk full'))
    await assert.rejects(bench.harness.session.thread.setSetting({ key: 'a', value: 1 }), /disk full/)
  })
})

suite('sessions', () => {
  test('two of one resource are two', async () => {
    await using bench = new HarnessBench([done])
    const [one, two] = await Promise.all([
      bench.harness.createSession({ resourceId: 'r' }),
      bench.harness.createSession({ resourceId: 'r' }),
    ])
    assert.notEqual(one, two)
    await one.thread.create()
    assert.equal(two.thread.getId(), null)
  })

  test('a request context given with a message reaches the tools', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'look',
      inputSchema: z.object({}),
      execute: async (_input, { requestContext }) => void seen.push(requestContext.get('tenant')),
    })
    await using bench = new HarnessBench([{ toolCalls: [call('look')] }, done], { tools: { look } })
    await bench.harness.session.permissions.setYolo({ enabled: true })
    await bench.harness.sendMessage({ content: 'Go.', requestContext: { tenant: 't1' } })
    assert.deepEqual(seen, ['t1'])
  })

  test('the agent of a mode has the workspace of the harness as well', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      description: 'look',
      category: 'read',
      execute: async (_input, { requestContext }) =>
        void seen.push((requestContext.get('harness') as { workspace?: unknown }).workspace),
    })
    const workspace = { id: 'ws', init: () => undefined }
    const { model } = new HarnessBench([{ toolCalls: [call('look')] }, done])
    const agent = new Agent({ id: 'own', model, tools: { look } })
    await using bench = new HarnessBench([], {
      workspace,
      modes: [{ id: 'plain' }, { id: 'special', agent }],
      defaultModeId: 'special',
      permissions: { tools: { look: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(seen, [workspace])
  })

  test('a conversation needs no workspace', async () => {
    await using bench = new HarnessBench([done])
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.harness.hasWorkspace(), false)
    assert.equal(bench.all('error').length, 0)
  })

  test('keep nothing of runs that are over', async () => {
    await using bench = new HarnessBench(Array.from({ length: 5 }, () => done))
    for (let n = 0; n < 5; n++) await bench.harness.sendMessage({ content: 'Go.' })
    const state = bench.harness.session.displayState.get()
    assert.equal(state.activeTools.size, 0)
    assert.equal(state.currentMessage?.content.length, 1)
    assert.equal(bench.harness.session.getCurrentRunId(), null)
  })
})

suite('models', () => {
  test('those of the known providers are listed without a catalogue of one’s own', async () => {
    await using bench = new HarnessBench([])
    const models = await bench.harness.listAvailableModels()
    assert.ok(models.some(({ id }) => id.startsWith('anthropic/')))
  })

  test('a provider without a key is not said to have one', async () => {
    const key = process.env['MISTRAL_API_KEY']
    delete process.env['MISTRAL_API_KEY']
    await using bench = new HarnessBench([])
    await bench.harness.createThread()
    await bench.harness.session.model.switch({ modelId: 'mistral/some-model' })
    assert.deepEqual(await bench.harness.getCurrentModelAuthStatus(), {
      hasAuth: false,
      apiKeyEnvVar: 'MISTRAL_API_KEY',
    })
    if (key !== undefined) process.env['MISTRAL_API_KEY'] = key
  })

  test('the tools of a mode really replace those of its agent', async () => {
    const journal: string[] = []
    await using bench = new HarnessBench(
      [done],
      { modes: [{ id: 'm', tools: { modes: journalTool('modes', journal) } }] },
      { tools: { own: journalTool('own', journal) } },
    )
    await bench.harness.sendMessage({ content: 'Go.' })
    const offered = bench.model.requestBodies[0] ?? ''
    assert.ok(offered.includes('"modes"'))
    assert.ok(!offered.includes('"own"'))
  })
})

test('one session may be listened to by many, and one that fails harms nobody', async () => {
  const agent = new Agent({ id: 'a', model: new HarnessBench([done]).model })
  const harness = new Harness({ id: 'h', agent, modes: [{ id: 'm' }] })
  const warned = new Promise((resolve) => process.once('warning', resolve))
  harness.subscribe(({ type }) => {
    if (type === 'agent_start') throw new Error('I fail.')
  })
  const heard: HarnessEvent[] = []
  harness.subscribe((event) => void heard.push(event))
  const over = nextEvent(harness, 'agent_end')
  await harness.sendMessage({ content: 'Go.' })
  assert.equal((await over).reason, 'complete')
  await warned
  assert.ok(heard.length > 3)
  await harness.destroy()
})

function textOf(message: HarnessMessage): string {
  return message.content.map((piece) => (piece.type === 'text' ? piece.text : '')).join('')
}
