import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import {
  createHost,
  DRIVER_PORT,
  type AgentDriver,
  type AgentSession,
  type Binding,
  type Host,
  type Turn,
} from '@inspan/protocol/driver'
import { rejection } from './subject.ts'

/** What the agent of a test does with every prompt it gets. */
export type DriverBehaviour =
  /** Says something and ends. */
  | 'answers'
  /** Says something, or begins to, and does not end by itself. */
  | 'hangs'
  /** Ends with an error, as when its provider refuses the key. */
  | 'fails'

/** A driver for one test. */
export interface DriverSubject {
  readonly driver: AgentDriver
  /** What each turn of the test is given besides its prompt: a directory, a model. */
  readonly turn?: Partial<Turn>
  /** Called after the session is closed: throws if something of the agent is left, such as a process. */
  close?(): Promise<void> | void
}

export interface DriverContract {
  readonly name: string
  /** Milliseconds that a test may take. Default: 60,000. */
  readonly timeoutMs?: number
  open(behaviour: DriverBehaviour): Promise<DriverSubject>
}

/** The id of a session that no program has. */
const GONE = '00000000-0000-4000-8000-000000000000'

/** A driver with a session, and what its host was told. */
interface OpenedDriver {
  readonly subject: DriverSubject
  readonly session: AgentSession
  readonly abort: AbortController
  readonly bindings: readonly Binding[]
  readonly hasListened: () => boolean
  readonly turn: (id?: string) => AsyncIterable<AgentEvent>
}

/** Registers the tests that every driver has to pass. Run it with the real program or with a stand-in for it. */
export function testDriver(contract: DriverContract): void {
  const timeout = contract.timeoutMs ?? 60_000
  const check = (title: string, behaviour: DriverBehaviour, body: (opened: OpenedDriver) => Promise<void>): void => {
    test(title, { timeout }, () => withSession(contract, behaviour, body))
  }

  describe(`${contract.name} keeps to the driver port`, () => {
    check('it names its port, itself and what it can do', 'answers', async ({ subject: { driver } }) => {
      assert.equal(driver.port, DRIVER_PORT)
      assert.notEqual(driver.id, '')
      const capabilities = await driver.describe()
      assert.deepEqual(await driver.describe(), capabilities)
      assert.equal(capabilities.sessions, driver.sessions !== undefined)
      assert.equal(capabilities.continuity === 'log', capabilities.hostTools === 'inproc')
      assert.equal(new Set(capabilities.effort).size, capabilities.effort.length)
    })

    check('a turn ends with one finish, and nothing comes after it', 'answers', async ({ turn }) => {
      const events = await Array.fromAsync(turn())
      assertWhole(events)
      assert.equal(finishOf(events), 'stop')
      assert.notEqual(textOf(events), '')
      assert.equal(
        events.some(({ type }) => type === 'error'),
        false,
      )
    })

    check('a session takes one turn after the other', 'answers', async ({ turn }) => {
      for (const id of ['first', 'second']) {
        const events = await Array.fromAsync(turn(id))
        assertWhole(events)
        assert.equal(finishOf(events), 'stop')
      }
    })

    check('a session of the agent’s own is bound before the turn ends', 'answers', async (opened) => {
      const { continuity, resume } = await opened.subject.driver.describe()
      const events = await Array.fromAsync(opened.turn())
      assertWhole(events)
      if (continuity === 'log' || resume === 'none') return
      const last = opened.bindings.at(-1)
      assert.equal(last?.agentId, opened.subject.driver.id)
      assert.notEqual(last.nativeId, '')
    })

    check('what goes wrong is an error before a finish', 'fails', async ({ turn }) => {
      const events = await Array.fromAsync(turn())
      assertWhole(events)
      assert.equal(finishOf(events), 'error')
      const error = events.find((event) => event.type === 'error')
      assert.ok(error !== undefined, 'there is an error event')
      assert.notEqual(error.error.message, '')
    })

    check('a cancelled turn still has its finish, and is not told as done', 'hangs', async ({ session, turn }) => {
      const events = await untilBegun(turn(), () => session.cancel())
      assertWhole(events)
      assert.notEqual(finishOf(events), 'stop')
    })

    check('the signal of the host cancels the turn', 'hangs', async ({ abort, turn }) => {
      const events = await untilBegun(turn(), async () => abort.abort())
      assertWhole(events)
      assert.notEqual(finishOf(events), 'stop')
    })

    check('leaving the loop ends the turn', 'hangs', async ({ session, turn }) => {
      for await (const event of turn()) {
        assert.notEqual(event.type, 'finish')
        break
      }
      assert.deepEqual((await session.cancel()).calls, [])
    })

    check('cancel and close without a turn do nothing, twice', 'answers', async ({ session }) => {
      assert.deepEqual((await session.cancel()).calls, [])
      await session.close()
      await session.close()
    })

    check('a closed session takes no turn', 'answers', async ({ session, turn }) => {
      await session.close()
      await rejection((async () => Array.fromAsync(turn()))(), 'closed')
    })

    check('it hears messages during a turn alone, by steer or by listening', 'answers', async (opened) => {
      const { session, subject, turn } = opened
      const { steer } = await subject.driver.describe()
      if (steer !== 'none' && session.steer === undefined) {
        await Array.fromAsync(turn())
        assert.ok(opened.hasListened(), 'a driver without `steer` listens')
      }
      const message = {
        id: 'm',
        role: 'user',
        order: 2,
        at: 0,
        state: 'done',
        parts: turnOf('', subject).input,
      } as const
      if (session.steer !== undefined) await rejection(session.steer(message), 'conflict')
    })

    check('a native session that is gone is no error: a turn begins another one', 'answers', async (opened) => {
      const { driver } = opened.subject
      if ((await driver.describe()).continuity === 'log') return
      const gone = { agentId: driver.id, nativeId: GONE, syncedTo: 1 }
      const bindings: Binding[] = []
      const session = await driver.open(gone, createHost({ bind: (binding) => void bindings.push(binding) }))
      try {
        const events = await Array.fromAsync(session.run(turnOf('gone', opened.subject)))
        assertWhole(events)
        assert.equal(finishOf(events), 'stop')
        assert.notEqual(bindings.at(-1)?.nativeId, GONE)
      } finally {
        await session.close()
      }
    })

    check('an effort it has no word for is refused, not ignored', 'answers', async ({ subject, session }) => {
      const { effort } = await subject.driver.describe()
      const unknown = (['max', 'none', 'minimal'] as const).find((level) => !effort.includes(level))
      if (unknown === undefined) return
      const events = await Array.fromAsync(session.run({ ...turnOf('t', subject), effort: unknown }))
      assertWhole(events)
      const error = events.find((event) => event.type === 'error')
      assert.equal(error?.code ?? error?.error.code, 'unsupported')
    })

    check('its own sessions can be listed and read, if it says so', 'answers', async (opened) => {
      const { driver, turn } = opened.subject
      if (driver.sessions === undefined) return
      const folder = turn?.cwd ?? process.cwd()
      assert.deepEqual(await driver.sessions.list(join(folder, 'nobody-was-here')), [])
      await Array.fromAsync(opened.turn())
      const listed = await driver.sessions.list(folder)
      assert.deepEqual(
        listed.map(({ updatedAt }) => updatedAt),
        listed.map(({ updatedAt }) => updatedAt).toSorted((a, b) => b - a),
      )
      for (const { id } of listed.slice(0, 1)) await Array.fromAsync(driver.sessions.read(id, folder))
      await rejection(Array.fromAsync(driver.sessions.read('no-such-session', folder)), 'not-found')
    })
  })
}

