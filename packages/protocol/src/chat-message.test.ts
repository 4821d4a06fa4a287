import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryStoredMessage, arbitraryUserParts } from '@inspan/testing/arbitraries'
import fc from 'fast-check'
import { fromChatContent, fromChatMessage } from './chat-input.ts'
import { toChatMessage, type ChatMessage, type ChatMessagePart } from './chat-message.ts'
import { InspanError } from './errors.ts'
import { List } from './list.ts'
import type { Part, StoredMessage } from './message.ts'

const ref = { blob: 'abc', size: 100_000, mime: 'text/plain', preview: 'begin' }

function message(parts: readonly Part[], fields: Partial<StoredMessage> = {}): StoredMessage {
  return { id: 'm1', role: 'assistant', order: 3, at: 1_000, state: 'done', ...fields, parts }
}

/** Returns what the chat shows of a part. The second part keeps the content a list. */
function shown(part: Part): ChatMessagePart | undefined {
  const { content } = toChatMessage(message([part, { id: '1', type: 'reasoning', text: 'last' }]))
  assert(Array.isArray(content))
  return content.length === 1 ? undefined : content[0]
}

suite('a chat message', () => {
  test('a chat message of one text is a string, of several parts a list, and of nothing an empty string', () => {
    const text: Part = { id: '0', type: 'text', text: 'Hi' }
    assert.deepEqual(toChatMessage(message([text], { role: 'user' })), {
      id: 'm1',
      role: 'user',
      content: 'Hi',
      createdAt: new Date(1_000),
    })
    assert.deepEqual(toChatMessage({ ...message([]), parts: List.from([text, { ...text, id: '1' }]) }).content, [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: 'Hi' },
    ])
    assert.equal(toChatMessage(message([])).content, '')
  })

  test('keeps text and reasoning, and leaves out a place held for a later part', () => {
    assert.deepEqual(shown({ id: '0', type: 'text', text: 'a' }), { type: 'text', text: 'a' })
    assert.deepEqual(shown({ id: '0', type: 'reasoning', text: 'a' }), { type: 'reasoning', text: 'a' })
    assert.equal(shown({ id: '0', type: 'text', text: '', state: 'open' }), undefined)
  })

  test('shows a call once its arguments are known, without what only we need', () => {
    const call: Part = {
      id: '0',
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'bash',
      args: { command: 'ls' },
      serverName: 's',
      call: { stage: 'ended', outcome: 'ok' },
      native: { itemId: 'i' },
    }
    assert.deepEqual(shown(call), {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'bash',
      args: { command: 'ls' },
    })
    assert.equal(shown({ ...call, args: {}, inputText: '{"co', state: 'open' }), undefined)
  })

  test('shows a result once it is there, a failure with a real error', () => {
    const result = { id: '0', type: 'tool-result', toolCallId: 'c1', toolName: 'bash', result: null } as const
    const seen = { type: 'tool-result', toolCallId: 'c1', toolName: 'bash' }
    assert.equal(shown({ ...result, output: 'half', state: 'open' }), undefined)
    assert.deepEqual(shown({ ...result, result: [1] }), { ...seen, result: [1] })
    assert.deepEqual(shown({ ...result, output: 'half', state: 'interrupted' }), {
      ...seen,
      result: 'half',
      isError: true,
    })
    assert.deepEqual(shown({ ...result, resultRef: ref }), { ...seen, result: 'begin', resultRef: ref })
    const failed = shown({ ...result, isError: true, error: { name: 'TypeError', message: 'bad', code: 'E1' } })
    assert(failed?.type === 'tool-result' && failed.error instanceof Error)
    assert.equal(failed.isError, true)
    assert.equal(failed.error.name, 'TypeError')
    assert.equal(failed.error.message, 'bad')
  })

  test('keeps images and files, or where their data is', () => {
    assert.deepEqual(shown({ id: '0', type: 'image', mimeType: 'image/webp', data: 'AAAA', fileName: 'a.webp' }), {
      type: 'image',
      mimeType: 'image/webp',
      data: 'AAAA',
      fileName: 'a.webp',
    })
    assert.deepEqual(shown({ id: '0', type: 'file', mimeType: 'application/pdf', data: '', ref }), {
      type: 'file',
      mimeType: 'application/pdf',
      data: '',
      ref,
    })
  })

  test('shows what a signal passed to the model, and nothing of a signal that passed nothing', () => {
    const signal = { id: '0', type: 'signal', kind: 'system_reminder', data: {} } as const
    assert.deepEqual(shown({ ...signal, text: 'mind the gap' }), { type: 'text', text: 'mind the gap' })
    assert.equal(shown({ ...signal, text: '' }), undefined)
  })

  test('can be made of any message', () => {
    fc.assert(
      fc.property(arbitraryStoredMessage, (stored) => {
        const chat = toChatMessage(stored)
        assert.equal(chat.id, stored.id)
        assert.equal(chat.createdAt?.getTime(), stored.at)
        assert(typeof chat.content === 'string' || chat.content.length <= stored.parts.length)
      }),
    )
  })
})

