import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { InspanError, type JsonObject, type StoredMessage } from '@inspan/protocol'
import type { AgentSession, Binding, Turn } from '@inspan/protocol/driver'
import { aTurn } from '../../test/launch/diary.ts'
import { errorOf, warningsOf } from '../../test/launch/print-turn.ts'
import { scratch, survivors } from '../../test/launch/stand-in.ts'
import { aMessage, finishOf, liveHost, take, textOf, type LiveHost, type Taking } from '../../test/live/live-host.ts'
import type { Refusals } from '../../test/live/pi-stand-in.ts'
import { diaryOf, standInProgram } from '../../test/live/stand-in-program.ts'
import { piLive, type PiLiveOptions } from './live.ts'

interface Stage {
  readonly dir: string
  readonly host: LiveHost
  readonly session: AgentSession
  readonly run: (more?: Partial<Turn>) => Taking
}

interface StageOptions extends PiLiveOptions {
  readonly binding?: Binding
  readonly refusals?: Refusals
  /** Session files, by the id of their session. */
  readonly sessions?: Readonly<Record<string, string>>
  readonly history?: readonly StoredMessage[]
}

/** A session with a stand-in that executes the body for every prompt. Nothing of it is left after the test. */
async function stage(t: TestContext, body: string, options: StageOptions = {}): Promise<Stage> {
  const { binding = null, refusals = {}, sessions = {}, history = [], ...rest } = options
  const dir = await scratch(t)
  const bin = await standInProgram(dir, 'pi', body, refusals)
  await mkdir(join(dir, 'sessions'))
  for (const [id, text] of Object.entries(sessions)) await writeFile(join(dir, 'sessions', `2026_${id}.jsonl`), text)
  const host = liveHost(undefined, {
    history: async function* () {
      yield* history
    },
  })
  const env = { PI_CODING_AGENT_DIR: dir, OPENAI_API_KEY: 'any' }
  const session = await piLive({ bin, cwd: dir, env, ...rest }).open(binding, host.host)
  t.after(async () => {
    await session.close()
    assert.equal(await survivors(host), 0)
  })
  return { dir, host, session, run: (more) => take(session.run({ ...aTurn, ...more }), host) }
}

const heard = async (dir: string): Promise<readonly JsonObject[]> =>
  (await diaryOf(dir, 'heard')) as readonly JsonObject[]
const commands = async (dir: string): Promise<readonly unknown[]> => (await heard(dir)).map(({ type }) => type)

describe('a turn over the rpc mode of Pi', () => {
  it('is one prompt, until it has settled; the next goes to the same process', async (t) => {
    const { dir, host, run } = await stage(t, `t.say(t.count + ': ' + t.prompt)`)
    assert.equal(textOf(await run().all), '1: Do it.')
    assert.equal(textOf(await run({ runId: 'run-2' }).all), '2: Do it.')
    assert.deepEqual(await commands(dir), ['get_state', 'prompt', 'prompt'])
    assert.equal(host.bindings.at(-1)?.nativeId, 'native-1')
    assert.equal((await diaryOf(dir, 'argv')).length, 1)
  })

  it('changes the model when the turn wants another one', async (t) => {
    const { dir, run } = await stage(t, `t.say(t.model)`)
    await run().all
    assert.equal(textOf(await run({ runId: 'run-2', model: 'openai/gpt-9' }).all), 'openai/gpt-9')
    assert.equal(textOf(await run({ runId: 'run-3', model: 'gpt-10' }).all), 'openai/gpt-10')
    assert.equal((await commands(dir)).filter((type) => type === 'set_model').length, 2)
  })

  it('sends images along with the text', async (t) => {
    const { dir, run } = await stage(t, `t.say('seen')`)
    const image = { id: '1', type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    await run({ input: [{ id: '0', type: 'text', text: 'Look.' }, image] }).all
    const prompt = (await heard(dir)).find(({ type }) => type === 'prompt')
    assert.deepEqual(prompt?.['images'], [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }])
  })

  it('fails when the task is refused, with why', async (t) => {
    const { run } = await stage(t, ``, { refusals: { prompt: 'busy with itself' } })
    const events = await run().all
    assert.match(errorOf(events).message, /Pi refused to take the task: busy with itself/)
    assert.equal(finishOf(events), 'error')
  })

  it('names what to set when it has no key', async (t) => {
    const { run } = await stage(t, ``, {
      refusals: { prompt: 'No API key found for anthropic.' },
      env: { HOME: '/nowhere', PATH: process.env['PATH'] },
    })
    const { code, message } = errorOf(await run().all)
    assert.equal(code, 'auth-required')
    assert.match(message, /No key for Pi was found\. Set the key of your provider/)
  })
})

