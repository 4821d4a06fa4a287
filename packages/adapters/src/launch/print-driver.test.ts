import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { aTurn, diary } from '../../test/launch/diary.ts'
import { bindingOf, errorOf, finishOf, printTurn, typesOf, warningsOf } from '../../test/launch/print-turn.ts'
import { program, scratch, standIn, standInProfile, survivors } from '../../test/launch/stand-in.ts'
import { printDriver, type PrintCliSpec } from './print-driver.ts'

describe('a turn', () => {
  it('a turn is one process that gets its task and whose lines are events', async (t) => {
    const { events, notes, dir } = await printTurn(t, `hello(); text('You said: ' + await stdin()); done()`)
    assert.deepEqual(typesOf(events), ['start', 'text-delta', 'finish'])
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, 'You said: Do it.')
    assert.equal(finishOf(events), 'stop')
    assert.equal(notes.processes.length, 1)
    assert.equal(notes.bindings.at(-1)?.nativeId, 'native-1')
    assert.equal(notes.bindings.at(-1)?.cwd, dir)
    assert.equal(notes.bindings.at(-1)?.version, '1.0.0')
  })

  it('gives what comes on standard error as warnings while the program runs', async (t) => {
    const body = `
      hello(); console.error('careful')
      const { existsSync } = await import('node:fs')
      while (!existsSync('heard')) await new Promise((resolve) => setTimeout(resolve, 5))
      text('went on'); done()`
    const notes = await printTurn(t, body, {
      host: (dir) => ({ noteActivity: () => void writeFile(join(dir, 'heard'), '') }),
    })
    assert.deepEqual(typesOf(notes.events), ['start', 'text-delta', 'finish'])
  })

  it('passes on to the host, in order, what no event represents', async (t) => {
    const { notes } = await printTurn(t, `hello(); text('a'); say({ type: 'new-thing' }); text('bb'); done()`)
    assert.deepEqual(
      notes.order.filter((entry) => !entry.startsWith('bind')),
      ['start', 'text-delta', 'unknown', 'text-delta', 'finish'],
    )
  })

  it('begins when the process was noted, and not before', async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { events } = await printTurn(
      t,
      `hello(); text('ready'); const task = await stdin(); text('task: ' + task); done()`,
      {
        host: () => ({
          noteProcess: async () => promise,
          noteActivity: () => undefined,
          bind: () => resolve(),
        }),
      },
    )
    assert.equal(events[2]?.type === 'text-delta' && events[2].text, 'task: Do it.')
  })

  it('fails when its process cannot be noted, and ends the process', async (t) => {
    const { events } = await printTurn(t, `hello(); forever()`, {
      host: () => ({
        noteProcess: async () => {
          throw new InspanError('fenced', 'The log is lost.')
        },
      }),
    })
    assert.deepEqual(errorOf(events), { code: 'fenced', message: 'The log is lost.' })
  })

  it('gives the program files that only it can read, and removes them afterwards', async (t) => {
    const launch = ({ dir }: { dir: string }): ReturnType<PrintCliSpec['launch']> => ({
      args: [join(dir, 'secret.txt'), dir],
      files: [{ name: 'secret.txt', content: 'abc' }],
    })
    const body = `
      const { readFileSync, statSync } = await import('node:fs')
      const [file, dir] = process.argv.slice(2)
      const mode = (path) => (statSync(path).mode & 0o777).toString(8)
      text([readFileSync(file, 'utf8'), mode(file), mode(dir), dir].join(' ')); process.exit(4)`
    const { events } = await printTurn(t, body, { spec: { launch } })
    const said = events[1]?.type === 'text-delta' ? events[1].text.split(' ') : []
    assert.deepEqual(said.slice(0, 3), ['abc', '600', '700'])
    assert.equal(existsSync(said[3] ?? ''), false)
  })

  it('sets variables for the program and removes others', async (t) => {
    const { events } = await printTurn(t, `text([process.env.A, process.env.B, process.env.C].join(' ')); done()`, {
      options: { env: { A: 'a', B: 'b', C: 'c' } },
      spec: { launch: () => ({ args: [], env: { B: undefined, C: 'd' } }) },
    })
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, 'a  d')
  })

  it('reads end of file when there is nothing to be read', async (t) => {
    const { events } = await printTurn(t, `text('[' + await stdin() + ']'); done()`, {
      spec: { launch: () => ({ args: [] }) },
    })
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, '[]')
  })

  it('takes a prompt that fills the pipe many times over', async (t) => {
    const text = 'x'.repeat(3_000_000)
    const { events } = await printTurn(t, `text(String((await stdin()).length)); done()`, {
      spec: { launch: () => ({ args: [], stdin: text }) },
    })
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, '3000000')
  })

  it('continues when the program ends without reading its task', async (t) => {
    const { events } = await printTurn(t, `process.stdin.destroy(); hello(); done(); process.exit(0)`, {
      spec: { launch: () => ({ args: [], stdin: 'x'.repeat(3_000_000) }) },
    })
    assert.equal(finishOf(events), 'stop')
  })

  it('loses nothing of a flood on both streams, however slowly it is taken', async (t) => {
    const body = `
      hello()
      for (let n = 0; n < 3000; n++) { text('line ' + n); console.error('warning ' + n) }
      done()`
    const { events, notes } = await printTurn(t, body)
    const texts = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
    assert.deepEqual(
      texts,
      Array.from({ length: 3000 }, (_, n) => `line ${n}`),
    )
    assert.deepEqual(
      warningsOf(notes),
      Array.from({ length: 3000 }, (_, n) => `warning ${n}`),
    )
  })
})

