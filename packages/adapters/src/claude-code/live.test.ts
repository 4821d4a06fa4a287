import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { InspanError, type Answer } from '@inspan/protocol'
import type { Binding } from '@inspan/protocol/driver'
import { aTurn } from '../../test/launch/diary.ts'
import { scratch, survivors } from '../../test/launch/stand-in.ts'
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
} from '../../test/live/live-host.ts'
import { openStage, testLiveSession, type SessionStage } from '../../test/live/session-contract.ts'
import { diaryOf, standInProgram } from '../../test/live/stand-in-program.ts'
import { claudeCodeLiveDialect } from './live-dialect.ts'
import { claudeCodeLive, type ClaudeLiveOptions } from './live.ts'

interface StageOptions extends ClaudeLiveOptions {
  readonly host?: LiveHost
  readonly binding?: Binding
}

/** A session with a stand-in that executes the body in every turn. Nothing of it is left after the test. */
async function stage(t: TestContext, body: string, options: StageOptions = {}): Promise<SessionStage> {
  const { host = liveHost(), binding = null, ...rest } = options
  const dir = await scratch(t)
  const bin = await standInProgram(dir, 'claude', body)
  const driver = claudeCodeLive({ bin, cwd: dir, env: { ANTHROPIC_API_KEY: 'any' }, ...rest })
  return openStage(t, dir, driver, { host, binding })
}

async function heard(dir: string): Promise<readonly string[]> {
  return (await diaryOf(dir, 'heard')).map((record) => JSON.stringify(record))
}

const SESSION = '11111111-2222-4333-8444-555555555555'
const TOUCH = `await t.tool('Bash', { command: 'touch a', description: 'Touches' })`

