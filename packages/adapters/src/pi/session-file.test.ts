import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { anchorOfMessage, cutSession, type SessionCut } from './session-file.ts'

const HEADER: JsonObject = { type: 'session', id: 's', cwd: '/work' }

/** An entry that follows another one. Messages have a timestamp. */
function entry(id: string, parentId: string | null, more: JsonObject = {}): JsonObject {
  return { type: 'message', id, parentId, ...more }
}
const said = (role: string, timestamp: number, content: JsonObject[] = []): JsonObject => ({
  message: { role, timestamp, content },
})
const fileOf = (...entries: readonly JsonObject[]): string =>
  [HEADER, ...entries].map((record) => `${JSON.stringify(record)}\n`).join('')
const idsOf = (cut: SessionCut | undefined): readonly unknown[] | undefined =>
  cut?.lines.map((line) => (JSON.parse(line) as JsonObject)['id'])

const u1 = entry('u1', null, said('user', 1))
const a1 = entry('a1', 'u1', said('assistant', 2))
const u2 = entry('u2', 'a1', said('user', 3))
const a2 = entry('a2', 'u2', said('assistant', 4))

describe('a session of Pi is cut', () => {
  it('at its anchor, with all that led there', () => {
    const cut = cutSession(fileOf(u1, a1, u2, a2), '2')
    assert.deepEqual(idsOf(cut), ['s', 'u1', 'a1'])
    assert.equal(cut?.isWhole, false)
    assert.equal(cut?.cwd, '/work')
  })

  it('nowhere when it ends at its anchor, or when there is none', () => {
    for (const anchor of ['4', undefined]) {
      const cut = cutSession(fileOf(u1, a1, u2, a2), anchor)
      assert.deepEqual(idsOf(cut), ['s', 'u1', 'a1', 'u2', 'a2'])
      assert.equal(cut?.isWhole, true)
    }
  })

  it('along the branch that the anchor is on', () => {
    const other = entry('u3', 'a1', said('user', 5))
    const answer = entry('a3', 'u3', said('assistant', 6))
    assert.deepEqual(idsOf(cutSession(fileOf(u1, a1, u2, a2, other, answer), '6')), ['s', 'u1', 'a1', 'u3', 'a3'])
    const left = cutSession(fileOf(u1, a1, u2, a2, other, answer), '4')
    assert.deepEqual(idsOf(left), ['s', 'u1', 'a1', 'u2', 'a2'])
    assert.equal(left?.isWhole, false, 'its head is on the other branch')
  })

  it('after the results of the calls that its anchor has made', () => {
    const calls = entry('a1', 'u1', said('assistant', 2, [{ type: 'toolCall' }, { type: 'toolCall' }]))
    const r1 = entry('r1', 'a1', said('toolResult', 3))
    const r2 = entry('r2', 'r1', said('toolResult', 4))
    const next = entry('a2', 'r2', said('assistant', 5))
    assert.deepEqual(idsOf(cutSession(fileOf(u1, calls, r1, r2, next), '2')), ['s', 'u1', 'a1', 'r1', 'r2'])
  })

  it('a session is kept whole if only records follow that the model never sees', () => {
    const silent = entry('c1', 'a1', { type: 'model_change' })
    assert.equal(cutSession(fileOf(u1, a1, silent), '2')?.isWhole, true)
    const heard = entry('c1', 'a1', { type: 'compaction' })
    assert.equal(cutSession(fileOf(u1, a1, heard), '2')?.isWhole, false)
  })

  it('a session of Pi is not cut if it lacks the anchor or is empty', () => {
    assert.equal(cutSession(fileOf(u1, a1), '99'), undefined)
    assert.equal(cutSession('', '1'), undefined)
    assert.equal(cutSession('\n\n', undefined), undefined)
    assert.equal(cutSession(fileOf(), undefined), undefined)
  })

  it('although it has broken lines, or parents in a circle', () => {
    const text = fileOf(u1, a1).replace('\n', '\n{"type":"mess\n')
    assert.deepEqual(idsOf(cutSession(text, '2')), ['s', 'u1', 'a1'])
    const round = fileOf(entry('x', 'y', said('user', 1)), entry('y', 'x', said('assistant', 2)))
    assert.deepEqual(idsOf(cutSession(round, '2')), ['s', 'x', 'y'])
  })
})

it('a message is placed by its time', () => {
  assert.equal(anchorOfMessage({ timestamp: 17 }), '17')
  assert.equal(anchorOfMessage({ timestamp: 'soon' }), undefined)
  assert.equal(anchorOfMessage(undefined), undefined)
})