describe('a turn that fails', () => {
  it('has one error with the program’s own output when it exits with a code', async (t) => {
    const { events } = await printTurn(t, `console.error('cannot find the config'); process.exit(3)`)
    const { code, message } = errorOf(events)
    assert.equal(code, 'exit-3')
    assert.match(message, /cannot find the config/)
    assert.equal(finishOf(events), 'error')
  })

  it('has an error when it exits with a code and prints nothing', async (t) => {
    const { events } = await printTurn(t, `process.exit(3)`)
    assert.equal(errorOf(events).code, 'exit-3')
  })

  it('has an error when the program is killed, and keeps the half line it was printing', async (t) => {
    const body = `process.stdout.write('{"type":"thread.sta', () => process.kill(process.pid, 'SIGKILL')); forever()`
    const { events, notes } = await printTurn(t, body)
    assert.equal(errorOf(events).code, 'SIGKILL')
    assert.ok(notes.activity.some((event) => event.type === 'unknown' && event.raw === '{"type":"thread.sta'))
  })

  it('reports what is wrong when the program cannot be started', async (t) => {
    const { events, notes } = await printTurn(t, `hello()`, { options: { cwd: '/nowhere/at/all' } })
    const { code, message } = errorOf(events)
    assert.equal(code, 'cwd-not-found')
    assert.match(message, /\/nowhere\/at\/all/)
    assert.equal(notes.processes.length, 0)
    assert.deepEqual(typesOf(events), ['start', 'error', 'finish'])
  })

  it('does not start under rules that the program cannot keep', async (t) => {
    const { events, notes } = await printTurn(t, `hello()`, {
      spec: {
        launch: () => {
          throw new InspanError('policy-unsupported', 'It cannot.', { details: { rules: ['deny x'] } })
        },
      },
    })
    assert.equal(errorOf(events).code, 'policy-unsupported')
    const error = events.find((event) => event.type === 'error')
    assert.deepEqual(error?.type === 'error' && error.error.details, { rules: ['deny x'] })
    assert.equal(notes.processes.length, 0)
  })

  it('begins a new session if it cannot continue its own, or fails with `strict`', async (t) => {
    const binding = bindingOf({ anchor: 'message-1' })
    const spec = { capabilities: { ...standIn().capabilities, resume: 'none' } } as const
    const instead = await printTurn(t, `hello()`, { spec, binding })
    assert.equal(finishOf(instead.events), 'stop')
    assert.ok(instead.notes.activity.some((event) => event.type === 'warning' && event.code === 'new-session'))
    const refused = await printTurn(t, `hello()`, { spec, binding, options: { strict: true } })
    const { code, message } = errorOf(refused.events)
    assert.equal(code, 'unsupported')
    assert.match(message, /it cannot resume a session/)
    assert.equal(refused.notes.processes.length, 0)
    const first = await printTurn(t, `hello()`, { spec, options: { strict: true } })
    assert.equal(finishOf(first.events), 'stop')
  })

  it('explains how to set a key when none was found', async (t) => {
    const body = `console.error('not logged in'); process.exit(1)`
    const without = await printTurn(t, body)
    assert.match(errorOf(without.events).message, /not logged in.*No key for Stand-in was found\. Set STAND_IN_KEY\./s)
    const withKey = await printTurn(t, body, { options: { env: { STAND_IN_KEY: 'k' } } })
    assert.doesNotMatch(errorOf(withKey.events).message, /No key/)
  })
})