testLiveSession({
  agentId: 'claude-code',
  dialect: claudeCodeLiveDialect,
  stage,
  touch: TOUCH.replace('await ', ''),
  unknownRecord: `t.print({ type: 'brand_new' })`,
  isRecord: /^\{.*"type":/,
  answersIn: async (dir) => (await heard(dir)).filter((line) => line.includes('behavior')),
})

describe('a call that a person is asked about', () => {
  const answered = async (t: TestContext, answer: Answer): Promise<readonly string[]> => {
    const { host, run } = await stage(t, TOUCH)
    const turn = run()
    const ask = await host.nextAsk()
    ask.answer(answer)
    const events = await turn.all
    assert.equal(finishOf(events), 'stop')
    return resultsOf(events)
  }

  it('runs when it is approved', async (t) => {
    assert.deepEqual(await answered(t, APPROVE), ['ran {"command":"touch a","description":"Touches"}'])
  })

  it('does not run when it is declined, and the agent gets the reason', async (t) => {
    assert.deepEqual(await answered(t, { decision: 'decline', reason: 'Not here.' }), ['✗ Not here.'])
  })

  it('reports the current folder of the shell, which is not taken for the project', async (t) => {
    const { dir, host, run } = await stage(t, `await t.ask('Bash', { command: 'ls' }, process.cwd() + '/sub')`)
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.deepEqual(request.subject.args, { command: 'ls', cwd: join(dir, 'sub') })
    assert.equal(request.payload?.['cwd'], dir)
    answer(APPROVE)
    await turn.all
    assert.doesNotMatch((await heard(dir)).find((line) => line.includes('behavior')) ?? '', /cwd/)
  })

  it('is answered for this call only, whatever the program suggests to remember', async (t) => {
    const { dir, host, run } = await stage(t, TOUCH)
    const turn = run()
    const ask = await host.nextAsk()
    ask.answer({ decision: 'approve', remember: 'tool' })
    await turn.all
    const answers = (await heard(dir)).filter((line) => line.includes('behavior'))
    assert.equal(answers.length, 1)
    assert.doesNotMatch(answers[0] ?? '', /updatedPermissions/)
  })

  it('may wait together with another, and each gets its own answer', async (t) => {
    const { host, run } = await stage(
      t,
      `await Promise.all([t.tool('Read', { file_path: 'a' }), t.tool('Read', { file_path: 'b' })])`,
    )
    const turn = run()
    const asks = [await host.nextAsk(), await host.nextAsk()]
    for (const { request, answer } of asks) {
      answer(request.subject.args?.['path'] === 'b' ? { decision: 'decline', reason: 'Not b.' } : APPROVE)
    }
    assert.deepEqual([...resultsOf(await turn.all)].sort(), ['ran {"file_path":"a"}', '✗ Not b.'])
  })

  it('is declined when nobody can be asked after all', async (t) => {
    const host = liveHost(() => ASK, { ask: () => Promise.reject(new Error('closed')) })
    const { run } = await stage(t, TOUCH, { host })
    assert.deepEqual(resultsOf(await run().all), ['✗ Nobody could be asked.'])
  })
})

describe('rules', () => {
  it('allow without asking, also what the program itself would have asked', async (t) => {
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { run } = await stage(t, TOUCH, { host })
    assert.deepEqual(resultsOf(await run().all), ['ran {"command":"touch a","description":"Touches"}'])
    assert.deepEqual(host.asked, [])
  })

  it('deny without asking, also what the program itself would have allowed', async (t) => {
    const host = liveHost(({ toolName }) =>
      toolName === 'read_file' ? { policy: 'deny', reason: 'No reading.' } : { policy: 'allow', reason: '' },
    )
    const { run } = await stage(t, `await t.tool('Read', { file_path: 'a' })`, { host })
    assert.deepEqual(resultsOf(await run().all), ['✗ No reading.'])
  })

  it('may name a tool as the program does', async (t) => {
    const host = liveHost(({ toolName }) =>
      toolName === 'Bash' ? { policy: 'deny', reason: 'No Bash.', rule: 'Bash' } : { policy: 'allow', reason: '' },
    )
    const { run } = await stage(t, TOUCH, { host })
    assert.deepEqual(resultsOf(await run().all), ['✗ No Bash.'])
  })

  it('apply even if they were set while a person was deciding', async (t) => {
    let isDenied = false
    const host = liveHost(() => (isDenied ? { policy: 'deny', reason: 'Not any more.' } : ASK))
    const { run } = await stage(t, TOUCH, { host })
    const turn = run()
    const ask = await host.nextAsk()
    isDenied = true
    ask.answer(APPROVE)
    assert.deepEqual(resultsOf(await turn.all), ['✗ Not any more.'])
  })

  it('ask nobody about the bookkeeping of the program', async (t) => {
    const { host, run } = await stage(t, `await t.tool('TaskCreate', { subject: 'x' })`)
    assert.deepEqual(resultsOf(await run().all), ['ran {"subject":"x"}'])
    assert.deepEqual(host.asked, [])
  })
})

describe('a question of the agent', () => {
  const QUESTIONS = `{ questions: [
    { question: 'Which color?', header: 'Color', options: [{ label: 'Red' }, { label: 'Blue' }], multiSelect: false },
    { question: 'Which sizes?', header: 'Size', options: [{ label: 'S' }, { label: 'L' }], multiSelect: true },
  ] }`

  it('waits for an answer in words, not for an approval', async (t) => {
    const { host, run } = await stage(
      t,
      `const { updatedInput } = await t.ask('AskUserQuestion', ${QUESTIONS}); t.say(JSON.stringify(updatedInput.answers))`,
    )
    const turn = run()
    const { request, answer } = await host.nextAsk()
    assert.deepEqual([request.kind, request.description], ['question', 'Which color? Which sizes?'])
    answer({ decision: 'answer', value: { 'Which color?': 'Blue', Size: ['S', 'L'] } })
    const events = await turn.all
    assert.equal(textOf(events), '{"Which color?":"Blue","Which sizes?":"S, L"}')
    assert.ok(events.every(({ type }) => type !== 'tool-approval-request'))
  })

  it('may be a plan, which is sent back with feedback', async (t) => {
    const { host, run } = await stage(
      t,
      `const first = await t.ask('ExitPlanMode', { plan: 'One.' }); t.say(first.message)
       const second = await t.ask('ExitPlanMode', { plan: 'Two.' }); t.say(second.behavior)`,
    )
    const turn = run()
    const first = await host.nextAsk()
    assert.deepEqual([first.request.kind, first.request.payload?.['plan']], ['plan', 'One.'])
    first.answer({ decision: 'answer', value: { action: 'rejected', feedback: 'Too short.' } })
    const second = await host.nextAsk()
    second.answer(APPROVE)
    assert.equal(textOf(await turn.all), 'Too short.|allow')
  })

  it('an unknown kind of question is answered with an error that explains it', async (t) => {
    const { run } = await stage(t, `t.say((await t.request({ subtype: 'elicitation' })).error)`)
    assert.equal(textOf(await run().all), 'There is nobody for elicitation.')
  })
})

describe('a turn that is stopped', () => {
  it('closes a call that waits, and a late answer does nothing', async (t) => {
    const { dir, host, run, session } = await stage(t, TOUCH)
    const turn = run()
    const ask = await host.nextAsk()
    const receipt = await session.cancel()
    const events = await turn.all
    assert.equal(finishOf(events), 'other')
    assert.deepEqual(receipt, { how: 'clean', calls: [ask.request.subject.toolCallId], orphansKilled: 0, queued: [] })
    ask.answer(APPROVE)
    assert.equal(await survivors(host), 0)
    assert.ok((await heard(dir)).every((line) => !line.includes('behavior')))
  })

  it('in the middle of a tool: nothing is left running, not even what has left its session', async (t) => {
    const { host, run, session } = await stage(
      t,
      `await t.ask('Bash', { command: 'sleep' }); t.longTool(); t.say('running'); await t.interrupted`,
      { host: liveHost(() => ({ policy: 'allow', reason: '' })) },
    )
    const turn = run()
    await turn.until(says('running'))
    const receipt = await session.cancel()
    assert.equal(await survivors(host), 0)
    assert.equal(receipt.calls.length, 1)
    assert.equal(finishOf(await turn.all), 'other')
  })

  it('by the signal of the host ends the same way', async (t) => {
    const { host, run } = await stage(t, `t.say('working'); await t.interrupted`)
    const turn = run()
    await turn.until(says('working'))
    host.abort.abort()
    assert.equal(finishOf(await turn.all), 'other')
    assert.equal(await survivors(host), 0)
  })

  it('names the messages that were not delivered', async (t) => {
    const { run, session } = await stage(t, `t.say('working'); await t.queued(); t.say('queued'); await t.interrupted`)
    const turn = run()
    await turn.until(says('working'))
    await session.steer?.(aMessage('m1', 'and this'))
    await turn.until(says('queued'))
    assert.deepEqual((await session.cancel()).queued, ['m1'])
    await turn.all
  })

  it('leaves nothing behind when nobody reads its events any more', async (t) => {
    const { host, session } = await stage(t, `t.say('working'); await t.interrupted`)
    for await (const event of session.run(aTurn)) if (says('working')(event)) break
    assert.equal(await survivors(host), 0)
  })

  it('fails when its deadline has stopped it', async (t) => {
    const { host, run } = await stage(t, `await t.interrupted`, { deadlineMs: 300, interruptMs: 500 })
    const events = await run().all
    assert.equal(finishOf(events), 'error')
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'error' ? [event.code] : [])),
      ['deadline'],
    )
    assert.equal(await survivors(host), 0)
  })

  it('is continued by the next turn in another process, from the last recorded message', async (t) => {
    const { dir, host, run, session } = await stage(
      t,
      `t.say(t.prompt); if (t.prompt === 'Do it.') { t.say('working'); await t.interrupted }`,
    )
    const turn = run()
    await turn.until(says('working'))
    await session.cancel()
    await turn.all
    const { anchor } = host.bindings.at(-1) ?? {}
    assert.equal(finishOf(await run({ input: [{ id: '0', type: 'text', text: 'Again.' }] }).all), 'stop')
    const [, second] = (await diaryOf(dir, 'argv')) as readonly (readonly string[])[]
    assert.equal(second?.[second.indexOf('--resume') + 1], SESSION)
    assert.equal(second?.[second.indexOf('--resume-session-at') + 1], anchor)
  })
})

