import assert from 'node:assert/strict'
import { appendFile, readFile, readdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { LineSplitter } from '@inspan/shell/run'
import { aTurn, diary, takeAll } from '../../test/launch/diary.ts'
import { program, scratch, standIn } from '../../test/launch/stand-in.ts'
import { claudeCodeDialect } from '../claude-code/mapper.ts'
import { codexDialect } from '../codex/mapper.ts'
import type { Dialect } from '../kit/mapper.ts'
import { normalize } from './normalize.ts'
import { printDriver, type PrintOptions } from './print-driver.ts'
import { openRecording, type RecordOptions } from './recording.ts'

const dialects = [codexDialect, claudeCodeDialect]

/** Reads the recording again and returns the events as they would be written. */
async function readAgain(dir: string): Promise<string> {
  const lines = (await readFile(join(dir, 'raw.jsonl'), 'utf8')).split('\n')
  const events = await Array.fromAsync(normalize(lines, { dialects, now: () => 0 }))
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}

async function assertReadsAgain(dir: string): Promise<string> {
  const recorded = await readFile(join(dir, 'events.jsonl'), 'utf8')
  assert.equal(await readAgain(dir), recorded)
  return recorded
}

async function recordedTurn(
  t: TestContext,
  body: string,
  more: PrintOptions & Partial<RecordOptions> = {},
): Promise<string> {
  const { redact, maxBytes, onError, ...options } = more
  const dir = await scratch(t)
  const recording = join(dir, 'recording')
  const notes = diary()
  const driver = printDriver(standIn(), {
    bin: await program(dir, body),
    cwd: dir,
    record: () => ({
      dir: recording,
      ...(redact === undefined ? {} : { redact }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(onError === undefined ? {} : { onError }),
    }),
    ...options,
  })
  const session = await driver.open(null, notes.host)
  await takeAll(session.run(aTurn), notes)
  await session.close()
  if (redact === undefined && maxBytes === undefined) {
    const live = notes.activity.map((event) => `${JSON.stringify(event)}\n`).join('')
    assert.equal(await readFile(join(recording, 'events.jsonl'), 'utf8'), live, 'what was seen is what was recorded')
  }
  return recording
}

describe('a recorded turn reads again exactly as it was', () => {
  const turns: Readonly<Record<string, [body: string, options?: PrintOptions]>> = {
    'when it went well': [`hello(); text('hi'); console.error('careful'); say({ type: 'strange' }); done()`],
    'when it failed': [`hello(); console.error('broken'); process.exit(3)`],
    'when it was killed': [`hello(); process.kill(process.pid, 'SIGKILL'); forever()`],
    'when it never started': [`hello()`, { cwd: '/nowhere/at/all' }],
    'when it was too slow': [`hello(); text('a'); forever()`, { deadlineMs: 1000 }],
    'when it was silent': [`hello(); forever()`, { stallMs: 50, onStall: 'abort' }],
    'when its bytes are no text': [
      `hello(); process.stdout.write(Buffer.from([0x7b, 0xff, 0xfe, 0x0a])); process.stderr.write(Buffer.from([0xc3, 0x28]))`,
    ],
    'when its lines end otherwise': [
      `process.stdout.write('\\uFEFF{"type":"thread.started","thread_id":"n"}\\r\\n\\r\\n{"type":"turn.st')`,
    ],
  }
  for (const [name, [body, options]] of Object.entries(turns)) {
    it(name, async (t) => {
      const dir = await recordedTurn(t, body, options)
      assert.notEqual(await assertReadsAgain(dir), '')
    })
  }

  it('when it was cancelled in the middle of a call', async (t) => {
    const dir = await scratch(t)
    const recording = join(dir, 'recording')
    const body = `
      process.on('SIGTERM', () => { say({ type: 'turn.failed', error: { message: 'interrupted' } }); process.exit(1) })
      forever(); hello()
      say({ type: 'item.started', item: { id: 'c', type: 'command_execution', command: 'sleep 9', status: 'in_progress' } })`
    const driver = printDriver(standIn(), {
      bin: await program(dir, body),
      cwd: dir,
      record: () => ({ dir: recording }),
    })
    const session = await driver.open(null, diary().host)
    for await (const event of session.run(aTurn)) if (event.type === 'tool-call') void session.cancel()
    const events = await assertReadsAgain(recording)
    assert.match(events, /"type":"command".*"isSuccess":false/)
    assert.doesNotMatch(events, /"type":"error"/)
  })

  it('when nobody took its events to the end', async (t) => {
    const dir = await scratch(t)
    const recording = join(dir, 'recording')
    const body = `hello(); for (let n = 0; n < 2000; n++) text('n' + n); done()`
    const driver = printDriver(standIn(), {
      bin: await program(dir, body),
      cwd: dir,
      record: () => ({ dir: recording }),
    })
    const session = await driver.open(null, diary().host)
    for await (const event of session.run(aTurn)) if (event.type === 'text-delta') break
    await assertReadsAgain(recording)
  })

  it('when secrets were taken out, which are then in neither file', async (t) => {
    const dir = await recordedTurn(t, `hello(); text('the key is sk-123'); console.error('sk-456'); done()`, {
      redact: (line) => line.replace(/sk-\d+/g, '[key]'),
    })
    assert.match(await assertReadsAgain(dir), /the key is \[key\]/)
    assert.doesNotMatch(await readFile(join(dir, 'raw.jsonl'), 'utf8'), /sk-/)
  })

  it('when the host takes them out, because the thread has a redactor', async (t) => {
    const dir = await scratch(t)
    const recording = join(dir, 'recording')
    const notes = diary({ redact: (text) => text.replace(/sk-\d+/g, '[key]') })
    const bin = await program(dir, `hello(); text('the key is sk-123'); done()`)
    const driver = printDriver(standIn(), { bin, cwd: dir, record: () => ({ dir: recording }) })
    const session = await driver.open(null, notes.host)
    const events = await takeAll(session.run(aTurn), notes)
    await session.close()
    assert.match(JSON.stringify(events), /the key is sk-123/, 'what it says is redacted where it is recorded')
    assert.match(await assertReadsAgain(recording), /the key is \[key\]/)
    assert.doesNotMatch(await readFile(join(recording, 'raw.jsonl'), 'utf8'), /sk-/)
  })

  it('when they were in our own text about the program', async (t) => {
    const dir = await scratch(t)
    const recording = await openRecording({
      dir: join(dir, 'recording'),
      redact: (line) => {
        if (line.includes('poison')) throw new Error('cannot')
        return line.replace(/sk-\d+/g, '[key]')
      },
    })
    const recorder = recording.begin(codexDialect, { harness: 'codex' }, 1000)
    recorder.note({ warning: { message: 'An answer came too late: curl -u sk-123', code: 'late-answer' } }, 1001)
    recorder.note({ warning: { message: 'poison' } }, 1002)
    recorder.note({ stop: { reason: 'failed', error: { name: 'Error', message: 'It said sk-456' } } }, 1003)
    recorder.note({ end: { exitCode: null, signal: null } }, 1004)
    await recorder.close()
    const events = await assertReadsAgain(join(dir, 'recording'))
    assert.match(events, /curl -u \[key\][^]*could not be redacted[^]*It said \[key\]/)
    assert.doesNotMatch(await readFile(join(dir, 'recording', 'raw.jsonl'), 'utf8'), /sk-|poison/)
  })

  it('when a line could not be redacted and was withheld', async (t) => {
    const dir = await recordedTurn(t, `hello(); text('poison'); text('other'); done()`, {
      redact: (line) => {
        if (line.includes('poison')) throw new Error('cannot')
        return line
      },
    })
    const events = await assertReadsAgain(dir)
    assert.match(events, /"withheld"/)
    assert.doesNotMatch(events, /poison/)
  })

  it('when it was larger than the limit', async (t) => {
    const body = `hello(); for (let n = 0; n < 500; n++) text('n' + n); done()`
    const problems: string[] = []
    const dir = await recordedTurn(t, body, { maxBytes: 4000, onError: ({ message }) => void problems.push(message) })
    assert.match(await assertReadsAgain(dir), /"code":"not-recorded"/)
    assert.deepEqual(problems, [`${join(dir, 'raw.jsonl')} has reached its size limit, and what followed is missing.`])
  })
})

describe('real streams', () => {
  const record = async (dialect: Dialect, dir: string, stream: Buffer): Promise<void> => {
    const recording = await openRecording({ dir })
    const recorder = recording.begin(dialect, { harness: dialect.id, cwd: '/workspace' }, 1000)
    let at = 1000
    const splitter = new LineSplitter((line) => void recorder.line('stdout', line, (at += 7)))
    splitter.push(stream)
    splitter.end()
    recorder.note({ end: { exitCode: 0, signal: null } }, at + 1)
    await recorder.close()
  }
  for (const dialect of dialects) {
    it(`a real stream of ${dialect.id} reads again exactly as it was`, async (t) => {
      const dir = await scratch(t)
      const folder = new URL(`../${dialect.id}/fixtures/`, import.meta.url)
      const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
      assert.ok(names.length > 10)
      for (const name of names) {
        await record(dialect, join(dir, name), await readFile(new URL(name, folder)))
        await assertReadsAgain(join(dir, name))
      }
    })
  }
})

describe('a recording', () => {
  it('can be read by its owner only', async (t) => {
    const dir = await recordedTurn(t, `hello(); done()`)
    const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)
    assert.equal(await mode(dir), '700')
    assert.equal(await mode(join(dir, 'raw.jsonl')), '600')
    assert.equal(await mode(join(dir, 'events.jsonl')), '600')
  })

  it('never mixes two runs', async (t) => {
    const dir = await recordedTurn(t, `hello(); done()`)
    await assert.rejects(openRecording({ dir }), (error) => InspanError.is(error, 'already-exists'))
  })

  it('a recording that cannot be begun fails the turn before anything is started', async (t) => {
    const notes = diary()
    const dir = await scratch(t)
    const driver = printDriver(standIn(), {
      bin: await program(dir, `hello(); done()`),
      record: () => ({ dir: '/dev/null/not-a-directory' }),
    })
    const session = await driver.open(null, notes.host)
    const events = await takeAll(session.run(aTurn), notes)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['start', 'error', 'finish'],
    )
    assert.equal(notes.processes.length, 0)
  })

  it('a recording that fails on its way is reported once, and the run continues', async (t) => {
    const errors: string[] = []
    const logged: string[] = []
    for (const onError of [(error: Error): void => void errors.push(error.message), undefined]) {
      const notes = diary({ log: (_level, message) => void logged.push(message) })
      const dir = await scratch(t)
      // A full disk.
      await symlink('/dev/full', join(dir, 'events.jsonl'))
      const bin = await program(dir, `hello(); text('a'); text('bb'); done()`)
      const record = { dir, ...(onError === undefined ? {} : { onError }) }
      const session = await printDriver(standIn(), { bin, record: () => record }).open(null, notes.host)
      const events = await takeAll(session.run(aTurn), notes)
      await session.close()
      const finish = events.at(-1)
      assert.equal(finish?.type === 'finish' && finish.finishReason, 'stop')
    }
    assert.equal(errors.length, 1)
    assert.match(errors[0] ?? '', /ENOSPC/)
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', /recording in .* is not complete.*ENOSPC/)
  })

  it('a recording whose place nobody can name fails the turn, too', async (t) => {
    const notes = diary()
    const dir = await scratch(t)
    const driver = printDriver(standIn(), {
      bin: await program(dir, `hello(); done()`),
      record: () => {
        throw new Error('Nowhere.')
      },
    })
    const session = await driver.open(null, notes.host)
    const events = await takeAll(session.run(aTurn), notes)
    await session.close()
    assert.deepEqual(
      events.map((event) => (event.type === 'error' ? event.error.message : event.type)),
      ['start', 'Nowhere.', 'finish'],
    )
    assert.equal(notes.processes.length, 0)
  })

  it('a recording that a crash has torn still gives what it holds, and reports it', async (t) => {
    const dir = await recordedTurn(t, `hello(); text('hi'); done()`)
    await appendFile(join(dir, 'raw.jsonl'), '{"at":12,"stream":"std')
    assert.match(await readAgain(dir), /"message":"hi".*\n.*"damaged-record"/)
  })
})