suite('a message from outside', () => {
  test('becomes the record that adds it', () => {
    const given: ChatMessage = {
      id: 'ctx-1',
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', mimeType: 'image/png', data: 'iVBORw==', fileName: 'a.png' },
        { type: 'text', text: '' },
        { type: 'file', mimeType: 'application/pdf', data: 'JVBE' },
      ],
      createdAt: new Date(5_000),
    }
    assert.deepEqual(fromChatMessage(given), {
      type: 'message.added',
      messageId: 'ctx-1',
      role: 'user',
      parts: [
        { id: '0', type: 'text', text: 'Look:' },
        { id: '1', type: 'image', mimeType: 'image/png', data: 'iVBORw==', fileName: 'a.png' },
        { id: '2', type: 'file', mimeType: 'application/pdf', data: 'JVBE' },
      ],
      createdAt: 5_000,
    })
    assert.deepEqual(fromChatMessage({ id: 'x', role: 'system', content: 'Be brief.' }), {
      type: 'message.added',
      messageId: 'x',
      role: 'system',
      parts: [{ id: '0', type: 'text', text: 'Be brief.' }],
    })
  })

  const png = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
  const refused: [what: string, content: unknown, why: RegExp][] = [
    ['an empty text', '', /empty/],
    ['no parts', [], /empty/],
    ['nothing but empty texts', [{ type: 'text', text: '' }], /empty/],
    ['something that is no content', 7, /neither a text nor a list/],
    ['a part that is no object', ['hello'], /Part 0 .* no object/],
    ['a tool result', [{ type: 'tool-result', toolCallId: 'c', toolName: 't', result: 1 }], /"tool-result"/],
    ['a tool call', [png, { type: 'tool-call', toolCallId: 'c', toolName: 't', args: {} }], /Part 1 .*"tool-call"/],
    ['reasoning', [{ type: 'reasoning', text: 'hm' }], /"reasoning"/],
    ['a text part without text', [{ type: 'text' }], /without a text/],
    ['data with a URI prefix', [{ ...png, data: 'data:image/png;base64,AAAA' }], /not base64/],
    ['data that is not padded', [{ ...png, data: 'AAA' }], /not base64/],
    ['data with other characters', [{ ...png, data: 'AA*A' }], /not base64/],
    ['no data', [{ ...png, data: '' }], /not base64/],
    ['bytes instead of base64', [{ ...png, data: new Uint8Array(4) }], /not base64/],
    ['an image that is none', [{ ...png, mimeType: 'application/pdf' }], /as a file part/],
    ['a media type that is none', [{ ...png, mimeType: 'png' }], /media type "png"/],
    ['a file name that is no text', [{ ...png, fileName: 1 }], /file name/],
  ]
  for (const [what, content, why] of refused) {
    test(`is refused with ${what}`, () => {
      assert.throws(
        () => fromChatContent(content as ChatMessage['content']),
        (error) => InspanError.is(error, 'invalid-input') && why.test(error.message),
      )
    })
  }

  test('is refused with an id, a role or a time that cannot be', () => {
    const good: ChatMessage = { id: 'x', role: 'user', content: 'Hi' }
    const bad: unknown[] = [
      { ...good, id: '' },
      { ...good, id: '__proto__' },
      { ...good, id: 3 },
      { ...good, role: 'robot' },
      { ...good, createdAt: new Date(Number.NaN) },
      { ...good, createdAt: '2026-01-01' },
    ]
    for (const message of bad) {
      assert.throws(
        () => fromChatMessage(message as ChatMessage),
        (error) => InspanError.is(error, 'invalid-input'),
      )
    }
  })

  test('a message from outside that was read from a chat keeps its text, its order and its time', () => {
    const wordsOf = (parts: readonly Part[]): string[] =>
      parts.flatMap((part) => (part.type === 'text' || part.type === 'signal' ? [part.text] : [])).filter(Boolean)
    const spoken = arbitraryUserParts.filter((parts) => wordsOf(parts).length > 0)
    fc.assert(
      fc.property(spoken, (given) => {
        // Attachments are arbitrary here. The tests above check whether they may be sent.
        const parts = given.filter((part) => part.type !== 'image' && part.type !== 'file')
        const record = fromChatMessage(toChatMessage(message(parts, { role: 'user' })))
        assert.deepEqual(wordsOf(record.parts), wordsOf(parts))
        assert.equal(record.createdAt, 1_000)
      }),
    )
  })
})