describe('what Pi prints that is no answer', () => {
  it('is unknown and stops nothing: noise, half lines, other records and answers nobody asked for', async (t) => {
    const body = `
      t.raw('Loading...\\n{"type":"respon\\n[1,2]\\nnull\\n')
      t.record({ id: 'nobody', type: 'response', command: 'fly', success: true })
      t.record({ type: 'response', success: false })
      t.record({ type: 'from_the_future', value: 1 })
      t.say('Still here.')`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.equal(textOf(events), 'Still here.')
    assert.equal(finishOf(events), 'stop')
    assert.ok(host.activity.filter(({ type }) => type === 'unknown').length >= 3)
  })

  it('dialogs of extensions are dismissed, shows of theirs are not answered', async (t) => {
    const body = `
      t.record({ type: 'extension_ui_request', id: 'd1', method: 'confirm', title: 'Sure?' })
      t.record({ type: 'extension_ui_request', id: 'd2', method: 'notify', message: 'Hi' })
      await t.dismissed
      t.say('asked')`
    const { dir, run } = await stage(t, body)
    await run().all
    const answers = (await heard(dir)).filter(({ type }) => type === 'extension_ui_response')
    assert.deepEqual(answers, [{ type: 'extension_ui_response', id: 'd1', cancelled: true }])
  })
})

describe('Pi that dies', () => {
  it('before it has answered fails the turn, with what it said', async (t) => {
    const { dir, run } = await stage(t, ``, { refusals: { get_state: null }, deadlineMs: 60_000 })
    const bin = join(dir, 'pi.mjs')
    const dies = `console.error('no disk'); process.exit(3)`
    await writeFile(bin, (await readFile(bin, 'utf8')).replace('await serve', `${dies}; await serve`))
    const events = await run().all
    assert.equal(errorOf(events).code, 'exit-3')
    assert.match(errorOf(events).message, /no disk/)
  })

  it('in the middle of a turn fails it; the next turn has another process', async (t) => {
    const { host, run } = await stage(t, `if (t.prompt === 'Die.') process.exit(7); t.say('alive')`)
    const events = await run({ input: [{ id: '0', type: 'text', text: 'Die.' }] }).all
    assert.equal(errorOf(events).code, 'exit-7')
    assert.equal(textOf(await run({ runId: 'run-2' }).all), 'alive')
    assert.notEqual(host.processes[0]?.pid, host.processes[1]?.pid)
  })

  it('a moment before the turn is no failure of it: another process takes it', async (t) => {
    const { host, run } = await stage(t, `t.say('here')`)
    await run().all
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await run({ runId: 'run-2' }).all
    assert.deepEqual([textOf(events), finishOf(events)], ['here', 'stop'])
    assert.notEqual(host.processes.at(-1)?.pid, host.processes[0]?.pid)
  })

  it('with exit code 0 has failed as well', async (t) => {
    const { run } = await stage(t, `process.exit(0)`)
    assert.equal(errorOf(await run().all).code, 'exit-0')
  })
})