async function withSession(
  contract: DriverContract,
  behaviour: DriverBehaviour,
  body: (opened: OpenedDriver) => Promise<void>,
): Promise<void> {
  const subject = await contract.open(behaviour)
  const abort = new AbortController()
  const bindings: Binding[] = []
  let hasListened = false
  const said = turnOf('', subject).input
  const history: Host['history'] = async function* () {
    yield { id: 'prompt', role: 'user', order: 1, at: 0, state: 'done', parts: said }
  }
  const isLog = (await subject.driver.describe()).continuity === 'log'
  const host = createHost({
    signal: abort.signal,
    bind: (binding) => void bindings.push(binding),
    listen: async () => {
      hasListened = true
      return false
    },
    decide: () => ({ policy: 'allow', reason: 'The contract allows everything.' }),
    ...(isLog ? { history } : {}),
  })
  const session = await subject.driver.open(null, host)
  try {
    await body({
      subject,
      session,
      abort,
      bindings,
      hasListened: () => hasListened,
      turn: (id = 'turn') => session.run(turnOf(id, subject)),
    })
  } finally {
    await session.close()
    await subject.close?.()
  }
}

function turnOf(id: string, { turn }: DriverSubject): Turn {
  const input = [{ id: '0', type: 'text', text: 'Say something.' }] as const
  return { turnId: id, runId: `run-${id}`, threadId: 'thread', input, ...turn }
}

/** Takes all events of a turn; when the first has come, does something else meanwhile. */
async function untilBegun(turn: AsyncIterable<AgentEvent>, act: () => Promise<unknown>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  let done: Promise<unknown> | undefined
  for await (const event of turn) {
    events.push(event)
    done ??= act()
  }
  await done
  return events
}

function assertWhole(events: readonly AgentEvent[]): void {
  const types = events.map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'finish').length, 1, `one finish in ${types.join(' ')}`)
  assert.equal(types.at(-1), 'finish')
  const results = events.flatMap((event) => (event.type === 'tool-result' ? [event.toolCallId] : []))
  assert.equal(new Set(results).size, results.length, 'each call has one result')
}

function finishOf(events: readonly AgentEvent[]): string | undefined {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.finishReason : undefined
}

function textOf(events: readonly AgentEvent[]): string {
  return events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
}
