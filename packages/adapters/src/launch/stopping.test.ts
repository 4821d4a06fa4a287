import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentSession } from '@inspan/protocol/driver'
import { reap, spawnRun } from '@inspan/shell/run'
import { aTurn, diary, takeAll, type Diary } from '../../test/launch/diary.ts'
import { errorOf, finishOf, takeTurn, typesOf, warningsOf } from '../../test/launch/print-turn.ts'
import { program, scratch, standIn, standInProfile, survivors } from '../../test/launch/stand-in.ts'
import { codexDialect } from '../codex/mapper.ts'
import { opencodeDialect } from '../opencode/mapper.ts'
import { normalize } from './normalize.ts'
import { printDriver, type PrintCliSpec, type PrintOptions } from './print-driver.ts'
import { runRecordOf } from './process-note.ts'
import { stopRun } from './stop-run.ts'

interface Lingered {
  readonly events: readonly AgentEvent[]
  /** The codes of the warnings. */
  readonly warnings: readonly string[]
  /** The events that its recording gives. */
  readonly again: readonly string[]
}

interface Opened {
  readonly session: AgentSession
  readonly notes: Diary
}

async function open(t: TestContext, body: string, spec: Partial<PrintCliSpec> = {}): Promise<Opened> {
  const dir = await scratch(t)
  const notes = diary()
  const driver = printDriver(standIn(spec), { bin: await program(dir, body), cwd: dir })
  return { session: await driver.open(null, notes.host), notes }
}

const quick: Partial<PrintCliSpec> = { profile: standInProfile({ stop: { signal: 'SIGTERM', graceMs: 200 } }) }
const toolRuns = `say({ type: 'item.started', item: { id: 'call', type: 'command_execution', command: 'sleep', status: 'in_progress' } })`
/** A grandchild in a session of its own, whose parent has exited. */
const escaped = `spawn('/bin/sh', ['-c', 'setsid sleep 1000 & exit 0'], { stdio: 'inherit' })`

/** Cancels at the first call. */
async function cancelInTool({ session, notes }: Opened): Promise<{
  readonly events: readonly AgentEvent[]
  readonly receipt: Awaited<ReturnType<AgentSession['cancel']>>
}> {
  const events: AgentEvent[] = []
  let receipt: ReturnType<AgentSession['cancel']> | undefined
  for await (const event of session.run(aTurn)) {
    events.push(event)
    if (event.type === 'tool-call') receipt = session.cancel()
  }
  assert.ok(receipt)
  assert.equal(await survivors(notes), 0)
  assert.equal(events.filter(({ type }) => type === 'finish').length, 1)
  return { events, receipt: await receipt }
}

