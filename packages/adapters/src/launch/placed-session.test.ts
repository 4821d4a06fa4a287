import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { InspanError, type AgentEvent } from '@inspan/protocol'
import type { AgentSession, Binding, Capabilities, Host } from '@inspan/protocol/driver'
import { aTurn, diary, takeAll, type Diary } from '../../test/launch/diary.ts'
import { bindingOf, errorOf, finishOf, takeTurn, textOf, warningsOf } from '../../test/launch/print-turn.ts'
import { program, scratch, standIn } from '../../test/launch/stand-in.ts'
import { printDriver, type PlaceRequest, type PrintCliSpec } from './print-driver.ts'

const capabilities: Capabilities = { ...standIn().capabilities, resume: 'anchor', fork: 'anchor' }
const anchored = bindingOf({ anchor: 'a1' })

function restoreTemp(value: string | undefined): void {
  if (value === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = value
}

interface Stage {
  readonly notes: Diary
  readonly dir: string
  readonly placed: PlaceRequest[]
  readonly open: (binding: Binding | null) => Promise<AgentSession>
  readonly turn: (binding: Binding | null) => ReturnType<typeof takeTurn>
}

/** A program that prints which session it was started with. */
async function stage(
  t: TestContext,
  place: NonNullable<PrintCliSpec['place']>,
  {
    body = `hello(); text(process.argv.slice(2).join(' ') + '|' + await stdin()); done()`,
    ...more
  }: Partial<PrintCliSpec> & {
    readonly body?: string
  } = {},
  host: Partial<Host> = {},
): Promise<Stage> {
  const dir = await scratch(t)
  const placed: PlaceRequest[] = []
  const notes = diary({
    history: async function* () {
      const parts = [{ id: '0', type: 'text', text: 'Said before.' }] as const
      const native = { sessionId: 'native-1', messageId: 'a1' }
      yield { id: 'm', role: 'assistant', order: 9, at: 1, state: 'done', run: 'earlier', parts, native }
    },
    ...host,
  })
  const spec: PrintCliSpec = {
    ...standIn({
      capabilities,
      launch: ({ session, input }) => ({
        args: session.kind === 'new' ? ['new'] : [session.kind, session.nativeId, session.anchor ?? '-'],
        stdin: input.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
      }),
      anchorOf: (event) => (event.type === 'text-delta' ? 'a2' : undefined),
      ...more,
    }),
    place: (request) => {
      placed.push(request)
      return place(request)
    },
  }
  const driver = printDriver(spec, {
    bin: await program(dir, body),
    cwd: dir,
    record: ({ runId }) => ({ dir: join(dir, runId) }),
  })
  return {
    notes,
    dir,
    placed,
    open: (binding) => driver.open(binding, notes.host),
    turn: (binding) => takeTurn(driver, notes, { binding }),
  }
}

describe('a program whose session is placed before a turn', () => {
  it('is not asked about a session when it begins one', async (t) => {
    const { placed, turn } = await stage(t, async ({ session }) => session)
    assert.match(textOf(await turn(null)), /^new\|/)
    assert.equal(placed.length, 0)
  })

  it('continues where its session was placed, from the anchor there', async (t) => {
    const { notes, turn } = await stage(t, async () => ({ kind: 'resume', nativeId: 'moved', anchor: 'b1' }), {
      body: `text(process.argv.slice(2).join(' ') + '|' + await stdin()); done()`,
    })
    assert.equal(textOf(await turn(anchored)), 'resume moved b1|Do it.')
    assert.deepEqual(warningsOf(notes), [])
  })

  it('binds the placed anchor until it has said something, then its own', async (t) => {
    const { notes, turn } = await stage(t, async () => ({ kind: 'resume', nativeId: 'moved', anchor: 'b1' }))
    await turn(anchored)
    assert.deepEqual(
      notes.bindings.map(({ anchor }) => anchor),
      ['b1', 'a2'],
    )
  })

  it('begins a new session where there is none to be placed: it gets everything, and that is reported', async (t) => {
    const { notes, turn } = await stage(t, async () => ({ kind: 'new', id: 'x', because: 'its session is gone' }))
    assert.match(textOf(await turn(anchored)), /^new\|<conversation>[^]*Said before\./)
    assert.deepEqual(warningsOf(notes), ['new-session'])
    const warning = notes.activity.find((event) => event.type === 'warning')
    assert.match(warning?.message ?? '', /Stand-in begins a new session, because its session is gone\./)
  })

  it('begins a new session when the placed one is lost all the same', async (t) => {
    const body = `
      if (process.argv[2] !== 'new') { console.error('no such session'); process.exitCode = 1 }
      else { hello(); text(process.argv[2] + '|' + await stdin()); done() }`
    const { notes, turn } = await stage(t, async ({ session }) => session, { body, lostSession: /no such session/ })
    assert.match(textOf(await turn(anchored)), /^new\|<conversation>[^]*Said before\./)
    assert.deepEqual(warningsOf(notes), ['new-session'])
  })

  it('fails the turn when it cannot be placed, and starts nothing', async (t) => {
    const { notes, turn } = await stage(t, async () => {
      throw new InspanError('io', 'The server did not start.')
    })
    const events = await turn(anchored)
    assert.deepEqual(errorOf(events), { code: 'io', message: 'The server did not start.' })
    assert.equal(notes.processes.length, 0)
  })

  it('fails the turn when its session cannot be chosen, and takes the next', async (t) => {
    const { notes, open } = await stage(
      t,
      async ({ session }) => session,
      {},
      {
        history: () => {
          throw new Error('The log cannot be read.')
        },
      },
    )
    const session = await open(bindingOf({ anchor: 'a1', origin: true }))
    const turn = (runId: string): Promise<AgentEvent[]> => takeAll(session.run({ ...aTurn, runId }), notes)
    assert.equal(errorOf(await turn('run-1')).message, 'The log cannot be read.')
    assert.equal(errorOf(await turn('run-2')).message, 'The log cannot be read.')
    await session.close()
  })

  it('fails the turn when nothing can be written for it, and can be closed', async (t) => {
    const { notes, open } = await stage(t, async ({ session }) => session)
    const session = await open(anchored)
    const { TMPDIR } = process.env
    process.env['TMPDIR'] = '/nowhere/at/all'
    t.after(() => restoreTemp(TMPDIR))
    assert.equal(errorOf(await takeAll(session.run(aTurn), notes)).code, 'ENOENT')
    restoreTemp(TMPDIR)
    assert.equal(finishOf(await takeAll(session.run({ ...aTurn, runId: 'run-2' }), notes)), 'stop')
    await session.close()
  })

  it('fails the turn when its program has been removed since', async (t) => {
    const { dir, notes, open } = await stage(t, async ({ session }) => session)
    const session = await open(null)
    await rm(join(dir, 'stand-in.mjs'))
    assert.equal(finishOf(await takeAll(session.run(aTurn), notes)), 'error')
    await session.close()
  })

  it('has a private directory while it is placed and runs, and not after', async (t) => {
    const seen: string[] = []
    const { placed, turn } = await stage(
      t,
      async ({ session, dir }) => {
        await writeFile(join(dir, 'copy'), 'abc')
        seen.push(join(dir, 'copy'))
        return { ...session, nativeId: join(dir, 'copy') }
      },
      { body: `const { existsSync } = await import('node:fs'); text(String(existsSync(process.argv[3]))); done()` },
    )
    assert.equal(textOf(await turn(anchored)), 'true')
    assert.equal(existsSync(seen[0] ?? '/'), false)
    assert.equal(existsSync(placed[0]?.dir ?? '/'), false)
  })

  it('has all that its host offers: what is redacted, and how much may be handed over', async (t) => {
    const { dir, notes, turn } = await stage(
      t,
      async () => ({ kind: 'new', id: 'x', because: 'its session is gone' }),
      {},
      {
        redact: (text) => text.replaceAll('Do it', '[redacted]'),
        handover: { maxTokens: 0, countTokens: (text) => text.length },
        noteHandover: ({ truncated }) => void notes.order.push(truncated ? 'told in part' : 'told all'),
      },
    )
    assert.match(textOf(await turn(anchored)), /Do it/)
    const raw = await readFile(join(dir, aTurn.runId, 'raw.jsonl'), 'utf8')
    assert.match(raw, /\[redacted\]/)
    assert.doesNotMatch(raw, /Do it/)
    assert.ok(notes.order.includes('told in part'), notes.order.join('\n'))
  })

  it('is placed from turn to turn of one session', async (t) => {
    const { notes, open, placed } = await stage(t, async ({ session }) => session)
    const session = await open(null)
    for (let n = 0; n < 2; n++) await takeAll(session.run({ ...aTurn, runId: `run-${n}` }), notes)
    await session.close()
    assert.deepEqual(
      placed.map((request) => request.session),
      [{ kind: 'resume', nativeId: 'native-1', anchor: 'a2' }],
    )
  })
})

describe('a turn that is stopped while its session is placed', () => {
  it('starts nothing', async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { notes, open } = await stage(t, async ({ signal }) => {
      resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    })
    const session = await open(anchored)
    const events = takeAll(session.run(aTurn), notes)
    await promise
    assert.deepEqual(await session.cancel(), { how: 'gone', calls: [], orphansKilled: 0, queued: [] })
    assert.equal(finishOf(await events), 'other')
    assert.equal(notes.processes.length, 0)
    await session.close()
  })

  it('by the host’s signal starts nothing either', async (t) => {
    const { notes, open } = await stage(t, async ({ session }) => {
      notes.abort.abort()
      return session
    })
    const session = await open(anchored)
    assert.equal(finishOf(await takeAll(session.run(aTurn), notes)), 'other')
    assert.equal(notes.processes.length, 0)
    await session.close()
  })
})

describe('a session of such a program', () => {
  it('takes one turn at a time, and none after it was closed', async (t) => {
    const { open } = await stage(t, async ({ session }) => session, { body: `hello(); text('a'); forever()` })
    const session = await open(null)
    const first = session.run(aTurn)[Symbol.asyncIterator]()
    await first.next()
    await assert.rejects(session.run(aTurn)[Symbol.asyncIterator]().next(), (error) => InspanError.is(error, 'misuse'))
    await session.close()
    await assert.rejects(session.run(aTurn)[Symbol.asyncIterator]().next(), (error) => InspanError.is(error, 'closed'))
    for (let next = await first.next(); next.done !== true; next = await first.next());
  })
})
