import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { schemas } from '@inspan/protocol/schema'
import type { WaitKind } from '@inspan/protocol'
import { isSealedPart, redactBody, type RecordBody } from '@inspan/protocol/log'
import { arbitraryRecordBody } from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import { RecordRedaction, WITHHELD, type Redactor } from './redactor.ts'

const hideKeys: Redactor = (text) => text.replace(/sk-\w+/g, '[key]')

const fails: Redactor = (text) => {
  throw new Error(`cannot redact ${text}`)
}

function redact(body: RecordBody, redactor: Redactor = hideKeys, kind?: WaitKind): RecordBody {
  return redactBody(body, new RecordRedaction(redactor), () => kind)
}

const place = { messageId: 'm', partId: '0' }
const call = { ...place, type: 'tool-call', toolCallId: 'c', toolName: 'fetch' } as const
const result = { ...place, type: 'tool-result', toolCallId: 'c', toolName: 'fetch' } as const

suite('a redacted record', () => {
  test('has the text of a part without what was to be hidden, and reports it', () => {
    assert.deepEqual(redact({ ...place, type: 'text-delta', text: 'It is sk-1.' }), {
      ...place,
      type: 'text-delta',
      text: 'It is [key].',
      meta: { redacted: true },
    })
  })

  test('has ids and names that a model makes up redacted, alike wherever they appear', () => {
    const named = { toolCallId: 'c-sk-1', toolName: 'fetch_sk-2' }
    const hidden = { toolCallId: 'c-[key]', toolName: 'fetch_[key]' }
    assert.deepEqual(redact({ ...call, ...named, args: {} }), {
      ...call,
      ...hidden,
      args: {},
      meta: { redacted: true },
    })
    assert.deepEqual(redact({ ...result, ...named, result: 1 }), {
      ...result,
      ...hidden,
      result: 1,
      meta: { redacted: true },
    })
    const wait = { id: 'w', kind: 'approval', description: 'May it?' } as const
    assert.deepEqual(redact({ type: 'wait.opened', wait: { ...wait, subject: named } }), {
      type: 'wait.opened',
      wait: { ...wait, subject: hidden },
    })
    const started = { ...place, type: 'call.started', attempt: 1 } as const
    assert.deepEqual(redact({ ...started, toolCallId: 'c-sk-1', idempotencyKey: 'run:c-sk-1' }), {
      ...started,
      toolCallId: 'c-[key]',
      idempotencyKey: 'run:c-[key]',
    })
    const file = { ...place, type: 'file', data: '' } as const
    assert.deepEqual(redact({ ...file, mimeType: 'text/sk-1' }), {
      ...file,
      mimeType: 'text/[key]',
      meta: { redacted: true },
    })
  })

  test('has the task list redacted, where it is stored and where the model gets it', () => {
    const task = { id: 't_sk-1', content: 'Use sk-2', status: 'pending', activeForm: 'Using sk-2' } as const
    assert.deepEqual(redact({ type: 'tasks.changed', tasks: [task] }), {
      type: 'tasks.changed',
      tasks: [{ id: 't_[key]', content: 'Use [key]', status: 'pending', activeForm: 'Using [key]' }],
    })
    const told = { id: '0', type: 'signal', kind: 'state_signal', data: { tasks: ['sk-2'] } } as const
    const message = { type: 'message.added', messageId: 'm', role: 'user' } as const
    assert.deepEqual(redact({ ...message, parts: [{ ...told, text: '<tasks>sk-2' }] }), {
      ...message,
      parts: [{ ...told, text: '<tasks>[key]', data: { tasks: ['[key]'] }, meta: { redacted: true } }],
    })
  })

  test('has every string in arguments and results redacted, names too', () => {
    const args = { headers: { auth: 'Bearer sk-1', 'sk-2': ['sk-3', 4, null, true] }, 'sk-3': 1, 'sk-4': 2 }
    const redacted = {
      headers: { auth: 'Bearer [key]', '[key]': ['[key]', 4, null, true] },
      '[key]': 1,
      '[key] (2)': 2,
    }
    assert.deepEqual(redact({ ...call, args }), { ...call, args: redacted, meta: { redacted: true } })
    assert.deepEqual(redact({ ...result, result: args, meta: { modelOutput: 'sk-1', input: { key: 'sk-1' } } }), {
      ...result,
      result: redacted,
      meta: { modelOutput: '[key]', input: { key: '[key]' }, redacted: true },
    })
  })

  test('has them in what it did, in errors and in input that was no JSON', () => {
    const activity = {
      mapper: 'm',
      version: 1,
      events: [{ type: 'command', timestamp: '2026-01-01T00:00:00Z', command: 'curl sk-1' }],
    } as const
    const redacted = redact({ ...call, args: {}, activity, meta: { invalidInput: '{"a":"sk-1' } })
    assert.ok(redacted.type === 'tool-call')
    assert.deepEqual(redacted.activity?.events, [{ ...activity.events[0], command: 'curl [key]' }])
    assert.equal(redacted.meta?.invalidInput, '{"a":"[key]')
    const error = { name: 'Error', message: 'sk-1', stack: 'at sk-1', cause: { name: 'Error', message: 'sk-2' } }
    for (const body of [
      { type: 'error', error },
      { ...result, result: 'x', error },
      { type: 'run.ended', runId: 'r', outcome: 'error', error, output: { key: 'sk-1' } },
      { type: 'step.ended', stepIndex: 0, finishReason: 'error', error },
      { type: 'message.ended', messageId: 'm', outcome: 'done', error },
      { type: 'note', kind: 'warning', text: 'sk-1', data: { activity, key: 'sk-1' } },
    ] as const satisfies readonly RecordBody[]) {
      assert.doesNotMatch(JSON.stringify(redact(body)), /sk-/, body.type)
    }
  })

  test('lets nobody vouch for reasoning that is not the same any more', () => {
    const reasoning = { ...place, type: 'reasoning-delta', meta: { provider: { some: { signature: 'abc' } } } } as const
    assert.deepEqual(redact({ ...reasoning, text: 'sk-1' }), {
      ...place,
      type: 'reasoning-delta',
      text: '[key]',
      meta: { redacted: true },
    })
    const untouched = { ...reasoning, text: 'Hm.' }
    assert.deepEqual(redact(untouched), untouched)
    // A changed signature is worthless.
    const signed = {
      ...place,
      type: 'text-delta',
      text: 'Hm.',
      meta: { provider: { some: { signature: 'sk-1' } } },
    } as const
    assert.deepEqual(redact(signed).type === 'text-delta' && redact(signed), {
      ...place,
      type: 'text-delta',
      text: 'Hm.',
      meta: { redacted: true },
    })
  })

  test('has a question without it, and still knows what an answer is good for', () => {
    const redacted = redact({
      type: 'wait.opened',
      wait: {
        id: 'w',
        kind: 'approval',
        subject: { toolName: 'fetch', args: { key: 'sk-1' }, hash: 'h' },
        description: 'fetch: sk-1',
        payload: { options: ['sk-1'] },
        answerSchema: '{"enum":["sk-1"]}',
        preconditions: { 'sk-1': 'hash' },
      },
    })
    assert.doesNotMatch(JSON.stringify(redacted), /sk-/)
    assert.ok(redacted.type === 'wait.opened')
    assert.equal(redacted.wait.subject.hash, 'h')
    assert.equal(redacted.wait.answerSchema, '{"enum":["[key]"]}')
  })

  test('leaves what people and applications said as they said it', () => {
    const parts = [{ id: '0', type: 'text', text: 'Use sk-1.' }] as const
    for (const body of [
      { type: 'message.added', messageId: 'm', role: 'user', parts },
      { type: 'message.added', messageId: 'm', role: 'system', parts },
      { type: 'queue.added', item: { id: 'q', lane: 'steer', parts } },
      { type: 'note', kind: 'feedback', text: 'Mind sk-1.' },
      { type: 'config.changed', state: { key: 'sk-1' } },
    ] as const satisfies readonly RecordBody[]) {
      assert.deepEqual(redact(body), body)
    }
    const answered = { type: 'wait.answered', waitId: 'w', answer: { decision: 'answer', value: 'sk-1' } } as const
    assert.deepEqual(redact(answered, hideKeys, 'question'), answered)
  })

  test('has what agents said elsewhere, what tools outside gave, tasks and titles without it', () => {
    const parts = [
      { id: '0', type: 'text', text: 'sk-1' },
      { id: '1', type: 'tool-result', toolCallId: 'c', toolName: 'fetch', result: { key: 'sk-1' } },
    ] as const
    const reminder = { id: '0', type: 'signal', kind: 'system_reminder', text: 'sk-1', data: { key: 'sk-1' } } as const
    for (const body of [
      { type: 'message.added', messageId: 'm', role: 'assistant', parts },
      { type: 'message.added', messageId: 'm', role: 'user', parts, meta: { synthetic: true } },
      { type: 'message.added', messageId: 'm', role: 'user', parts: [reminder] },
      { type: 'tasks.changed', tasks: [{ id: '1', content: 'sk-1', activeForm: 'sk-1', status: 'pending' }] },
      { type: 'config.changed', title: 'About sk-1' },
      { type: 'wait.answered', waitId: 'w', answer: { decision: 'answer', value: { key: 'sk-1' } } },
    ] as const satisfies readonly RecordBody[]) {
      assert.doesNotMatch(JSON.stringify(redact(body, hideKeys, 'tool')), /sk-/, body.type)
    }
  })

  test('stores nothing of it elsewhere either', () => {
    const parts = [
      { id: '0', type: 'text', text: 'It is sk-1.', meta: { sources: ['sk-1'] } },
      { id: '1', type: 'text', text: 'Fine.', meta: { provider: { some: { id: 'a' } } } },
      { id: '2', type: 'reasoning', text: 'Hm, sk-1.', meta: { provider: { some: { signature: 'abc' } } } },
      { id: '3', type: 'reasoning', text: 'Hm.', meta: { provider: { some: { signature: 'sk-1' } } } },
      { id: '4', type: 'file', mimeType: 'text/plain', data: 'aGk=', fileName: 'sk-1.txt' },
      { id: '5', type: 'image', mimeType: 'image/png', data: '', url: 'https://example.org/?key=sk-1' },
      {
        id: '6',
        type: 'tool-result',
        toolCallId: 'c',
        toolName: 'fetch',
        result: 'ok',
        meta: { modelOutput: { type: 'text', value: 'sk-1' } },
      },
    ] as const
    const meta = { attributes: { 'sk-1': 'sk-2' } }
    const body = { type: 'message.added', messageId: 'm', role: 'assistant', parts, meta } as const
    assert.deepEqual(redact(body), {
      ...body,
      meta: { attributes: { '[key]': '[key]' } },
      parts: [
        { ...parts[0], text: 'It is [key].', meta: { sources: ['[key]'], redacted: true } },
        parts[1],
        { ...parts[2], text: 'Hm, [key].', meta: { redacted: true } },
        { ...parts[3], meta: { redacted: true } },
        { ...parts[4], fileName: '[key].txt', meta: { redacted: true } },
        { ...parts[5], url: 'https://example.org/?key=[key]', meta: { redacted: true } },
        { ...parts[6], meta: { modelOutput: { type: 'text', value: '[key]' }, redacted: true } },
      ],
    })
    const own = { ...body, role: 'user' } as const
    assert.deepEqual(redact(own), own)
    const ours = redact({ ...own, meta: { ...meta, synthetic: true } })
    assert.deepEqual(ours.type === 'message.added' && ours.meta, { attributes: { '[key]': '[key]' }, synthetic: true })
  })
})