describe('a message while Pi works', () => {
  it('is delivered in the turn', async (t) => {
    const { run, session } = await stage(t, `t.say('begun'); t.say('heard ' + await t.steered())`)
    const turn = run()
    await turn.until((event) => event.type === 'text-delta')
    assert.equal(await session.steer?.(aMessage('m1', 'Turn left.')), 'injected')
    assert.equal(textOf(await turn.all), 'begun|heard Turn left.')
  })

  it('a message for Pi that came too late is sent as a prompt of its own, in the same turn', async (t) => {
    const body = `
      if (t.count > 1) { t.say('then: ' + t.prompt); return }
      t.say('begun')
      const late = await t.steered()
      t.queue(late)`
    const { dir, run, session } = await stage(t, body)
    const turn = run()
    await turn.until((event) => event.type === 'text-delta')
    await session.steer?.(aMessage('m1', 'One more thing.'))
    assert.equal(textOf(await turn.all), 'begun|then: One more thing.')
    assert.deepEqual((await commands(dir)).slice(-2), ['clear_queue', 'prompt'])
  })

  it('a message for Pi that was not delivered when the turn is stopped is returned', async (t) => {
    const body = `t.say('begun'); t.queue(await t.steered()); t.say('queued'); await t.aborted`
    const { dir, run, session } = await stage(t, body)
    const turn = run()
    await turn.until((event) => event.type === 'text-delta')
    await session.steer?.(aMessage('m1', 'Never heard.'))
    await turn.until((event) => event.type === 'text-delta' && event.text === 'queued')
    const { queued, how } = await session.cancel()
    assert.deepEqual([queued, how], [['m1'], 'clean'])
    assert.equal(finishOf(await turn.all), 'other')
    assert.deepEqual((await commands(dir)).slice(-2), ['clear_queue', 'abort'])
  })

  it('between turns is refused', async (t) => {
    const { run, session } = await stage(t, `t.say('done')`)
    await run().all
    await assert.rejects(session.steer?.(aMessage('m1', 'Hello?')) ?? Promise.resolve(), (error) =>
      InspanError.is(error, 'conflict'),
    )
  })
})

describe('a session of Pi', () => {
  const message = (id: string, parentId: string | null, role: string, timestamp: number): JsonObject => ({
    type: 'message',
    id,
    parentId,
    message: { role, content: [{ type: 'text', text: id }], timestamp },
  })
  const file = (cwd: string): string =>
    [
      { type: 'session', version: 3, id: 'old', cwd },
      message('u1', null, 'user', 1),
      message('a1', 'u1', 'assistant', 2),
      message('u2', 'a1', 'user', 3),
      message('a2', 'u2', 'assistant', 4),
    ]
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('')
  const binding = (more: Partial<Binding> = {}): Binding => ({ agentId: 'pi', nativeId: 'old', syncedTo: 1, ...more })

  async function resumed(t: TestContext, anchor: string, at: 'here' | 'elsewhere' = 'here'): Promise<Stage> {
    const made = await stage(t, `t.say(t.session)`, { binding: binding({ anchor }), sessions: { old: '' } })
    const cwd = at === 'here' ? made.dir : '/elsewhere'
    await writeFile(join(made.dir, 'sessions', '2026_old.jsonl'), file(cwd))
    return made
  }

  it('a session of Pi that ends at the anchor is switched to as it is', async (t) => {
    const { dir, run } = await resumed(t, '4')
    assert.equal(textOf(await run().all), 'old')
    assert.equal(await readFile(join(dir, 'sessions', '2026_old.jsonl'), 'utf8'), file(dir))
  })

  it('a session of Pi that continues after the anchor is moved back to it, and keeps what came after', async (t) => {
    const { dir, run } = await resumed(t, '2')
    assert.equal(textOf(await run().all), 'old')
    const text = await readFile(join(dir, 'sessions', '2026_old.jsonl'), 'utf8')
    assert.ok(text.startsWith(file(dir)))
    const last = JSON.parse(text.trim().split('\n').at(-1) ?? '') as JsonObject
    assert.deepEqual([last['type'], last['parentId']], ['custom', 'a1'])
  })

  it('a session of another directory is copied to this one', async (t) => {
    const { run, host } = await resumed(t, '4', 'elsewhere')
    const session = textOf(await run().all)
    assert.notEqual(session, 'old')
    assert.equal(host.bindings.at(-1)?.nativeId, session)
  })

  for (const [title, lost] of [
    ['that no longer holds the anchor', binding({ anchor: '99' })],
    ['that is gone', binding({ nativeId: 'gone', anchor: '4' })],
  ] as const) {
    it(`${title} is replaced by a new one, which gets what was said, with a warning`, async (t) => {
      const { run, host } = await stage(t, `t.say(t.session + ' ' + t.prompt)`, {
        binding: lost,
        sessions: { old: file('/work') },
        history: [aMessage('m1', 'Said before.', { run: 'earlier', native: { sessionId: lost.nativeId } })],
      })
      assert.match(textOf(await run().all), /^native-1 <conversation>[^]*Said before\.[^]*Do it\.$/)
      assert.deepEqual(warningsOf(host), ['new-session'])
      assert.equal(host.bindings.at(-1)?.nativeId, 'native-1')
    })
  }
})
