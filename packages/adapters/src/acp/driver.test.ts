import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import {
  EvenerError,
  type AgentDriver,
  type AgentEvent,
  type AgentSession,
  type Binding,
  type Turn,
} from '@evener/protocol'
import { acpProgram } from '../../test/acp/acp-program.ts'
import type { AgentSetup } from '../../test/acp/acp-stand-in.ts'
import { brief } from '../../test/brief.ts'
import { aTurn } from '../../test/launch/diary.ts'
import { scratch, survivors } from '../../test/launch/stand-in.ts'
import {
  aMessage,
  APPROVE,
  finishOf,
  liveHost,
  resultsOf,
  says,
  take,
  textOf,
  type LiveHost,
  type Taking,
} from '../../test/live/live-host.ts'
import { diaryOf } from '../../test/live/stand-in-program.ts'
import { normalize } from '../launch/normalize.ts'
import { acp, type AcpOptions } from './driver.ts'
import { acpDialect } from './mapper.ts'

interface Stage {
  readonly dir: string
  readonly host: LiveHost
  readonly driver: AgentDriver
  readonly session: AgentSession
  readonly run: (more?: Partial<Turn>) => Taking
}

interface StageOptions extends Partial<AcpOptions> {
  readonly host?: LiveHost
  readonly binding?: Binding
  readonly agent?: AgentSetup
}

/** A session with an agent that does in every turn what the body says. Nothing of it is left after the test. */
async function stage(t: TestContext, body: string, options: StageOptions = {}): Promise<Stage> {
  const { host = liveHost(), binding = null, agent, ...rest } = options
  const dir = await scratch(t)
  const driver = acp({ command: await acpProgram(dir, body, agent), cwd: dir, title: 'Agent', ...rest })
  const session = await driver.open(binding, host.host)
  t.after(async () => {
    await session.close()
    assert.equal(await survivors(host), 0)
  })
  return { dir, host, driver, session, run: (more) => take(session.run({ ...aTurn, ...more }), host) }
}

async function heard(dir: string): Promise<readonly string[]> {
  const records = (await diaryOf(dir, 'heard')) as readonly { readonly method?: string; readonly result?: object }[]
  return records.map(({ method, result }) => method ?? JSON.stringify(result))
}

function errorOf(events: readonly AgentEvent[]): { readonly code?: string; readonly message: string } {
  const errors = events.filter((event) => event.type === 'error')
  assert.equal(errors.length, 1, 'one error')
  const [error] = errors
  assert.ok(error !== undefined)
  return { message: error.error.message, ...(error.code === undefined ? {} : { code: error.code }) }
}