describe('cancel', () => {
  it('stops a program in its own clean way and reports what was interrupted', async (t) => {
    const opened = await open(t, `process.on('SIGTERM', () => process.exit(0)); forever(); hello(); ${toolRuns}`)
    const { events, receipt } = await cancelInTool(opened)
    assert.deepEqual(receipt, { how: 'clean', calls: ['call'], orphansKilled: 0, queued: [] })
    const finish = events.at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason, 'other')
    assert.ok(!events.some(({ type }) => type === 'error'), 'what we end on purpose has not failed')
    const result = events.find((event) => event.type === 'tool-result')
    assert.equal(result?.meta?.synthetic, true)
  })

  it('kills a program that ignores the signal', async (t) => {
    const opened = await open(t, `hello(); process.on('SIGTERM', () => {}); ${toolRuns}; forever()`, quick)
    assert.equal((await cancelInTool(opened)).receipt.how, 'killed')
  })

  it('leaves no grandchild running, even one that has left the process group', async (t) => {
    const body = `hello(); process.on('SIGTERM', () => {}); ${escaped}.on('exit', () => { ${toolRuns} }); forever()`
    const { receipt } = await cancelInTool(await open(t, body, quick))
    assert.equal(receipt.how, 'killed')
  })

  it('turns a program’s message about its own end into a warning', async (t) => {
    const opened = await open(
      t,
      `process.on('SIGTERM', () => { say({ type: 'turn.failed', error: { message: 'interrupted' } }); process.exit(1) })
       forever(); hello(); ${toolRuns}`,
    )
    const { events } = await cancelInTool(opened)
    assert.ok(!events.some(({ type }) => type === 'error'))
    assert.ok(opened.notes.activity.some((event) => event.type === 'warning' && event.message === 'interrupted'))
  })

  it('does not deadlock when it is awaited inside the loop, however many events are pending', async (t) => {
    const { session, notes } = await open(t, `hello(); for (;;) text('x'.repeat(1000))`, quick)
    let finishes = 0
    let cancelled = false
    for await (const event of session.run(aTurn)) {
      if (event.type === 'finish') finishes += 1
      if (!cancelled && event.type === 'text-delta') {
        cancelled = true
        await session.cancel()
        assert.equal(await survivors(notes), 0)
      }
    }
    assert.equal(finishes, 1)
  })

  it('ends a program that is blocked because nobody reads its output', async (t) => {
    const dir = await scratch(t)
    const notes = diary()
    const bin = await program(dir, `hello(); for (;;) text('x'.repeat(1000))`)
    const events: AgentEvent[] = []
    const held = Promise.withResolvers<void>()
    // Never resolves, from the first call on: if the program prints all it can at once, there is no second call.
    const room = (): Promise<void> => {
      held.resolve()
      return new Promise(() => {})
    }
    const session = await printDriver(standIn(quick), { bin, cwd: dir, room }).open(null, notes.host)
    void held.promise.then(() => session.cancel())
    for await (const event of session.run(aTurn)) events.push(event)
    assert.equal(finishOf(events), 'other')
    assert.equal(await survivors(notes), 0)
  })

  it('also names calls that the program reports only afterwards', async (t) => {
    const { session } = await open(
      t,
      `process.on('SIGTERM', () => { ${toolRuns}; process.exit(0) }); forever(); hello(); text('a')`,
    )
    let receipt: ReturnType<AgentSession['cancel']> | undefined
    for await (const event of session.run(aTurn)) if (event.type === 'text-delta') receipt = session.cancel()
    assert.deepEqual((await receipt)?.calls, ['call'])
  })

  it('resolves at once if nothing runs', async (t) => {
    const { session } = await open(t, `hello()`)
    assert.deepEqual(await session.cancel(), { how: 'gone', calls: [], orphansKilled: 0, queued: [] })
  })

  it('prevents the start of a program that has not started yet', async (t) => {
    const { session, notes } = await open(t, `hello(); forever()`, {
      launch: () => {
        void session.cancel()
        return { args: [] }
      },
    })
    const events = await takeAll(session.run(aTurn), notes)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['start', 'finish'],
    )
    assert.equal(notes.processes.length, 0)
  })

  it('is also triggered by the host’s signal', async (t) => {
    const { session, notes } = await open(t, `hello(); ${toolRuns}; forever()`)
    const events: AgentEvent[] = []
    for await (const event of session.run(aTurn)) {
      events.push(event)
      if (event.type === 'tool-call') notes.abort.abort()
    }
    assert.equal(events.at(-1)?.type, 'finish')
    assert.equal(await survivors(notes), 0)
    const after = await takeAll(session.run(aTurn), notes)
    assert.equal(after.at(-1)?.type, 'finish')
    assert.equal(notes.processes.length, 1, 'an aborted host starts nothing any more')
  })
})