describe('a process', () => {
  it('takes many turns, each with its own start, usage and finish', async (t) => {
    const { dir, host, run } = await stage(t, `t.say('said ' + t.prompt)`)
    const first = await run().all
    const second = await run({ turnId: 'turn-2', input: [{ id: '0', type: 'text', text: 'More.' }] }).all
    for (const events of [first, second]) {
      assert.equal(events.filter(({ type }) => type === 'start').length, 1)
      const last = events.at(-1)
      assert.equal(last?.type === 'finish' && last.usage?.totalTokens, 15)
    }
    assert.equal(textOf(second), 'said More.')
    assert.equal((await diaryOf(dir, 'argv')).length, 1)
    assert.deepEqual(host.processes[0], host.processes[1])
    assert.equal(host.processes.length, 2)
    assert.equal(host.bindings.at(-1)?.nativeId, SESSION)
  })

  it('switches to another model without being restarted', async (t) => {
    const { dir, run } = await stage(t, `t.say('here')`)
    await run({ model: 'one' }).all
    await run({ model: 'two' }).all
    const argv = (await diaryOf(dir, 'argv')) as readonly (readonly string[])[]
    assert.equal(argv.length, 1)
    assert.equal(argv[0]?.[argv[0].indexOf('--model') + 1], 'one')
    assert.ok((await heard(dir)).some((line) => line.includes('{"subtype":"set_model","model":"two"}')))
  })

  it('is replaced when it needs other start options', async (t) => {
    const { dir, run } = await stage(t, `t.say('here')`)
    await run({ instructions: 'Be kind.' }).all
    await run({ instructions: 'Be brief.' }).all
    assert.equal((await diaryOf(dir, 'argv')).length, 2)
  })

  it('a process that has nothing to do for a while is ended, and the next turn has a new one', async (t) => {
    const { dir, host, run } = await stage(t, `t.say('here')`, { idleMs: 1 })
    await run().all
    while ((await survivors(host)) > 0) await pause(20)
    await run().all
    assert.equal((await diaryOf(dir, 'argv')).length, 2)
  })

  it('a process whose idle time is longer than a timer can hold is not ended at once', async (t) => {
    const warned: string[] = []
    const onWarning = ({ name }: Error): void => void warned.push(name)
    process.on('warning', onWarning)
    t.after(() => process.off('warning', onWarning))
    const { dir, run } = await stage(t, `t.say('here')`, { idleMs: Infinity })
    await run().all
    await run().all
    assert.equal((await diaryOf(dir, 'argv')).length, 1)
    assert.deepEqual(warned, [])
  })

  it('a process that was killed a moment before the turn is followed by another one, which continues its session', async (t) => {
    const { dir, host, run } = await stage(t, `t.say('here')`)
    await run().all
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await run({ runId: 'run-2' }).all
    assert.deepEqual([textOf(events), finishOf(events)], ['here', 'stop'])
    const started = await diaryOf(dir, 'argv')
    assert.equal(started.length, 2)
    assert.match(JSON.stringify(started[1]), /"--resume/)
    assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
  })

  it('a process that dies while a call waits has failed, and its question with it', async (t) => {
    const { dir, host, run } = await stage(
      t,
      `if (t.prompt === 'Do it.') { t.ask('Bash', { command: 'x' }); await t.steered(); process.exit(3) } t.say('back')`,
    )
    const turn = run()
    const ask = await host.nextAsk()
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await turn.all
    assert.equal(finishOf(events), 'error')
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'error' ? [event.code] : [])),
      ['SIGKILL'],
    )
    assert.equal(resultsOf(events).length, 1)
    ask.answer(APPROVE)
    assert.equal(textOf(await run({ input: [{ id: '0', type: 'text', text: 'Again.' }] }).all), 'back')
    assert.equal((await diaryOf(dir, 'argv')).length, 2)
  })

  it('a process that ends in the middle of a turn has failed even if it reports success', async (t) => {
    const { run } = await stage(
      t,
      `t.say('half'); process.stdout.write('', () => process.exit(0)); await t.interrupted`,
    )
    const events = await run().all
    assert.equal(finishOf(events), 'error')
    assert.equal(events.filter(({ type }) => type === 'error').length, 1)
  })

  it('is reported to the host before it gets its task', async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const host = liveHost(() => ASK, { noteProcess: () => promise })
    const { dir, run } = await stage(t, `t.say('here')`, { host })
    const turn = run()
    while ((await diaryOf(dir, 'argv')).length === 0) await pause(20)
    assert.deepEqual(await heard(dir), [])
    resolve()
    assert.equal(textOf(await turn.all), 'here')
  })
})