describe('a turn over the Agent Client Protocol', () => {
  it('greets the agent, opens a session, says the task and ends with its answer', async (t) => {
    const { dir, host, run } = await stage(t, `t.text('You said '); t.text(t.prompt)`)
    const events = await run().all
    assert.equal(textOf(events), 'You said |Do it.')
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(brief(host.activity), ['agent: You said Do it.'])
    assert.deepEqual(await heard(dir), ['initialize', 'session/new', 'session/prompt'])
  })

  it('offers the agent neither files nor terminals, and answers it when it asks for them all the same', async (t) => {
    const body = `
      const { error } = await t.request('fs/read_text_file', { sessionId: t.session, path: '/etc/passwd' })
      t.text('refused with ' + error.code)`
    const { dir, host, run } = await stage(t, body)
    assert.equal(textOf(await run().all), 'refused with -32601')
    const [greeting] = (await diaryOf(dir, 'heard')) as readonly [{ readonly params: { clientCapabilities: unknown } }]
    assert.deepEqual(greeting.params.clientCapabilities, {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
    })
    assert.deepEqual(brief(host.activity), ['agent: refused with -32601'])
  })

  it('takes the next turn with the same process and the same session', async (t) => {
    const { dir, host, run } = await stage(t, `t.text('turn ' + t.count + ' of ' + process.pid)`)
    const first = textOf(await run().all)
    const second = textOf(await run({ turnId: 'turn-2' }).all)
    assert.equal(second, first.replace('turn 1', 'turn 2'))
    assert.deepEqual(await heard(dir), ['initialize', 'session/new', 'session/prompt', 'session/prompt'])
    assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
    assert.equal(host.bindings.at(-1)?.extra?.['settled'], true)
    assert.equal(host.processes.length, 2, 'each turn knows its process')
  })

  it('starts another process when the one that was there has died between turns', async (t) => {
    const body = `t.text('turn ' + t.count); setTimeout(() => process.exit(7), 20)`
    const { dir, run, host } = await stage(t, body, { agent: { capabilities: { loadSession: true } } })
    assert.equal(textOf(await run().all), 'turn 1')
    const [first] = host.processes
    while ((await survivors(host)) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(textOf(await run({ turnId: 'turn-2' }).all), 'turn 1')
    assert.notEqual(host.processes[1]?.pid, first?.pid)
    assert.deepEqual((await heard(dir)).slice(-3), ['initialize', 'session/load', 'session/prompt'])
  })

  it('shows thoughts, calls and their output as they come', async (t) => {
    const body = `
      t.update('agent_thought_chunk', { content: { type: 'text', text: 'Hm.' } })
      t.call('c1', { title: 'list', kind: 'execute', status: 'in_progress', rawInput: { command: 'ls x' } })
      t.progress('c1', { content: [{ type: 'content', content: { type: 'text', text: 'a\\n' } }] })
      t.progress('c1', { content: [{ type: 'content', content: { type: 'text', text: 'a\\nb\\n' } }] })
      t.done('c1', { rawOutput: { exit_code: 2 } })
      t.text('Done.')`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'tool-progress' ? [event.output] : [])),
      ['a\n', 'b\n'],
    )
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => type !== 'tool-progress'),
      ['start', 'reasoning-delta', 'reasoning-delta', 'tool-call', 'tool-result', 'text-delta', 'text-delta', 'finish'],
    )
    assert.match(brief(host.activity)[0] ?? '', /^list .*\/x ✗$/)
  })

  it('counts what a turn cost, from a counter that only rises', async (t) => {
    const body = `t.update('usage_update', { used: 5, size: 10, cost: { amount: t.count * 0.25 + 0.5, currency: 'USD' } })`
    const { run } = await stage(t, body)
    const cost = async (): Promise<unknown> => {
      const last = (await run().all).at(-1)
      return last?.type === 'finish' ? last.usage : undefined
    }
    assert.deepEqual(await cost(), { costUsd: 0.75, source: 'reported', scope: 'own' })
    assert.deepEqual(await cost(), { costUsd: 0.25, source: 'reported', scope: 'own' })
  })

  it('records what the agent printed, and reads the same events from the record', async (t) => {
    const records: string[] = []
    const body = `t.raw('noise\\n'); await t.tool('c1', 'make'); t.text('Done.')`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { dir, run } = await stage(t, body, {
      host,
      record: () => {
        const folder = join(dir, 'record')
        records.push(folder)
        return { dir: folder }
      },
    })
    await run().all
    const [folder = ''] = records
    const recorded = (await readFile(join(folder, 'events.jsonl'), 'utf8')).trimEnd().split('\n')
    const lines = createInterface({ input: createReadStream(join(folder, 'raw.jsonl')) })
    const again: string[] = []
    for await (const event of normalize(lines, { dialects: [acpDialect] })) again.push(JSON.stringify(event))
    assert.deepEqual(again, recorded)
    assert.deepEqual(
      recorded.map((line) => (JSON.parse(line) as { readonly type: string }).type),
      ['unknown', 'command', 'agent'],
    )
  })
})