describe('leaving the loop', () => {
  it('leaves nothing behind: no process and no private directory', async (t) => {
    const temporary = await scratch(t)
    const { TMPDIR } = process.env
    t.after(() => {
      if (TMPDIR === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = TMPDIR
    })
    const { session, notes } = await open(t, `hello(); ${escaped}; for (;;) text('x'.repeat(1000))`, quick)
    process.env['TMPDIR'] = temporary
    for await (const event of session.run(aTurn)) {
      if (event.type !== 'text-delta') continue
      assert.equal((await readdir(temporary)).length, 1)
      break
    }
    assert.equal(await survivors(notes), 0)
    assert.deepEqual(await readdir(temporary), [])
    await session.close()
  })

  it('leaves nothing behind if an error caused it', async (t) => {
    const { session, notes } = await open(t, `hello(); text('a'); forever()`)
    await assert.rejects(async () => {
      for await (const event of session.run(aTurn)) if (event.type === 'text-delta') throw new Error('enough')
    }, /enough/)
    assert.equal(await survivors(notes), 0)
  })
})

describe('a process that a program leaves running', () => {
  it('is ended if it holds the output open', async (t) => {
    const { session, notes } = await open(t, `hello(); ${escaped}.on('exit', () => { done(); process.exit(0) })`)
    const events = await takeAll(session.run(aTurn), notes)
    assert.equal(await survivors(notes), 0)
    const finish = events.at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason, 'stop')
    const warning = notes.activity.find((event) => event.type === 'warning')
    assert.equal(warning?.code, 'left-running')
    assert.match(warning?.message ?? '', /sleep \(\d+\)/)
  })

  it('is ended if it has closed the output', async (t) => {
    const quiet = escaped.replace(`'inherit'`, `'ignore'`)
    const { session, notes } = await open(t, `hello(); ${quiet}.on('exit', () => { done(); process.exit(0) })`)
    await takeAll(session.run(aTurn), notes)
    assert.equal(await survivors(notes), 0)
    assert.ok(notes.activity.some((event) => event.type === 'warning' && event.code === 'left-running'))
  })
})

it('a noted process can be found and ended after a crash', async (t) => {
  const { session, notes } = await open(t, `hello(); process.on('SIGTERM', () => {}); text('a'); forever()`)
  const events = session.run(aTurn)[Symbol.asyncIterator]()
  await events.next()
  const [note] = notes.processes
  assert.ok(note)
  const receipt = await reap(runRecordOf(note), { graceMs: 0 })
  assert.equal(receipt.how, 'killed')
  for (let next = await events.next(); next.done !== true; next = await events.next());
  await session.close()
})

it('a program that closes its output without ending is ended', async (t) => {
  const body = `
    const { closeSync } = await import('node:fs')
    process.on('SIGTERM', () => {})
    forever(); hello(); text('hi')
    process.stdout.write('', () => closeSync(1))`
  const { session, notes } = await open(t, body, quick)
  const events = await takeAll(session.run(aTurn), notes)
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'error' ? [event.code] : [])),
    ['output-closed'],
  )
  assert.equal(await survivors(notes), 0)
  await session.close()
})