describe('a message while the agent works', () => {
  it('is delivered before the next call of the model', async (t) => {
    const { dir, run, session } = await stage(t, `t.say('working'); t.say('heard ' + (await t.steered()))`)
    const turn = run()
    await turn.until(says('working'))
    assert.equal(await session.steer?.(aMessage('m1', 'hurry')), 'injected')
    assert.equal(textOf(await turn.all), 'working|heard hurry')
    assert.ok((await heard(dir)).some((line) => line.includes('"priority":"next"')))
  })

  it('a message that comes after the last answer has begun is answered in the same turn', async (t) => {
    const { run, session } = await stage(t, `t.say('re ' + t.prompt); if (t.prompt === 'Do it.') await t.queued()`)
    const turn = run()
    await turn.until(says('re Do it.'))
    await session.steer?.(aMessage('m1', 'one more'))
    const events = await turn.all
    assert.equal(textOf(events), 're Do it.|re one more')
    assert.equal(finishOf(events), 'stop')
  })
})

describe('a native session', () => {
  const binding: Binding = { agentId: 'claude-code', nativeId: SESSION, syncedTo: 7, anchor: 'message-9' }
  const argvOf = async (t: TestContext, options: StageOptions): Promise<readonly string[]> => {
    const { dir, run } = await stage(t, `t.say('here')`, options)
    await run().all
    const [argv] = (await diaryOf(dir, 'argv')) as readonly (readonly string[])[]
    return argv ?? []
  }

  it('is resumed at our anchor', async (t) => {
    const argv = await argvOf(t, { binding })
    assert.deepEqual(argv.slice(argv.indexOf('--resume'), argv.indexOf('--resume') + 4), [
      '--resume',
      SESSION,
      '--resume-session-at',
      'message-9',
    ])
    assert.ok(!argv.includes('--fork-session'))
  })

  it('is forked by a fork of the thread, at the newest message that the thread holds', async (t) => {
    const host = liveHost(() => ASK, {
      history: async function* () {
        yield aMessage('b', 'not of this session')
        yield aMessage('a', 'said', { role: 'assistant', native: { sessionId: SESSION, messageId: 'message-4' } })
      },
    })
    const argv = await argvOf(t, { binding: { ...binding, origin: true }, host })
    assert.equal(argv[argv.indexOf('--resume-session-at') + 1], 'message-4')
    assert.ok(argv.includes('--fork-session'))
  })
})

