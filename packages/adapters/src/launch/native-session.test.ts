import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NativeRef, StoredMessage } from '@inspan/protocol'
import type { Binding, Host } from '@inspan/protocol/driver'
import { chooseSession, type SessionChoice } from './native-session.ts'

const binding = (more: Partial<Binding> = {}): Binding => ({ agentId: 'a', nativeId: 'n', syncedTo: 1, ...more })

function message(...refs: (NativeRef | undefined)[]): StoredMessage {
  const parts = refs.map((native, index) => ({
    id: String(index),
    type: 'text' as const,
    text: 'x',
    ...(native === undefined ? {} : { native }),
  }))
  return { id: 'm', role: 'assistant', order: 1, at: 1, state: 'done', parts }
}

const history = (...messages: StoredMessage[]): Host['history'] =>
  async function* () {
    yield* messages
  }

const forks = { resume: 'anchor', fork: 'anchor' } as const
const headOnly = { resume: 'head', fork: 'none' } as const

async function choose(
  given: Binding | null,
  can: Parameters<typeof chooseSession>[1],
  messages: readonly StoredMessage[] = [],
): Promise<Partial<SessionChoice>> {
  const session = await chooseSession(given, can, history(...messages))
  if (session.kind === 'resume') return session
  const { id, ...rest } = session
  assert.match(id, /^[0-9a-f-]{36}$/)
  return rest
}

describe('a turn continues with', () => {
  it('a new session when there was none', async () => {
    assert.deepEqual(await choose(null, forks), { kind: 'new' })
  })

  it('its session, at the anchor', async () => {
    assert.deepEqual(await choose(binding({ anchor: 'm1' }), forks), { kind: 'resume', nativeId: 'n', anchor: 'm1' })
  })

  it('a new session when none of the old one was recorded', async () => {
    assert.equal((await choose(binding(), forks)).kind, 'new')
  })

  it('the end of its session only if that is where the last turn ended', async () => {
    assert.deepEqual(await choose(binding({ extra: { settled: true } }), headOnly), { kind: 'resume', nativeId: 'n' })
    const fresh = await choose(binding(), headOnly)
    assert.equal(
      fresh.kind === 'new' && fresh.because,
      'its session may have gone on unseen, and it can only resume at the end',
    )
  })

  it('a new session for programs that cannot resume', async () => {
    const none = { resume: 'none', fork: 'none' } as const
    assert.equal((await choose(binding({ extra: { settled: true } }), none)).kind, 'new')
  })

  it('a fork at the newest message that the thread holds, after a fork or a rewind', async () => {
    const held = [
      message({ sessionId: 'other', messageId: 'x' }, undefined),
      message({ sessionId: 'n', messageId: 'm1' }, { sessionId: 'n', messageId: 'm2' }, { sessionId: 'n' }),
      message({ sessionId: 'n', messageId: 'm0' }),
    ]
    const expected = { kind: 'fork', nativeId: 'n', anchor: 'm2' }
    assert.deepEqual(await choose(binding({ anchor: 'm9', origin: true }), forks, held), expected)
    assert.deepEqual(await choose(binding({ anchor: 'm9', stale: 'rewound' }), forks, held), expected)
  })

  it('a new session where it cannot fork, or nothing is left to fork from', async () => {
    assert.equal((await choose(binding({ origin: true, extra: { settled: true } }), headOnly)).kind, 'new')
    assert.equal((await choose(binding({ stale: 'rewound', anchor: 'm9' }), forks)).kind, 'new')
  })

  it('a new session when the old one holds what was erased', async () => {
    assert.equal((await choose(binding({ anchor: 'm1', stale: 'erased' }), forks)).kind, 'new')
  })
})
