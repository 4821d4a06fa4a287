import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Answer, JsonObject, StoredMessage } from '@inspan/protocol'
import type { Binding, Turn } from '@inspan/protocol/driver'
import { aTurn } from '../../../test/launch/diary.ts'
import { scratch, survivors } from '../../../test/launch/stand-in.ts'
import {
  aMessage,
  APPROVE,
  ASK,
  finishOf,
  liveHost,
  resultsOf,
  says,
  textOf,
  type LiveHost,
} from '../../../test/live/live-host.ts'
import { openStage, testLiveSession, type SessionStage } from '../../../test/live/session-contract.ts'
import { diaryOf, standInProgram } from '../../../test/live/stand-in-program.ts'
import { codexLive, type CodexLiveOptions } from './driver.ts'
import { codexAppServerDialect } from './mapper.ts'

interface StageOptions extends CodexLiveOptions {
  readonly host?: LiveHost
  readonly binding?: Binding
  /** The threads that the stand-in remembers, with the items of their turns. */
  readonly memory?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
}

/** A session with a stand-in that executes the body in every turn. Nothing of it is left after the test. */
async function stage(t: TestContext, body: string, options: StageOptions = {}): Promise<SessionStage> {
  const { host = liveHost(), binding = null, memory = {}, ...rest } = options
  const dir = await scratch(t)
  const threads = Object.entries(memory).map(([id, turns]) => [
    id,
    { turns: Object.entries(turns).map(([turn, items]) => ({ id: turn, items })), injected: [] },
  ])
  await writeFile(join(dir, 'memory.json'), JSON.stringify(Object.fromEntries(threads)))
  const bin = await standInProgram(dir, 'codex', body)
  const driver = codexLive({ bin, cwd: dir, env: { CODEX_API_KEY: 'any' }, ...rest })
  return openStage(t, dir, driver, { host, binding })
}

async function requests(dir: string, method: string): Promise<readonly JsonObject[]> {
  const heard = (await diaryOf(dir, 'heard')) as readonly JsonObject[]
  return heard.flatMap((record) => (record['method'] === method ? [record['params'] as JsonObject] : []))
}

async function methods(dir: string): Promise<readonly string[]> {
  const heard = (await diaryOf(dir, 'heard')) as readonly JsonObject[]
  return heard.flatMap(({ method }) => (typeof method === 'string' ? [method] : []))
}

const say = (text: string): Turn['input'] => [{ id: '0', type: 'text', text }]
const TOUCH = `await t.command("/bin/bash -lc 'touch a'")`

/** Returns what the stand-in got in answer to its own requests. */
async function answersIn(dir: string): Promise<readonly JsonObject[]> {
  return ((await diaryOf(dir, 'heard')) as readonly JsonObject[]).filter(({ method }) => method === undefined)
}

