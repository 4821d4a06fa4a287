import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { MessageRole, Part, StoredMessage } from '@inspan/protocol'
import { toPrompt } from './prompt.ts'

function message(role: MessageRole, parts: readonly Part[], more: Partial<StoredMessage> = {}): StoredMessage {
  return { id: 'm', role, order: 1, at: 0, state: 'done', parts, ...more }
}

const call: Part = {
  id: '1',
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'read',
  args: { path: 'a' },
  call: { stage: 'ended' },
}

suite('what the model is shown', () => {
  test('instructions come first, then the conversation as it went', () => {
    const prompt = toPrompt('Be brief.', [
      message('user', [{ id: '0', type: 'text', text: 'Hi' }]),
      message('assistant', [{ id: '0', type: 'text', text: 'Hello' }]),
    ])
    assert.deepEqual(prompt, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    ])
  })

  test('results follow the calls of their step in a message of their own', () => {
    const result: Part = { id: '2', type: 'tool-result', toolCallId: 'c1', toolName: 'read', result: 'text of a' }
    assert.deepEqual(toPrompt(undefined, [message('assistant', [call, result])]), [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: { path: 'a' } }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'read', output: { type: 'text', value: 'text of a' } },
        ],
      },
    ])
  })

  test('an error of a tool is marked as one', () => {
    const failed: Part = {
      id: '2',
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'read',
      result: { no: 1 },
      isError: true,
    }
    const [, tool] = toPrompt(undefined, [message('assistant', [call, failed])])
    assert.deepEqual(tool?.role === 'tool' && tool.content[0], {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'read',
      output: { type: 'error-json', value: { no: 1 } },
    })
  })

  test('reasoning goes back with what the provider gave with it', () => {
    const reasoning: Part = {
      id: '0',
      type: 'reasoning',
      text: 'Hmm',
      meta: { provider: { anthropic: { signature: 's' } } },
    }
    const [assistant] = toPrompt(undefined, [message('assistant', [reasoning])])
    assert.deepEqual(assistant?.content, [
      { type: 'reasoning', text: 'Hmm', providerOptions: { anthropic: { signature: 's' } } },
    ])
  })

  test('an attempt that failed stays out', () => {
    const failed = message('assistant', [{ id: '0', type: 'text', text: 'half' }], {
      error: { name: 'Error', message: 'cut' },
    })
    assert.deepEqual(toPrompt(undefined, [failed]), [])
  })

  test('a call whose input was cut off is left out', () => {
    assert.deepEqual(toPrompt(undefined, [message('assistant', [{ ...call, state: 'interrupted' }])]), [])
    const result: Part = { id: '2', type: 'tool-result', toolCallId: 'c1', toolName: 'read', result: 'Not done.' }
    assert.deepEqual(toPrompt(undefined, [message('assistant', [{ ...call, state: 'interrupted' }, result])]), [])
  })

  test('images, files and signals of a user are shown', () => {
    const [user] = toPrompt(undefined, [
      message('user', [
        { id: '0', type: 'image', mimeType: 'image/png', data: 'aGk=', fileName: 'a.png' },
        { id: '1', type: 'signal', kind: 'system_reminder', text: 'Mind the gap.', data: {} },
      ]),
    ])
    assert.deepEqual(user?.content, [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' }, filename: 'a.png' },
      { type: 'text', text: 'Mind the gap.' },
    ])
  })

  test('an image that a user sent without a word is shown without one', () => {
    const image = { id: '1', type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const
    const [sent] = toPrompt(undefined, [message('user', [{ id: '0', type: 'text', text: '' }, image])])
    assert.deepEqual(sent?.content, [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } },
    ])
  })

  test('an empty text goes back only for what its provider gave along, such as a signature after a file', () => {
    const provider = { google: { thoughtSignature: 'abc' } }
    const [shown] = toPrompt(undefined, [
      message('assistant', [
        { id: '0', type: 'image', mimeType: 'image/png', data: 'aGk=' },
        { id: '1', type: 'text', text: '', meta: { provider } },
        { id: '2', type: 'text', text: '' },
      ]),
    ])
    assert.deepEqual(shown?.content, [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
      { type: 'text', text: '', providerOptions: provider },
    ])
  })

  test('a file with only a known address is its address, as it was written', () => {
    const media = { type: 'image', mimeType: 'image/png', data: '' } as const
    const [shown] = toPrompt(undefined, [
      message('assistant', [
        { ...media, id: '0', url: 'https://example.org/a.png' },
        { ...media, id: '1', url: 'gs://Bucket/../a.png' },
        { ...media, id: '2', url: 'nowhere' },
        { ...media, id: '3', url: 'https://example.org/', meta: { redacted: true } },
      ]),
    ])
    assert.deepEqual(shown?.content, [
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.org/a.png') } },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'url', url: new URL('gs://Bucket/../a.png'), originalUrl: 'gs://Bucket/../a.png' },
      },
    ])
  })

  test('the work of another agent is described as text, because its tools and signatures are not ours', () => {
    const signed: Part = { id: '0', type: 'reasoning', text: 'Hmm', meta: { provider: { x: { signature: 's' } } } }
    const result: Part = { id: '2', type: 'tool-result', toolCallId: 'c1', toolName: 'read', result: 'text of a' }
    const others = message('assistant', [signed, call, result, { id: '3', type: 'text', text: 'Done.' }], {
      by: 'codex',
    })
    assert.deepEqual(toPrompt(undefined, [others], 'native'), [
      {
        role: 'assistant',
        content: [{ type: 'text', text: '[used read: {"path":"a"}]\n[read gave: text of a]\nDone.' }],
      },
    ])
    assert.equal(toPrompt(undefined, [{ ...others, by: 'native' }], 'native').length, 2)
  })

  test('an answer that was cut off points to nothing, whatever is in the place where a provider would name it', () => {
    const provider = { openai: { itemId: 'msg_1', phase: 'final' }, other: null, more: 'x' }
    const said: Part = { id: '0', type: 'text', text: 'Half', meta: { provider } }
    const [shown] = toPrompt(undefined, [message('assistant', [said], { state: 'interrupted' })])
    const providerOptions = { openai: { phase: 'final' }, other: null, more: 'x' }
    assert.deepEqual(shown?.content, [{ type: 'text', text: 'Half', providerOptions }])
  })

  test('a text that was cut inside an emoji is repaired, because providers refuse half of a surrogate pair', () => {
    const cut = '🦊'.slice(0, 1)
    const parts: Part[] = [
      { id: '0', type: 'text', text: cut },
      { id: '1', type: 'tool-call', toolCallId: 'c', toolName: 'read', args: { path: cut }, call: { stage: 'ended' } },
      { id: '2', type: 'tool-result', toolCallId: 'c', toolName: 'read', result: { lines: [cut] } },
    ]
    const prompt = toPrompt(cut, [message('user', parts.slice(0, 1)), message('assistant', parts)])
    assert.doesNotMatch(JSON.stringify(prompt), /\\ud83e/)
    assert.equal(JSON.stringify(prompt).split('\ufffd').length - 1, 5)
  })

  test('reasoning that was cut off has no signature and is left out', () => {
    const half: Part = { id: '0', type: 'reasoning', text: 'Hm', state: 'interrupted' }
    assert.deepEqual(toPrompt(undefined, [message('assistant', [half, { id: '1', type: 'text', text: 'So' }])]), [
      { role: 'assistant', content: [{ type: 'text', text: 'So' }] },
    ])
  })

  test('a result is shown as its tool wants it shown', () => {
    const result: Part = {
      id: '2',
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'read',
      result: { all: 'of it' },
      meta: { modelOutput: { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data: 'aGk=' }] } },
    }
    const [, tool] = toPrompt(undefined, [message('assistant', [call, result])])
    assert.deepEqual(tool?.role === 'tool' && tool.content[0], {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'read',
      output: {
        type: 'content',
        value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } }],
      },
    })
  })
})
