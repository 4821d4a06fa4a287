import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NativeRef, StoredMessage } from '@inspan/protocol'
import type { Host } from '@inspan/protocol/driver'
import { aMessage } from '../../test/live/live-host.ts'
import { missedMessages, wordsOf, type HandoverQuery } from './handover.ts'

const SESSION = 's1'

function history(...newestFirst: readonly StoredMessage[]): Host['history'] {
  return async function* ({ after = 0 }) {
    for (const message of newestFirst) if (message.order > after) yield message
  }
}

async function ids(messages: Host['history'], more: Partial<HandoverQuery> = {}): Promise<readonly string[]> {
  const handover = await missedMessages(messages, {
    isKnown: ({ sessionId }: NativeRef) => sessionId === SESSION,
    syncedTo: 0,
    heardRuns: new Set(),
    ...more,
  })
  return handover.messages.map(({ id }) => id)
}

const own = aMessage('own', 'I said so', { order: 3, role: 'assistant', native: { sessionId: SESSION } })
const other = aMessage('other', 'I did, too', { order: 5, role: 'assistant', by: 'other' })
const user = aMessage('user', 'and you?', { order: 4 })
const older = aMessage('older', 'long ago', { order: 1 })

describe('what is handed over', () => {
  it('is what came after the newest message of the session, oldest first', async () => {
    assert.deepEqual(await ids(history(other, user, own, older)), ['user', 'other'])
  })

  it('is everything for a session that knows nothing', async () => {
    assert.deepEqual(await ids(history(other, user, own, older), { isKnown: () => false }), [
      'older',
      'own',
      'user',
      'other',
    ])
  })

  it('does not go back beyond what the session is known to know', async () => {
    assert.deepEqual(await ids(history(other, user, older), { syncedTo: 4 }), ['other'])
  })

  it('leaves out what the session received when it was said', async () => {
    const said = aMessage('said', 'do it', { order: 6, run: 'r2' })
    assert.deepEqual(await ids(history(said, other, own), { heardRuns: new Set(['r2']) }), ['other'])
  })

  it('finds the session in the parts of a message too', async () => {
    const inParts = aMessage('x', '', { parts: [{ id: '0', type: 'text', text: 'y', native: { sessionId: SESSION } }] })
    assert.deepEqual(await ids(history(other, inParts, older)), ['other'])
  })

  it('is never cut within a character', async () => {
    const budget = { maxTokens: 3, countTokens: (text: string) => text.length }
    const handover = await missedMessages(history(aMessage('smile', '😀😀😀')), {
      isKnown: () => false,
      syncedTo: 0,
      heardRuns: new Set(),
      budget,
    })
    assert.deepEqual(
      handover.messages.flatMap(({ parts }) => parts.map(wordsOf)),
      ['😀 […]'],
    )
  })

  it('is cut where it gets too long, at the old end', async () => {
    const long = aMessage('long', 'x'.repeat(200_000), { order: 2 })
    const handover = await missedMessages(history(other, long, older), {
      isKnown: () => false,
      syncedTo: 0,
      heardRuns: new Set(),
    })
    assert.deepEqual([handover.messages.map(({ id }) => id), handover.omitted, handover.isCut], [['other'], 2, false])
  })
})

describe('the task of a turn', () => {
  const asked = aMessage('asked', 'Build it.', { order: 9, run: 'r', turn: 't2' })
  const steered = aMessage('steered', 'In oak.', { order: 10, run: 'r', turn: 't2' })
  const before = aMessage('before', 'Plan a table.', { order: 6, run: 'r', turn: 't1' })
  const turn = { runId: 'r', turnId: 't2' }

  it('is not handed over, but what was asked in earlier turns of the run is, and what was said in the course of it', async () => {
    const told = history(steered, asked, other, before)
    assert.deepEqual(await ids(told, { turn, isKnown: () => false }), ['before', 'other', 'steered'])
  })

  it('takes nothing from the handover', async () => {
    const long = { ...asked, parts: [{ id: '0', type: 'text', text: 'x'.repeat(100) }] } as const
    const budget = { maxTokens: 20, countTokens: (text: string) => text.length }
    assert.deepEqual(await ids(history(long, other, before), { turn, budget, isKnown: () => false }), ['other'])
  })
})

describe('a text part', () => {
  it('reports what was called and what came of it', () => {
    const call = { stage: 'ended' } as never
    assert.equal(
      wordsOf({ id: '0', type: 'tool-call', toolCallId: 'c', toolName: 'grep', args: { pattern: 'x' }, call }),
      '[called grep with {"pattern":"x"}]',
    )
    assert.equal(
      wordsOf({ id: '1', type: 'tool-result', toolCallId: 'c', toolName: 'grep', result: 'none', isError: true }),
      '[grep failed none]',
    )
  })

  it('leaves out reasoning', () => {
    assert.equal(wordsOf({ id: '0', type: 'reasoning', text: 'hmm' }), '')
  })
})