testLiveSession({
  agentId: 'codex',
  dialect: codexAppServerDialect,
  stage,
  touch: TOUCH.replace('await ', ''),
  unknownRecord: `t.notify('brand/new', {})`,
  isRecord: /^\{.*"(?:method|result)":/,
  answersIn,
})

describe('a command that a person is asked about', () => {
  const answered = async (t: TestContext, answer: Answer, body = TOUCH): Promise<readonly string[]> => {
    const { host, run } = await stage(t, body)
    const turn = run()
    const ask = await host.nextAsk()
    ask.answer(answer)
    const events = await turn.all
    assert.equal(finishOf(events), 'stop')
    return [...resultsOf(events), textOf(events)]
  }

  it('runs when it is approved', async (t) => {
    assert.deepEqual(await answered(t, APPROVE), ['ran', ''])
  })

  it('does not run when it is declined, and the agent gets the reason before the refusal', async (t) => {
    const body = `${TOUCH}; t.say(await t.steered())`
    assert.deepEqual(await answered(t, { decision: 'decline', reason: 'Not here.' }, body), [
      '✗ declined',
      '"touch a" was declined: Not here.',
    ])
  })

  it('is answered for this call only', async (t) => {
    const { dir, host, run } = await stage(t, TOUCH)
    const turn = run()
    const ask = await host.nextAsk()
    ask.answer({ decision: 'approve', remember: 'tool' })
    await turn.all
    assert.deepEqual(await answersIn(dir), [{ id: 0, result: { decision: 'accept' } }])
  })

  it('may wait together with another, and each gets its own answer', async (t) => {
    const { host, run } = await stage(t, `await Promise.all([t.command('touch a'), t.command('touch b')])`)
    const turn = run()
    const asks = [await host.nextAsk(), await host.nextAsk()]
    for (const { request, answer } of asks) {
      answer(request.description.startsWith('Run touch b') ? { decision: 'decline', reason: 'Not b.' } : APPROVE)
    }
    assert.deepEqual([...resultsOf(await turn.all)].sort(), ['ran', '✗ declined'])
  })
})

describe('other questions', () => {
  it('about one file are about that file', async (t) => {
    const { host, run } = await stage(t, `await t.change({ path: '/w/a', kind: { type: 'add' }, diff: 'x' })`)
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.equal(request.subject.toolName, 'write_file')
    assert.deepEqual(request.subject.args, { path: '/w/a', content: 'x' })
    answer(APPROVE)
    await turn.all
    assert.deepEqual(
      host.activity.map((event) => [event.type, event.type === 'write' && event.isSuccess]),
      [['write', true]],
    )
  })

  it('about several files follow the strictest rule for any of them', async (t) => {
    const host = liveHost(({ args }) =>
      args['path'] === '/w/b' ? { policy: 'deny', reason: 'Not b.' } : { policy: 'allow', reason: '' },
    )
    const change = (path: string): string => `{ path: '${path}', kind: { type: 'update' }, diff: 'x' }`
    const { run } = await stage(t, `await t.change(${change('/w/a')}, ${change('/w/b')})`, { host })
    assert.deepEqual(resultsOf(await run().all), ['✗ ["/w/a","/w/b"]'])
    assert.deepEqual(host.asked, [])
  })

  it('about a tool of an MCP server name the tool and its arguments', async (t) => {
    const { host, run } = await stage(
      t,
      `const item = { type: 'mcpToolCall', id: 'i1', server: 'files', tool: 'read', arguments: { path: 'a' } }
       t.started(item)
       const { action } = await t.ask('mcpServer/elicitation/request', {
         serverName: 'files', mode: 'form', message: 'Allow it?',
         _meta: { codex_approval_kind: 'mcp_tool_call', tool_params: { path: 'a' } },
       })
       t.completed({ ...item, status: action === 'accept' ? 'completed' : 'failed', result: null })`,
    )
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.deepEqual([request.subject.toolName, request.subject.args], ['mcp__files__read', { path: 'a' }])
    assert.equal(host.judged[0]?.category, 'mcp')
    answer({ decision: 'decline' })
    assert.equal(resultsOf(await turn.all)[0]?.startsWith('✗'), true)
  })

  it('a request of an MCP server for text is a question', async (t) => {
    const { host, run } = await stage(
      t,
      `const answer = await t.ask('mcpServer/elicitation/request', {
         serverName: 'files', mode: 'form', message: 'Your name?', requestedSchema: { type: 'object' } })
       t.say(JSON.stringify(answer))`,
    )
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.deepEqual([request.kind, request.answerSchema], ['question', '{"type":"object"}'])
    answer({ decision: 'answer', value: { name: 'Ann' } })
    assert.equal(textOf(await turn.all), '{"action":"accept","content":{"name":"Ann"},"_meta":null}')
  })

  it('a request of the agent for text is a question', async (t) => {
    const { host, run } = await stage(
      t,
      `t.say(JSON.stringify(await t.ask('item/tool/requestUserInput', { itemId: 'i1', questions: [{ id: 'q', question: 'Why?' }] })))`,
    )
    const turn = run()
    const ask = await host.nextAsk()
    ask.answer({ decision: 'answer', value: 'Because.' })
    assert.equal(textOf(await turn.all), '{"answers":{"q":{"answers":["Because."]}}}')
  })

  it('for more access are granted for this turn, or not at all', async (t) => {
    const { host, run } = await stage(
      t,
      `const ask = () => t.ask('item/permissions/requestApproval', {
         itemId: 'i1', reason: 'To fetch.', permissions: { network: { enabled: true }, fileSystem: null } })
       t.say(JSON.stringify([await ask(), await ask()]))`,
    )
    const turn = run()
    const first = await host.nextAsk()
    assert.deepEqual([first.request.kind, first.request.description], ['access', 'To fetch.'])
    first.answer(APPROVE)
    const second = await host.nextAsk()
    second.answer({ decision: 'decline' })
    const granted = '{"permissions":{"network":{"enabled":true}},"scope":"turn"}'
    assert.match(textOf(await turn.all), new RegExp(String.raw`^\[${escape(granted)},\{"permissions":\{\},`))
  })

  it('other questions that nobody can answer are refused, with a warning', async (t) => {
    const { dir, host, run } = await stage(t, `await t.ask('attestation/generate', {})`)
    assert.equal(finishOf(await run().all), 'stop')
    assert.ok(host.activity.some((event) => event.type === 'warning' && event.code === 'unsupported'))
    const answers = ((await diaryOf(dir, 'heard')) as readonly JsonObject[]).filter(({ error }) => error !== undefined)
    assert.equal(answers.length, 1)
  })
})

function escape(text: string): string {
  return text.replace(/[{}[\]]/g, String.raw`\$&`)
}

describe('a turn that is stopped', () => {
  it('closes a command that waits, and a late answer does nothing', async (t) => {
    const { dir, host, run, session } = await stage(t, TOUCH)
    const turn = run()
    const ask = await host.nextAsk()
    const receipt = await session.cancel()
    assert.equal(finishOf(await turn.all), 'other')
    assert.deepEqual(receipt, { how: 'clean', calls: [ask.request.subject.toolCallId], orphansKilled: 0, queued: [] })
    ask.answer(APPROVE)
    assert.equal(await survivors(host), 0)
    assert.equal((await requests(dir, 'turn/interrupt')).length, 1)
  })

  it('in the middle of a tool: nothing is left running, not even what has left its session', async (t) => {
    const { host, run, session } = await stage(t, `t.longTool(); t.say('running'); await t.interrupted`)
    const turn = run()
    await turn.until(says('running'))
    await session.cancel()
    assert.equal(await survivors(host), 0)
    assert.equal(finishOf(await turn.all), 'other')
  })

  it('is continued by the next turn in another process, in the same thread', async (t) => {
    const { dir, host, run, session } = await stage(
      t,
      `t.say(t.prompt); if (t.prompt === 'Do it.') await t.interrupted`,
    )
    const turn = run()
    await turn.until(says('Do it.'))
    await session.cancel()
    await turn.all
    assert.equal(textOf(await run({ input: say('Again.') }).all), 'Again.')
    const [resumed] = await requests(dir, 'thread/resume')
    assert.equal(resumed?.['threadId'], host.bindings.at(-1)?.nativeId)
    assert.deepEqual(await requests(dir, 'thread/revert'), [])
  })
})

describe('a process', () => {
  it('takes many turns, each with its own start, usage and finish', async (t) => {
    const { dir, host, run } = await stage(t, `t.say('said ' + t.prompt)`)
    const first = await run().all
    const second = await run({ turnId: 'turn-2', input: say('More.') }).all
    for (const events of [first, second]) {
      assert.equal(events.filter(({ type }) => type === 'start').length, 1)
      const last = events.at(-1)
      assert.equal(last?.type === 'finish' && last.usage?.totalTokens, 20)
    }
    assert.equal(textOf(second), 'said More.')
    assert.equal((await diaryOf(dir, 'argv')).length, 1)
    assert.equal((await requests(dir, 'thread/start')).length, 1)
    assert.equal(host.processes.length, 2)
    assert.deepEqual(host.bindings.at(-1)?.usageTotal?.totalTokens, 40)
  })

  it('asks for every command and keeps to its sandbox', async (t) => {
    const { dir, run } = await stage(t, `t.say('here')`)
    await run({ model: 'a-model', instructions: 'Be kind.' }).all
    const [started] = await requests(dir, 'thread/start')
    assert.deepEqual(started, {
      cwd: dir,
      sandbox: 'workspace-write',
      approvalPolicy: 'untrusted',
      approvalsReviewer: 'user',
      model: 'a-model',
      developerInstructions: 'Be kind.',
    })
    const [argv] = (await diaryOf(dir, 'argv')) as readonly (readonly string[])[]
    assert.equal(argv?.[0], 'app-server')
    assert.ok(argv?.every((arg) => !arg.includes('Be kind.') && !arg.startsWith('approval_policy')))
  })

  it('a process that no longer knows the policy fails the turn before it gets a prompt', async (t) => {
    const env = { CODEX_API_KEY: 'any', STAND_IN_UNKNOWN_POLICY: 'untrusted' }
    const { dir, run } = await stage(t, `t.say('here')`, { env })
    const events = await run().all
    const failure = events.find((event) => event.type === 'error')
    assert.equal(failure?.code, 'policy-unsupported')
    assert.match(failure?.error.message ?? '', /no longer asks before it runs commands/)
    assert.equal(finishOf(events), 'error')
    assert.deepEqual(await requests(dir, 'turn/start'), [])
  })

  it('a process that would not ask before it runs commands is refused before it gets a prompt', async (t) => {
    const env = { CODEX_API_KEY: 'any', STAND_IN_POLICY: 'on-request' }
    const { dir, run } = await stage(t, `t.say('here')`, { env })
    const events = await run().all
    const failure = events.find((event) => event.type === 'error')
    assert.match(failure?.error.message ?? '', /no longer asks before it runs commands/)
    assert.equal(finishOf(events), 'error')
    assert.deepEqual(await requests(dir, 'turn/start'), [])
  })

  it('a process that was killed a moment before the turn is followed by another one, which continues its thread', async (t) => {
    const { host, run } = await stage(t, `t.say('here')`)
    await run().all
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await run({ runId: 'run-2' }).all
    assert.deepEqual([textOf(events), finishOf(events)], ['here', 'stop'])
    assert.equal(new Set(host.processes.map(({ pid }) => pid)).size, 2)
    assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
  })

  it('a process that dies while a command waits has failed, and its question with it', async (t) => {
    const { dir, host, run } = await stage(t, `if (t.prompt === 'Do it.') ${TOUCH}; t.say('back')`)
    const turn = run()
    const ask = await host.nextAsk()
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await turn.all
    assert.equal(finishOf(events), 'error')
    assert.equal(events.filter(({ type }) => type === 'error').length, 1)
    assert.equal(resultsOf(events).length, 1)
    ask.answer(APPROVE)
    assert.equal(textOf(await run({ input: say('Again.') }).all), 'back')
    assert.equal((await diaryOf(dir, 'argv')).length, 2)
  })

  it('a process whose turn fails reports it once, and takes the next turn', async (t) => {
    const { dir, run } = await stage(t, `if (t.prompt === 'Do it.') t.fail('No key.'); else t.say('fine')`)
    const events = await run().all
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'error' ? [event.error.message] : [])),
      ['No key.'],
    )
    assert.equal(finishOf(events), 'error')
    assert.equal(textOf(await run({ input: say('Again.') }).all), 'fine')
    assert.equal((await diaryOf(dir, 'argv')).length, 1)
  })

  it('may print much in one write: every turn receives it in order', async (t) => {
    const body = `process.stdin.prependListener('data', () => {
        process.stdout.cork()
        setImmediate(() => process.stdout.uncork())
      })
      for (let line = 1; line <= 50; line++) t.raw(line + ' of ' + t.prompt + '\\n')`
    const { host, run } = await stage(t, body)
    for (const input of ['one', 'two', 'three']) {
      const before = host.activity.length
      await run({ input: say(input) }).all
      assert.deepEqual(
        host.activity.slice(before).flatMap((event) => (event.type === 'unknown' ? [event.raw] : [])),
        Array.from({ length: 50 }, (_, index) => `${index + 1} of ${input}`),
      )
    }
  })
})