describe('a native session that is lost', () => {
  it('is replaced by a new one, which gets what was said', async (t) => {
    const handovers: number[] = []
    const host = liveHost(() => ASK, {
      noteHandover: ({ messages }) => void handovers.push(messages),
      history: async function* () {
        yield aMessage('b', 'I heard.', { role: 'assistant', by: 'other' })
        yield aMessage('a', 'I looked.', { role: 'assistant', native: { sessionId: SESSION, messageId: 'message-9' } })
      },
    })
    const binding: Binding = { agentId: 'claude-code', nativeId: SESSION, syncedTo: 0, anchor: 'message-9' }
    const { dir, run } = await stage(t, `t.say(t.prompt)`, { binding, host, env: { STAND_IN_RESUMES: 'never' } })
    const events = await run().all
    assert.equal(finishOf(events), 'stop')
    assert.match(textOf(events), /I looked\.[^]*I heard\.[^]*Do it\.$/)
    assert.deepEqual(handovers, [2])
    const warnings = host.activity.flatMap((event) => (event.type === 'warning' ? [event] : []))
    assert.deepEqual(
      warnings.map(({ code, message }) => [code, message]),
      [
        [
          'new-session',
          'Claude Code begins a new session, because its session could not be resumed (No message found with message.uuid of: message-9).',
        ],
      ],
    )
    assert.equal((await diaryOf(dir, 'argv')).length, 2)
  })
})

describe('what others said', () => {
  it('comes before the prompt', async (t) => {
    const host = liveHost(() => ASK, {
      history: async function* () {
        yield aMessage('b', 'Do it.', { run: aTurn.runId })
        yield aMessage('a', 'I looked.', { role: 'assistant', by: 'other' })
      },
    })
    const { run } = await stage(t, `t.say(t.prompt)`, { host })
    assert.match(textOf(await run().all), /^<conversation>[^]*I looked\.[^]*<\/conversation>\n\nDo it\.$/)
  })
})

describe('a recording of a turn', () => {
  it('a recording of a turn that cannot be begun fails the turn before the program gets any input, and the next turn works', async (t) => {
    const records = await scratch(t)
    const { dir, host, run } = await stage(t, `t.say('hi')`, {
      record: ({ turnId }) => ({ dir: turnId === 'bad' ? '/dev/null/not-a-directory' : join(records, turnId) }),
    })
    const refused = async (): Promise<void> => {
      const events = await run({ turnId: 'bad' }).all
      const errors = events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
      assert.equal(errors.length, 1)
      assert.match(errors[0] ?? '', /not-a-directory/)
      assert.equal(finishOf(events), 'error')
    }
    await refused()
    assert.equal(host.processes.length, 0)
    assert.equal(finishOf(await run().all), 'stop')
    const told = await heard(dir)
    await refused()
    assert.deepEqual(await heard(dir), told)
  })

  it('is not started if its events cannot be written', async (t) => {
    const records = await scratch(t)
    await mkdir(join(records, 'events.jsonl'))
    const { host, run } = await stage(t, `t.say('hi')`, { record: () => ({ dir: records }) })
    assert.equal(finishOf(await run().all), 'error')
    assert.equal(host.processes.length, 0)
  })
})

describe('a session', () => {
  it('takes one turn at a time and none when it is closed', async (t) => {
    const { run, session } = await stage(t, `t.say('working'); await t.interrupted`)
    const turn = run()
    await turn.until(says('working'))
    await assert.rejects(run().all, (error) => InspanError.is(error) && error.code === 'misuse')
    await session.close()
    assert.equal(finishOf(await turn.all), 'other')
    await assert.rejects(run().all, (error) => InspanError.is(error) && error.code === 'closed')
  })
})