describe('a question of the agent', () => {
  it('is answered by a rule that allows, once and not for ever', async (t) => {
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { dir, run } = await stage(t, `await t.tool('c1', 'make')`, { host })
    assert.deepEqual(resultsOf(await run().all), ['{"exit_code":0,"output":"ran make"}'])
    assert.deepEqual(host.asked, [])
    assert.ok((await heard(dir)).includes('{"outcome":{"outcome":"selected","optionId":"yes"}}'))
  })

  it('is answered by a rule that forbids, with the reason', async (t) => {
    const host = liveHost(() => ({ policy: 'deny', reason: 'not on Sundays' }))
    const { dir, run } = await stage(t, `await t.tool('c1', 'make')`, { host })
    assert.deepEqual(resultsOf(await run().all), ['✗ did not run make'])
    const refused = { outcome: { outcome: 'selected', optionId: 'no', _meta: { reason: 'not on Sundays' } } }
    assert.ok((await heard(dir)).includes(JSON.stringify(refused)))
  })

  it('comes to a person who approves', async (t) => {
    const { host, run } = await stage(t, `await t.tool('c1', 'make all')`)
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.equal(request.kind, 'approval')
    assert.equal(request.description, 'execute_command: make all')
    assert.deepEqual(request.subject, {
      agentId: 'acp',
      toolCallId: 'c1',
      toolName: 'execute_command',
      args: { command: 'make all' },
    })
    answer(APPROVE)
    assert.deepEqual(resultsOf(await turn.all), ['{"exit_code":0,"output":"ran make all"}'])
    assert.deepEqual(brief(host.activity), ['command make all → 0'])
  })

  it('comes to a person who declines, and the agent hears why', async (t) => {
    const { dir, host, run } = await stage(t, `await t.tool('c1', 'make')`)
    const turn = run()
    const { answer } = await host.nextAsk()
    answer({ decision: 'decline', reason: 'Use ninja.' })
    assert.deepEqual(resultsOf(await turn.all), ['✗ did not run make'])
    assert.ok((await heard(dir)).some((line) => line.includes('Use ninja.')))
  })

  it('waits beside another one, of which one is declined', async (t) => {
    const { host, run } = await stage(t, `await Promise.all([t.tool('c1', 'make'), t.tool('c2', 'rm -r x')])`)
    const turn = run()
    const asks = [await host.nextAsk(), await host.nextAsk()]
    for (const { request, answer } of asks.toReversed()) {
      answer(request.subject.toolCallId === 'c2' ? { decision: 'decline', reason: 'No.' } : APPROVE)
    }
    assert.deepEqual(resultsOf(await turn.all), ['✗ did not run rm -r x', '{"exit_code":0,"output":"ran make"}'])
  })

  it('may be answered long after the turn would have been too long, or too silent', async (t) => {
    const { host, run } = await stage(t, `await t.tool('c1', 'make')`, {
      deadlineMs: 8_000,
      stallMs: 8_000,
      onStall: 'abort',
    })
    const turn = run()
    const { answer } = await host.nextAsk()
    await new Promise((resolve) => setTimeout(resolve, 8_500))
    answer(APPROVE)
    const events = await turn.all
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(resultsOf(events), ['{"exit_code":0,"output":"ran make"}'])
  })

  it('is over when the agent gives the call up by itself', async (t) => {
    const body = `
      t.call('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } })
      const asked = t.ask('c1')
      t.text('I changed my mind.')
      t.progress('c1', { status: 'failed' })
      t.text(' ' + (await asked).outcome)`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.equal(textOf(events), 'I changed my mind.| cancelled')
    assert.equal(host.asked.length, 1)
  })

  it('is over when the agent takes it back', async (t) => {
    const body = `
      const asked = t.ask('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } })
      await t.request('_ping', {})
      t.notify('$/cancel_request', { requestId: 1 })
      t.text((await asked).outcome)`
    const { run } = await stage(t, body)
    assert.equal(textOf(await run().all), 'cancelled')
  })

  it('is refused where it could only be allowed for ever', async (t) => {
    const body = `
      const outcome = await t.ask('c1', { title: 'make', kind: 'execute', rawInput: { command: 'make' } }, [
        { optionId: 'for-ever', name: 'Always', kind: 'allow_always' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { run } = await stage(t, body, { host })
    assert.equal(textOf(await run().all), 'no')
    assert.ok(brief(host.activity).some((line) => line.startsWith('warning [no-allow-once]')))
  })

  it('with several ways to say yes is a choice for a person, whatever the rules allow', async (t) => {
    const body = `
      const outcome = await t.ask('c1', { title: 'Which one?', kind: 'other' }, [
        { optionId: 'a', name: 'Apples', kind: 'allow_once' },
        { optionId: 'b', name: 'Pears', kind: 'allow_once' },
      ])
      t.text(outcome.optionId)`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { run } = await stage(t, body, { host })
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.equal(request.kind, 'question')
    assert.deepEqual(request.payload?.['options'], ['Apples', 'Pears'])
    answer({ decision: 'answer', value: 'Pears' })
    assert.equal(textOf(await turn.all), 'b')
  })

  it('shows a person what a file is to become, and the rules each file of it', async (t) => {
    const body = `
      const diff = (path) => ({ type: 'diff', path, oldText: 'old', newText: 'new' })
      await t.ask('c1', { title: 'Edit', kind: 'edit', content: [diff('/w/a'), diff('/w/b')] })
      t.done('c1')`
    const { host, run } = await stage(t, body)
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.deepEqual(request.payload?.['diffs'], [
      { path: '/w/a', oldText: 'old', newText: 'new' },
      { path: '/w/b', oldText: 'old', newText: 'new' },
    ])
    answer(APPROVE)
    await turn.all
    assert.deepEqual(new Set(host.judged.map(({ args }) => args['path'])), new Set(['/w/a', '/w/b']))
    assert.deepEqual(brief(host.activity), ['write /w/a', 'write /w/b'])
  })
})

describe('a turn that is stopped', () => {
  it('while a question waits: the agent hears that nobody will answer, and answers itself', async (t) => {
    const { dir, host, session, run } = await stage(t, `await t.tool('c1', 'make'); await t.cancelled`)
    const turn = run()
    await host.nextAsk()
    const receipt = await session.cancel()
    const events = await turn.all
    assert.equal(finishOf(events), 'other')
    assert.deepEqual(receipt.calls, ['c1'])
    assert.deepEqual((await heard(dir)).slice(-2), ['session/cancel', '{"outcome":{"outcome":"cancelled"}}'])
  })

  it('leaves nothing running, also not what has left the session of the process', async (t) => {
    const body = `
      t.call('c1', { title: 'sleep', kind: 'execute', status: 'in_progress', rawInput: { command: 'sleep 600' } })
      t.longTool()
      await new Promise(() => {})`
    const { host, session, run } = await stage(t, body)
    const turn = run()
    await turn.until(({ type }) => type === 'tool-call')
    await session.cancel()
    assert.equal(await survivors(host), 0)
    assert.deepEqual(resultsOf(await turn.all).length, 1)
  })

  it('is gone on with in the same native session, when the agent has answered', async (t) => {
    const body = `t.text('working'); if (t.prompt === 'Do it.') await t.cancelled`
    const agent = { capabilities: { sessionCapabilities: { resume: {} } } }
    const { dir, host, session, run } = await stage(t, body, { agent })
    const turn = run()
    await turn.until(says('working'))
    await session.cancel()
    await turn.all
    const [stopped] = host.bindings
    assert.equal(host.bindings.at(-1)?.extra?.['settled'], true)
    const next = run({ turnId: 'turn-2', input: [{ id: '0', type: 'text', text: 'Something else.' }] })
    assert.equal(finishOf(await next.all), 'stop')
    assert.equal(host.bindings.at(-1)?.nativeId, stopped?.nativeId)
    assert.deepEqual((await heard(dir)).slice(-3), ['initialize', 'session/resume', 'session/prompt'])
  })

  it('by its deadline fails, also when the agent does not listen', async (t) => {
    const deaf = `t.text('for ever'); setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 20)
      await new Promise(() => {})`
    const { host, run } = await stage(t, deaf, { deadlineMs: 2_000 })
    const events = await run().all
    assert.equal(await survivors(host), 0)
    assert.equal(errorOf(events).code, 'deadline')
    assert.equal(finishOf(events), 'error')
  })

  it('cannot be told anything meanwhile: that is for the next turn', async (t) => {
    const { driver, session, run } = await stage(t, `t.text('working'); await t.cancelled`)
    assert.equal((await driver.describe()).steer, 'restart')
    const turn = run()
    await turn.until(says('working'))
    const steered = session.steer?.(aMessage('m1', 'Stop that.'))
    await assert.rejects(steered ?? Promise.resolve(), (error: unknown) => EvenerError.is(error, 'unsupported'))
    await session.cancel()
    await turn.all
  })
})

describe('an agent that fails', () => {
  it('by dying in the middle of a turn: one error with its last words, and the call it left is closed', async (t) => {
    const body = `
      t.call('c1', { title: 'make', kind: 'execute', status: 'in_progress', rawInput: { command: 'make' } })
      console.error('out of memory')
      process.exit(3)`
    const { run } = await stage(t, body)
    const events = await run().all
    assert.equal(errorOf(events).code, 'exit-3')
    assert.match(errorOf(events).message, /out of memory/)
    assert.equal(resultsOf(events).length, 1)
    assert.equal(finishOf(events), 'error')
  })

  it('by ending as if all were well', async (t) => {
    const { run } = await stage(t, `process.exit(0)`)
    const events = await run().all
    assert.equal(errorOf(events).code, 'exit-0')
    assert.equal(finishOf(events), 'error')
  })

  it('by answering with an error: the next turn can go on', async (t) => {
    const error = { code: -32603, message: 'Internal error', data: { details: 'bad key' } }
    const { run } = await stage(t, `if (t.count === 1) return { error: ${JSON.stringify(error)} }; t.text('Better.')`)
    const events = await run().all
    assert.deepEqual(errorOf(events), { code: '-32603', message: 'Internal error: bad key' })
    assert.equal(textOf(await run().all), 'Better.')
  })

  it('because nobody has logged in, says how to', async (t) => {
    const agent = {
      refuse: { 'session/new': { code: -32000, message: 'Authentication required' } },
      authMethods: [{ id: 'login', name: 'Log in', description: 'Run `agent login` in the terminal' }],
    }
    const { run } = await stage(t, '', { agent })
    const error = errorOf(await run().all)
    assert.equal(error.code, 'auth-required')
    assert.match(error.message, /Run `agent login` in the terminal/)
  })

  it('because it speaks another version of the protocol, says so', async (t) => {
    const { run } = await stage(t, '', { agent: { protocolVersion: 2 } })
    const error = errorOf(await run().all)
    assert.equal(error.code, 'unsupported')
    assert.match(error.message, /speaks version 2/)
  })

  it('because it is not there, says so', async (t) => {
    const { run } = await stage(t, '', { command: '/nowhere/agent' })
    assert.match(errorOf(await run().all).message, /nowhere/)
  })

  it('in its output only loses nothing: noise, half JSON, other JSON and updates nobody knows are unknown', async (t) => {
    const body = `
      t.raw('Loading model...\\n{"half": \\n[1,2]\\n{"jsonrpc":"2.0","id":99,"result":{}}\\n')
      t.update('from_the_future', { value: 1 })
      t.notify('session/telemetry', { a: 1 })
      t.update('agent_message_chunk', { content: { type: 'image', data: '', mimeType: 'image/png' } })
      t.text('Still here.')`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.equal(textOf(events), 'Still here.')
    assert.deepEqual(brief(host.activity), [...Array<string>(6).fill('unknown'), 'agent: Still here.'])
  })

  it('by a banner before its first message is understood all the same', async (t) => {
    const { host, run } = await stage(t, `t.text('Hello.')`, { agent: { banner: 'Welcome!\n' } })
    assert.equal(textOf(await run().all), 'Hello.')
    assert.deepEqual(brief(host.activity), ['unknown', 'agent: Hello.'])
  })
})

describe('a session of the agent', () => {
  const binding: Binding = { agentId: 'acp', nativeId: 'old', syncedTo: 0, extra: { settled: true } }
  const past = [
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Before' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Long ago' } },
    { sessionUpdate: 'tool_call', toolCallId: 'old', title: 'old', status: 'completed' },
  ]

  it('is loaded, and its past is not told again', async (t) => {
    const agent = { capabilities: { loadSession: true }, past }
    const { dir, host, run } = await stage(t, `t.text('in ' + t.session)`, { agent, binding })
    const events = await run().all
    assert.equal(textOf(events), 'in old')
    assert.deepEqual(brief(host.activity), ['agent: in old'])
    assert.deepEqual(await heard(dir), ['initialize', 'session/load', 'session/prompt'])
  })

  it('is resumed where the agent can, which shows no past', async (t) => {
    const agent = { capabilities: { loadSession: true, sessionCapabilities: { resume: {} } }, past }
    const { dir, run } = await stage(t, `t.text('in ' + t.session)`, { agent, binding })
    assert.equal(textOf(await run().all), 'in old')
    assert.deepEqual(await heard(dir), ['initialize', 'session/resume', 'session/prompt'])
  })

  it('that is gone is replaced by a new one, which is then bound', async (t) => {
    const agent = {
      capabilities: { loadSession: true },
      refuse: { 'session/load': { code: -32002, message: 'Resource not found' } },
    }
    const { host, run } = await stage(t, `t.text('in ' + t.session)`, { agent, binding })
    const events = await run().all
    assert.match(textOf(events), /^in session-/)
    assert.ok(events.every(({ parentToolCallId }) => parentToolCallId === undefined))
    assert.match(host.bindings.at(-1)?.nativeId ?? '', /^session-/)
    assert.ok(brief(host.activity).some((line) => line.startsWith('warning [new-session]')))
    assert.equal(textOf(await run().all), textOf(events), 'and gone on with')
  })

  it('of which it is not known where it ends is not gone on with', async (t) => {
    const agent = { capabilities: { loadSession: true } }
    const { dir, run } = await stage(t, `t.text('Hi.')`, { agent, binding: { ...binding, extra: {} } })
    await run().all
    assert.ok((await heard(dir)).includes('session/new'))
  })

  it('is given the model of the turn, and its own again when the turn does not say', async (t) => {
    const session = {
      configOptions: [{ id: 'model', category: 'model', type: 'select', currentValue: 'own', options: [] }],
    }
    const { dir, run } = await stage(t, `t.text('Hi.')`, { agent: { session } })
    await run({ model: 'other' }).all
    await run({ model: 'other' }).all
    await run().all
    const chosen = (await diaryOf(dir, 'heard')) as readonly {
      readonly method?: string
      readonly params?: { readonly value?: string }
    }[]
    assert.deepEqual(
      chosen.flatMap(({ method, params }) => (method === 'session/set_config_option' ? [params?.value] : [])),
      ['other', 'own'],
    )
  })

  it('cannot be given a model where the agent does not let it be chosen', async (t) => {
    const { run } = await stage(t, `t.text('Hi.')`)
    const error = errorOf(await run({ model: 'other' }).all)
    assert.equal(error.code, 'unsupported')
  })

  it('is told its MCP servers', async (t) => {
    const mcp = { files: { type: 'stdio', command: 'files', args: ['-v'], env: { A: '1' } } } as const
    const { dir, run } = await stage(t, `t.text('Hi.')`, { mcp: { files: { ...mcp.files, args: ['-v'] } } })
    await run().all
    const [, opened] = (await diaryOf(dir, 'heard')) as readonly {
      readonly params?: { readonly mcpServers?: unknown }
    }[]
    assert.deepEqual(opened?.params?.mcpServers, [
      { name: 'files', command: 'files', args: ['-v'], env: [{ name: 'A', value: '1' }] },
    ])
  })

  it('is given images only where the agent takes them', async (t) => {
    const image = { id: '1', type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    const input = [{ id: '0', type: 'text', text: 'Look.' } as const, image]
    const taking = await stage(t, `t.text('I see.')`, {
      agent: { capabilities: { promptCapabilities: { image: true } } },
    })
    assert.equal(textOf(await taking.run({ input }).all), 'I see.')
    const refusing = await stage(t, `t.text('I see.')`)
    assert.equal(errorOf(await refusing.run({ input }).all).code, 'unsupported')
  })
})

describe('what an agent can do', () => {
  it('is heard from itself', async (t) => {
    const { driver } = await stage(t, '', {
      agent: { capabilities: { loadSession: true, promptCapabilities: { image: true } } },
    })
    const { resume, images, version, governs } = await driver.describe()
    assert.deepEqual(
      { resume, images, version, governs },
      { resume: 'head', images: true, version: '1.2.3', governs: 'asks-only' },
    )
    const { driver: plain } = await stage(t, '')
    assert.equal((await plain.describe()).resume, 'none')
  })

  it('is not what a program says that does not speak the protocol', async (t) => {
    const { driver } = await stage(t, '', { command: process.execPath, args: ['-e', 'console.log("Hello.")'] })
    await assert.rejects(driver.describe(), (error: unknown) => EvenerError.is(error, 'unsupported'))
  })

  it('does not include keeping rules, as nobody knows what it does not ask about', async (t) => {
    const rules = { categories: { execute: 'deny' }, tools: { grep: 'ask' }, patterns: [] } as const
    const { run } = await stage(t, `t.text('Hi.')`)
    const error = errorOf(await run({ rules }).all)
    assert.equal(error.code, 'policy-unsupported')
    assert.match(error.message, /deny every execute tool; ask grep/)
    const { run: confined } = await stage(t, `t.text('Hi.')`, { allowUngoverned: true })
    assert.equal(textOf(await confined({ rules }).all), 'Hi.')
  })
})