describe('limits', () => {
  it('a program that prints much at once waits for room like any other', async (t) => {
    // In one chunk that fits a pipe, with more events than the queue holds, so that the consumer is waited for first.
    const body = `
      const line = (record) => JSON.stringify(record) + '\\n'
      const word = line({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'x' } })
      process.stdout.write(word.repeat(600) + line({ type: 'turn.completed' }))`
    let asked = 0
    const room = (): undefined => void asked++
    const { events } = await printTurn(t, body, { options: { room } })
    assert.equal(finishOf(events), 'stop')
    assert.ok(asked > 0)
  })

  it('a silence is a warning, and the program continues', async (t) => {
    const body = `
      hello()
      const { existsSync } = await import('node:fs')
      while (!existsSync('heard')) await new Promise((resolve) => setTimeout(resolve, 5))
      text('awake'); done()`
    const seen: string[] = []
    const { events } = await printTurn(t, body, {
      options: { stallMs: 50 },
      host: (dir) => ({
        noteActivity: ({ events: [event] }) => {
          if (event?.type === 'warning') seen.push(event.code ?? '')
          void writeFile(join(dir, 'heard'), '')
        },
      }),
    })
    assert.equal(seen[0], 'stall')
    assert.equal(finishOf(events), 'stop')
  })

  it('a silence ends the turn if that was asked for', async (t) => {
    const { events, notes } = await printTurn(t, `hello(); forever()`, { options: { stallMs: 50, onStall: 'abort' } })
    assert.equal(errorOf(events).code, 'stall')
    assert.equal(finishOf(events), 'error')
    assert.deepEqual(warningsOf(notes), ['stall'])
  })

  it('a program that is being stopped causes no more warnings, whatever it prints and however long it takes', async (t) => {
    const { notes } = await printTurn(t, `process.on('SIGTERM', hello); hello(); forever()`, {
      options: { stallMs: 500, onStall: 'abort' },
      spec: { profile: standInProfile({ stop: { signal: 'SIGTERM', graceMs: 2000 } }) },
    })
    assert.deepEqual(warningsOf(notes), ['stall'])
  })

  it('retries without end are ended by the deadline, with one error', async (t) => {
    const body = `
      hello()
      setInterval(() => say({ type: 'error', message: 'Reconnecting... waiting for network' }), 5)
      process.on('SIGTERM', () => { say({ type: 'turn.failed', error: { message: 'interrupted' } }); process.exit(1) })`
    const { events } = await printTurn(t, body, { options: { deadlineMs: 1500 } })
    assert.equal(errorOf(events).code, 'deadline')
    assert.equal(finishOf(events), 'error')
  })

  it('a deadline ends a program that does not listen to signals', async (t) => {
    const { events } = await printTurn(t, `process.on('SIGTERM', () => {}); hello(); forever()`, {
      options: { deadlineMs: 1000 },
      spec: { profile: standInProfile({ stop: { signal: 'SIGTERM', graceMs: 100 } }) },
    })
    assert.equal(errorOf(events).code, 'deadline')
  })
})