describe('a native thread', () => {
  const binding: Binding = { agentId: 'codex', nativeId: 'thread-1', syncedTo: 0, anchor: 'turn-2' }
  const memory = { 'thread-1': { 'turn-1': ['i1'], 'turn-2': ['i2', 'i3'], 'turn-3': ['i4'] } }
  const own = (turnId: string, itemId: string): StoredMessage =>
    aMessage(itemId, `said ${itemId}`, {
      role: 'assistant',
      native: { sessionId: 'thread-1', turnId, itemId },
    })
  const withHistory = (...newestFirst: readonly StoredMessage[]): LiveHost =>
    liveHost(() => ASK, {
      history: async function* () {
        yield* newestFirst
      },
    })
  const SAY = `t.say(JSON.stringify(t.injected.map((item) => [item.role, item.content[0].text])))`

  it('is resumed at our anchor: turns beyond it are withdrawn', async (t) => {
    const { dir, run } = await stage(t, SAY, { binding, memory, host: withHistory(own('turn-2', 'i3')) })
    await run().all
    assert.deepEqual(await requests(dir, 'thread/revert'), [{ threadId: 'thread-1', beforeTurnId: 'turn-3' }])
    const order = await methods(dir)
    assert.ok(order.indexOf('thread/revert') < order.indexOf('turn/start'))
  })

  it('is resumed as it is when it ends at our anchor', async (t) => {
    const { dir, run } = await stage(t, SAY, { binding: { ...binding, anchor: 'turn-3' }, memory })
    await run().all
    assert.deepEqual(await requests(dir, 'thread/revert'), [])
  })

  for (const [what, options] of [
    ['has no such turn', { binding: { ...binding, anchor: 'turn-9' }, memory }],
    ['the program does not have', { binding }],
  ] as const) {
    it(`a native thread that ${what} is followed by a new one, which gets the whole conversation`, async (t) => {
      const host = withHistory(own('turn-2', 'i3'), aMessage('u0', 'long ago'))
      const { run } = await stage(t, SAY, { ...options, host })
      const events = await run().all
      assert.equal(textOf(events), '[["user","long ago"],["assistant","said i3"]]')
      assert.equal(finishOf(events), 'stop')
      assert.notEqual(host.bindings.at(-1)?.nativeId, 'thread-1')
      assert.ok(host.activity.some((event) => event.type === 'warning' && event.code === 'new-session'))
    })
  }

  it('is forked after the last turn that our thread holds, with the model it had', async (t) => {
    const host = withHistory(own('turn-2', 'i3'), own('turn-1', 'i1'))
    const { dir, run } = await stage(t, SAY, { binding: { ...binding, origin: true }, memory, host })
    await run().all
    const [forked] = await requests(dir, 'thread/fork')
    assert.deepEqual([forked?.['lastTurnId'], forked?.['model']], ['turn-2', 'model-of-the-thread'])
    assert.equal(host.bindings.at(-1)?.nativeId, 'thread-1-fork')
  })

  it('is forked before a turn that our thread holds in part, and that part is handed over', async (t) => {
    const host = withHistory(own('turn-2', 'i2'), aMessage('u2', 'second'), own('turn-1', 'i1'))
    const { dir, run } = await stage(t, SAY, { binding: { ...binding, origin: true }, memory, host })
    const events = await run().all
    assert.equal((await requests(dir, 'thread/fork'))[0]?.['lastTurnId'], 'turn-1')
    assert.equal(textOf(events), '[["user","second"],["assistant","said i2"]]')
  })

  it('gets what others said since, as items of its history', async (t) => {
    const said = aMessage('o1', 'I looked.', { role: 'assistant', by: 'other', order: 9 })
    const asked = aMessage('u1', 'And you?', { order: 10 })
    const host = withHistory(asked, said, own('turn-2', 'i3'), aMessage('u0', 'long ago'))
    const { run } = await stage(t, SAY, { binding, memory, host })
    assert.equal(textOf(await run().all), '[["assistant","[other]\\nI looked."],["user","And you?"]]')
  })

  it('a native thread that is new gets everything except the task itself', async (t) => {
    const host = withHistory(aMessage('u1', 'Do it.', { run: aTurn.runId }), aMessage('u0', 'long ago'))
    const { run } = await stage(t, SAY, { host })
    assert.equal(textOf(await run().all), '[["user","long ago"]]')
  })

  it('gets nothing twice', async (t) => {
    const history = [aMessage('u0', 'Do it.', { run: aTurn.runId })]
    const host = liveHost(() => ASK, {
      history: async function* () {
        yield* history
      },
    })
    const { run } = await stage(t, SAY, { host })
    await run().all
    history.unshift(aMessage('u1', 'More.', { run: 'run-2' }))
    assert.equal(textOf(await run({ runId: 'run-2' }).all), '[]')
  })

  it('keeps its first instructions, so new ones are sent as a message', async (t) => {
    const { run } = await stage(t, SAY, { binding, memory, host: withHistory(own('turn-2', 'i3')) })
    const text = textOf(await run({ instructions: 'Be brief.' }).all)
    assert.match(text, /^\[\["developer","From now on these instructions hold[^"]*Be brief\."\]\]$/)
  })
})
