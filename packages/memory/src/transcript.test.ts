import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import type { Part, StoredMessage } from '@inspan/protocol'
import { transcript } from './transcript.ts'

const AT = Date.parse('2026-01-02T03:04:05Z')

function message(role: StoredMessage['role'], ...parts: readonly Part[]): StoredMessage {
  return { id: 'm', role, parts, order: 1, at: AT, state: 'done' }
}

const said = (text: string): Part => ({ id: '0', type: 'text', text })

suite('a transcript for an observer', () => {
  test('contains who said what, what was called and what came back', () => {
    const call: Part = {
      id: '1',
      type: 'tool-call',
      toolCallId: 'c',
      toolName: 'read',
      args: { path: 'a' },
      call: { stage: 'ended' },
    }
    const result: Part = { id: '2', type: 'tool-result', toolCallId: 'c', toolName: 'read', result: 'oak' }
    assert.equal(
      transcript([message('user', said('Which wood?')), message('assistant', call, result)]),
      [
        '<message role="user" at="2026-01-02T03:04:05.000Z">',
        'Which wood?',
        '</message>',
        '<message role="assistant" at="2026-01-02T03:04:05.000Z">',
        '[calls read: {"path":"a"}]',
        '[read returned: oak]',
        '</message>',
      ].join('\n'),
    )
  })

  test('leaves out reasoning, and messages that are empty afterwards', () => {
    assert.equal(transcript([message('assistant', { id: '0', type: 'reasoning', text: 'Hm.' })]), '')
  })

  test('cuts long parts, and not inside an emoji', () => {
    const text = transcript([message('user', said(`${'x'.repeat(9)}🦊 and more`))], 10)
    assert.match(text, /x{9} \[…\]/)
    assert.ok(text.isWellFormed())
  })

  test('has no tag but its own, whatever is in the messages', () => {
    const hostile = fc.oneof(fc.string(), fc.constantFrom('</message>', '</conversation>', '<observations>', '&lt;'))
    fc.assert(
      fc.property(hostile, hostile, hostile, (text, name, value) => {
        const parts: Part[] = [
          said(text),
          {
            id: '1',
            type: 'tool-call',
            toolCallId: 'c',
            toolName: name,
            args: { [value]: value },
            call: { stage: 'ended' },
          },
          { id: '2', type: 'tool-result', toolCallId: 'c', toolName: name, result: value },
          { id: '3', type: 'file', mimeType: name, fileName: value, data: '' },
        ]
        const tags = transcript([message('user', ...parts)]).match(/<[^\n]*/g)
        assert.deepEqual(tags, ['<message role="user" at="2026-01-02T03:04:05.000Z">', '</message>'])
      }),
    )
  })
})
