import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentSession, Binding } from '@inspan/protocol/driver'
import { aTurn, diary, takeAll, type Diary } from '../../test/launch/diary.ts'
import { program, scratch, standIn } from '../../test/launch/stand-in.ts'
import { liveDriver } from './live-driver.ts'
import type { LivePeer, LiveTask, TurnPort } from './live-cli-spec.ts'

/** Says hello, and then does what each line of its input says. */
const BODY = `
hello()
const { createInterface } = await import('node:readline')
for await (const line of createInterface({ input: process.stdin })) {
  const { does } = JSON.parse(line)
  if (does === 'exit') process.exit(3)
  if (does === 'answer') { text('hi'); done() }
  if (does === 'begin') text('begun')
  if (does === 'stop') say({ type: 'turn.failed', error: { message: 'stopped' } })
}`

interface Stage {
  readonly notes: Diary
  readonly session: AgentSession
  /** Which sessions the processes were started with. */
  readonly sessions: string[]
  readonly turn: (runId?: string) => Promise<AgentEvent[]>
}

interface Behaviour {
  readonly does?: string
  /** The native session that it reports to have begun. */
  readonly begins?: string
  /** Whether it answers when it is interrupted. */
  readonly answersInterrupt?: boolean
}

async function stage(t: TestContext, behaviours: readonly Behaviour[], binding: Binding | null = null): Promise<Stage> {
  const notes = diary()
  const dir = await scratch(t)
  const sessions: string[] = []
  let turns = 0
  const { profile, dialect, capabilities } = standIn()
  const driver = liveDriver(
    {
      profile,
      dialect,
      capabilities,
      launch: () => ({ args: [] }),
      anchorOf: () => undefined,
      placeOf: () => undefined,
      connect: (link) => {
        let port: TurnPort | undefined
        let behaviour: Behaviour = {}
        const peer: LivePeer = {
          isWaiting: false,
          undelivered: [],
          start: async ({ request, isFirst }: LiveTask, turn) => {
            if (isFirst) sessions.push(request.session.kind === 'new' ? 'new' : request.session.nativeId)
            port = turn
            behaviour = behaviours[turns++] ?? {}
            turn.nativeId = behaviour.begins
            link.send({ does: behaviour.does ?? 'answer' })
          },
          record: ({ type }) => {
            if (type === 'turn.completed' || type === 'turn.failed') port?.over()
          },
          steer: async () => 'queued',
          interrupt: async () => {
            if (behaviour.answersInterrupt === false) throw new Error('It does not listen.')
            link.send({ does: 'stop' })
          },
          gone: () => undefined,
        }
        return peer
      },
    },
    { bin: await program(dir, BODY), cwd: dir, interruptMs: 5_000 },
  )
  const session = await driver.open(binding, notes.host)
  t.after(() => session.close())
  return { notes, session, sessions, turn: (runId = 'run-1') => takeAll(session.run({ ...aTurn, runId }), notes) }
}

/** Runs a turn that is cancelled as soon as it has said something. */
async function cancelled({ notes, session }: Stage): Promise<void> {
  for await (const event of session.run(aTurn)) {
    notes.order.push(event.type)
    if (event.type === 'text-delta') void session.cancel()
  }
}

const settledOf = ({ notes }: Stage): unknown => notes.bindings.at(-1)?.extra?.['settled']

describe('a live session', () => {
  it('binds the native session that its peer reports, rather than the one that the output names', async (t) => {
    const made = await stage(t, [{ begins: 'real' }])
    await made.turn()
    assert.deepEqual(new Set(made.notes.bindings.map(({ nativeId }) => nativeId)), new Set(['real']))
  })

  it('binds the native session of the output if its peer reports none', async (t) => {
    const made = await stage(t, [{}])
    await made.turn()
    assert.equal(made.notes.bindings.at(-1)?.nativeId, 'native-1')
  })

  it('is settled before the last event is out', async (t) => {
    const made = await stage(t, [{}])
    await made.turn()
    assert.equal(settledOf(made), true)
    assert.deepEqual(made.notes.order.slice(-2), ['bind native-1 -', 'finish'])
  })

  it('is settled after a turn that was cancelled, if the program has answered', async (t) => {
    const made = await stage(t, [{ does: 'begin' }])
    await cancelled(made)
    assert.equal(settledOf(made), true)
    assert.deepEqual(made.notes.order.slice(-2), ['bind native-1 -', 'finish'])
  })

  it('is not settled after a turn that was cancelled without an answer', async (t) => {
    const made = await stage(t, [{ does: 'begin', answersInterrupt: false }])
    await cancelled(made)
    assert.equal(settledOf(made), undefined)
  })

  it('continues with the same process from turn to turn', async (t) => {
    const made = await stage(t, [{}, {}])
    await made.turn()
    await made.turn('run-2')
    assert.equal(new Set(made.notes.processes.map(({ pid }) => pid)).size, 1)
    assert.deepEqual(made.sessions, ['new'])
  })

  it('begins the next turn in the bound session when the process is gone', async (t) => {
    const made = await stage(t, [{ does: 'exit', begins: 'real' }, {}])
    await made.turn()
    await made.turn('run-2')
    assert.deepEqual(made.sessions, ['new', 'real'])
  })
})