suite('a redactor that fails', () => {
  test('leads to the text being withheld, and nothing of its error is kept', () => {
    for (const redactor of [
      fails,
      (() => undefined) as unknown as Redactor,
      (async (text: string) => text) as unknown as Redactor,
    ]) {
      const redaction = new RecordRedaction(redactor)
      const redacted = redactBody({ ...place, type: 'text-delta', text: 'sk-1' }, redaction, () => undefined)
      assert.deepEqual(redacted, { ...place, type: 'text-delta', text: WITHHELD, meta: { redacted: true } })
      assert.ok(redaction.isWithheld)
    }
  })
})

suite('whatever the record', () => {
  const runs = { numRuns: 300 }

  test('a redactor that changes nothing leaves it as it is', () => {
    fc.assert(
      fc.property(arbitraryRecordBody, (body) => {
        const redaction = new RecordRedaction((text) => text)
        assert.deepEqual(
          redactBody(body, redaction, () => 'tool'),
          body,
        )
        assert.ok(!redaction.isChanged)
      }),
      runs,
    )
  })

  test('it is still a record after a redactor that takes everything, or fails', () => {
    fc.assert(
      fc.property(arbitraryRecordBody, (body) => {
        for (const redactor of [fails, () => '*']) {
          const record = { v: 1, stream: 's', seq: 1, at: 0, body: redact(body, redactor, 'tool') }
          assert.deepEqual(schemas.LogRecord.parse(record), record)
        }
      }),
      runs,
    )
  })

  test('redacting again does not change what was redacted', () => {
    fc.assert(
      fc.property(arbitraryRecordBody, (body) => {
        const once = redact(body, () => '*', 'tool')
        if (isSealedPart(once))
          assert.deepEqual(
            redact(once, () => '*', 'tool'),
            once,
          )
      }),
      runs,
    )
  })
})