describe('a program that reports its result and does not end', () => {
  const lingers = `
    const { closeSync } = await import('node:fs')
    process.on('SIGTERM', () => {})
    forever()
    const letGo = () => process.stdout.write('', () => closeSync(1))`

  async function takeLinger(t: TestContext, body: string, options: Partial<PrintOptions> = {}): Promise<Lingered> {
    const dir = await scratch(t)
    const record = join(dir, 'recording')
    const notes = diary()
    const bin = await program(dir, `${lingers}; ${body}`)
    const driver = printDriver(standIn(quick), { bin, cwd: dir, record: () => ({ dir: record }), ...options })
    const events = await takeTurn(driver, notes)
    assert.equal(notes.bindings.at(-1)?.extra?.['settled'], undefined, 'nobody has seen it save its session')
    const raw = (await readFile(join(record, 'raw.jsonl'), 'utf8')).trimEnd().split('\n')
    const again = await Array.fromAsync(normalize(raw, { dialects: [codexDialect] }), (event) => JSON.stringify(event))
    assert.equal(again.join('\n'), (await readFile(join(record, 'events.jsonl'), 'utf8')).trimEnd())
    return { events, warnings: warningsOf(notes), again }
  }

  it('has the outcome that it reported, and a warning reports that it was ended', async (t) => {
    const { events, warnings, again } = await takeLinger(t, `hello(); text('hi'); done(); letGo()`)
    assert.deepEqual(typesOf(events), ['start', 'text-delta', 'finish'])
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(warnings, ['not-ended-by-itself'])
    assert.ok(!again.some((event) => event.includes('"type":"error"')))
  })

  it('has failed if it reported a failure', async (t) => {
    const { events } = await takeLinger(
      t,
      `hello(); say({ type: 'turn.failed', error: { message: 'no credit' } }); letGo()`,
    )
    assert.match(errorOf(events).message, /^no credit/)
    assert.equal(finishOf(events), 'error')
  })

  it('has failed if it continued after its result', async (t) => {
    const { events } = await takeLinger(t, `hello(); text('hi'); done(); text('and then'); letGo()`)
    assert.equal(errorOf(events).code, 'output-closed')
  })

  it('has failed at a deadline if its last output was a text of the model, which may not be its answer', async (t) => {
    const dir = await scratch(t)
    const part = { sessionID: 's', messageID: 'm' }
    const records = [
      { type: 'step_start', sessionID: 's', part: { ...part, id: '1', type: 'step-start' } },
      { type: 'text', sessionID: 's', part: { ...part, id: '2', type: 'text', text: 'A summary.' } },
      { type: 'step_finish', sessionID: 's', part: { ...part, id: '3', type: 'step-finish', reason: 'stop' } },
    ]
    const bin = await program(dir, `for (const record of ${JSON.stringify(records)}) say(record); forever()`)
    const spec = standIn({ ...quick, dialect: opencodeDialect })
    const events = await takeTurn(printDriver(spec, { bin, cwd: dir, deadlineMs: 1_500 }), diary())
    assert.equal(errorOf(events).code, 'deadline')
    assert.equal(finishOf(events), 'error')
  })

  it('has not failed if a silence follows its result', async (t) => {
    // The start counts as silence too. A shell starts at once, even where Node is slow.
    const bin = join(await scratch(t), 'at-once')
    const body = [
      '[ "$1" = --version ] && exec echo 1.0.0',
      `echo '{"type":"thread.started","thread_id":"native-1"}'`,
      `echo '{"type":"turn.completed"}'`,
      'exec tail -f /dev/null',
    ]
    await writeFile(bin, ['#!/bin/sh', ...body, ''].join('\n'), { mode: 0o755 })
    const { events, warnings } = await takeLinger(t, '', { bin, stallMs: 2_000, onStall: 'abort' })
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(warnings, ['stall', 'not-ended-by-itself'])
  })
})

describe('a program that is stopped by closing its input', () => {
  it('gets time to end by itself', async (t) => {
    const bin = await program(await scratch(t), `await stdin(); say('goodbye')`)
    const run = await spawnRun({ command: bin, stdin: 'open' })
    run.stderr.discard()
    const said = Array.fromAsync(run.stdout, (line) => line.text)
    const receipt = await stopRun(run, { closeStdin: true, graceMs: 60_000 })
    assert.equal(receipt.how, 'clean')
    assert.deepEqual(await said, ['"goodbye"'])
  })

  it('is killed if it does not end', async (t) => {
    const bin = await program(await scratch(t), `process.on('SIGTERM', () => {}); say('deaf'); forever()`)
    const run = await spawnRun({ command: bin, stdin: 'open' })
    run.stderr.discard()
    for await (const _line of run.stdout) break
    assert.equal((await stopRun(run, { closeStdin: true, graceMs: 10 })).how, 'killed')
  })

  it('does not count as stopped if it had already ended', async (t) => {
    const run = await spawnRun({ command: await program(await scratch(t), ''), stdin: 'open' })
    run.stdout.discard()
    run.stderr.discard()
    await run.exited
    assert.equal((await stopRun(run, { closeStdin: true, graceMs: 60_000 })).how, 'gone')
  })
})