describe('native sessions', () => {
  it('are bound at once and at every anchor, never ahead of what was taken', async (t) => {
    const { notes } = await printTurn(t, `hello(); text('a'); text('bb'); done(5)`, {
      spec: { anchorOf: (event) => (event.type === 'text-delta' ? event.native?.itemId : undefined) },
    })
    assert.deepEqual(notes.order, [
      'bind native-1 -',
      'start',
      'text-delta',
      'bind native-1 item_1',
      'text-delta',
      'bind native-1 item_2',
      'finish',
    ])
    assert.equal(notes.bindings.at(-1)?.usageTotal?.inputTokens, 5)
  })

  it('are resumed with what they have used already', async (t) => {
    const usageTotal = { inputTokens: 100, outputTokens: 100, totalTokens: 200, reasoningTokens: 0 }
    const { events, notes } = await printTurn(t, `hello(); text(process.argv.slice(2).join(' ')); done(150)`, {
      binding: bindingOf({
        extra: { settled: true },
        usageTotal: { ...usageTotal, cachedInputTokens: 0, cacheWriteInputTokens: 0, costUsd: 0 },
      }),
    })
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, 'resume native-1')
    const finish = events.at(-1)
    assert.equal(finish?.type === 'finish' && finish.usage?.inputTokens, 50)
    assert.equal(notes.bindings.at(-1)?.usageTotal?.inputTokens, 150)
    assert.equal(notes.bindings.at(-1)?.syncedTo, 7)
  })

  it('native sessions that may have continued unseen are not resumed at their end, and a warning reports that', async (t) => {
    const { events, notes } = await printTurn(t, `hello(); text('[' + process.argv.slice(2) + ']'); done()`, {
      binding: bindingOf(),
    })
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, '[]')
    assert.deepEqual(warningsOf(notes), ['new-session'])
  })

  it('native sessions that are new get what was said so far before the prompt', async (t) => {
    const { events } = await printTurn(t, `hello(); text(await stdin()); done()`, {
      host: () => ({
        history: async function* () {
          const parts = [{ id: '0', type: 'text', text: 'Said before.' }] as const
          yield { id: 'm', role: 'user', order: 1, at: 1, state: 'done', run: 'earlier', parts }
        },
      }),
    })
    const said = events[1]?.type === 'text-delta' ? events[1].text : ''
    assert.match(said, /^<conversation>[^]*Said before\.[^]*<\/conversation>\n\nDo it\.$/)
  })

  it('continue from turn to turn in one session', async (t) => {
    const dir = await scratch(t)
    const notes = diary()
    const bin = await program(dir, `hello(); text('[' + process.argv.slice(2) + ']'); done()`)
    const session = await printDriver(standIn(), { bin, cwd: dir }).open(null, notes.host)
    const said: string[] = []
    for (let turn = 0; turn < 2; turn++) {
      for await (const event of session.run(aTurn)) if (event.type === 'text-delta') said.push(event.text)
    }
    assert.deepEqual(said, ['[]', '[resume,native-1]'])
    await session.close()
  })

  it('are looked up afterwards for programs that do not report them', async (t) => {
    const { notes } = await printTurn(t, `text('hi'); done()`, { spec: { sessionOf: async () => 'looked-up' } })
    assert.deepEqual(
      notes.bindings.map(({ nativeId }) => nativeId),
      ['looked-up'],
    )
  })

  it('native sessions that cannot be looked up give a warning and do not change the outcome of the turn', async (t) => {
    const sessionOf = async (): Promise<never> => {
      throw new InspanError('io', 'The database is locked.')
    }
    const good = await printTurn(t, `text('hi'); done()`, { spec: { sessionOf } })
    assert.equal(finishOf(good.events), 'stop')
    assert.deepEqual(warningsOf(good.notes), ['session-look-up'])
    assert.deepEqual(good.notes.bindings, [])
    const bad = await printTurn(t, `console.error('no model'); process.exitCode = 1`, { spec: { sessionOf } })
    assert.match(errorOf(bad.events).message, /no model/)
  })
})

describe('the driver', () => {
  it('reports which output of an untested version was not understood', async (t) => {
    const { notes } = await printTurn(t, `hello(); say({ type: 'new-thing' }); done()`, {
      spec: { profile: standInProfile({ knownVersions: ['2.0.0'] }) },
    })
    const warning = notes.activity.find((event) => event.type === 'warning')
    assert.equal(warning?.code, 'untested-version')
    assert.match(warning?.message ?? '', /1\.0\.0 .*\(2\.0\.0\): 1 of 3 lines/)
  })

  it('rejects to open when the program is not there, and still describes it', async (t) => {
    const driver = printDriver(standIn(), { bin: join(await scratch(t), 'nothing') })
    await assert.rejects(driver.open(null, diary().host), (error) => InspanError.is(error, 'not-found'))
    assert.equal((await driver.describe()).version, undefined)
  })

  it('describes the installed version', async (t) => {
    const bin = await program(await scratch(t), '')
    assert.equal((await printDriver(standIn(), { bin }).describe()).version, '1.0.0')
  })

  it('runs one turn at a time, and none after it was closed', async (t) => {
    const dir = await scratch(t)
    const notes = diary()
    const driver = printDriver(standIn(), { bin: await program(dir, `hello(); text('a'); forever()`), cwd: dir })
    const session = await driver.open(null, notes.host)
    const first = session.run(aTurn)[Symbol.asyncIterator]()
    await first.next()
    const second = session.run(aTurn)[Symbol.asyncIterator]()
    await assert.rejects(second.next(), (error) => InspanError.is(error, 'misuse'))
    await session.close()
    const third = session.run(aTurn)[Symbol.asyncIterator]()
    await assert.rejects(third.next(), (error) => InspanError.is(error, 'closed'))
    assert.equal(await survivors(notes), 0)
  })

  it('records a turn in the given place', async (t) => {
    const recordings = await scratch(t)
    await printTurn(t, `hello(); text('hi'); done()`, {
      options: { record: ({ turnId }) => ({ dir: join(recordings, turnId) }) },
    })
    const events = await readFile(join(recordings, aTurn.turnId, 'events.jsonl'), 'utf8')
    assert.match(events, /^\{"type":"agent","message":"hi",[^\n]*\}\n$/)
  })
})
