import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { gooseDialect } from './mapper.ts'

const INFERENCE = { inference: { provider: 'p', requestedModel: 'm' } }
const complete = { type: 'complete', total_tokens: 15, input_tokens: 10, output_tokens: 5 }

function message(id: string | null, role: string, content: readonly unknown[], metadata: object = {}): object {
  return { type: 'message', message: { id, role, created: 1, content, metadata } }
}

function text(id: string, words: string, metadata: object = INFERENCE): object {
  return message(id, 'assistant', [{ type: 'text', text: words }], metadata)
}

function request(id: string, command: string): object {
  return { type: 'toolRequest', id, toolCall: { status: 'success', value: { name: 'shell', arguments: { command } } } }
}

function calls(messageId: string, ...blocks: readonly object[]): object {
  return message(messageId, 'assistant', blocks, INFERENCE)
}

function answers(id: string, exitCode = 0): object {
  const value = { content: [], structuredContent: { exit_code: exitCode }, isError: exitCode !== 0 }
  return message('u', 'user', [{ type: 'toolResponse', id, toolResult: { status: 'success', value } }])
}

function mapped(lines: readonly unknown[], options?: RunOptions): MappedRun {
  return mapRun(gooseDialect, lines, options)
}

function map(lines: readonly unknown[], options?: RunOptions): readonly object[] {
  return unstamped(mapped(lines, options).activity)
}

const agent = (words: string): object => ({ type: 'agent', message: words })
const made = (command: string, exitCode = 0): object => ({
  type: 'command',
  command,
  exitCode,
  isSuccess: exitCode === 0,
})

describe('Goose: messages', () => {
  it('records with one id are one message, said when something else happens', () => {
    const run = mapped([text('a', 'Hel'), text('a', 'lo.'), calls('a', request('c1', 'make')), answers('c1'), complete])
    assert.deepEqual(unstamped(run.activity), [agent('Hello.'), made('make')])
    assert.deepEqual(
      eventsOf(run, 'text-delta').map(({ text }) => text),
      ['Hel', 'lo.', ''],
    )
  })

  it('the end of the run reports it too', () => {
    assert.deepEqual(map([text('a', 'Hel'), text('a', 'lo.'), complete]), [agent('Hello.')])
  })

  it('a record that restates the text replaces it', () => {
    assert.deepEqual(map([text('a', 'Hel', {}), text('a', 'Hello', {}), text('a', 'Hello there.', {}), complete]), [
      agent('Hello there.'),
    ])
  })

  it('a text that was never finished is kept', () => {
    const run = mapped([text('a', 'Hel', {}), text('a', 'Hello', {})], { end: { exitCode: null, aborted: true } })
    assert.deepEqual(unstamped(run.activity), [agent('Hello')])
    assert.deepEqual(eventsOf(run, 'text-delta').at(-1)?.meta, { end: true, interrupted: true })
  })

  it('another id is another message', () => {
    assert.deepEqual(map([text('a', 'One.'), text('b', 'Two.'), complete]), [agent('One.'), agent('Two.')])
  })

  it('thoughts carry no activity and do not cut a text in two', () => {
    const run = mapped([
      message('a', 'assistant', [{ type: 'thinking', thinking: 'Hm', signature: 's' }], INFERENCE),
      message(
        'a',
        'assistant',
        [
          { type: 'thinking', thinking: 'm.' },
          { type: 'text', text: 'He' },
        ],
        INFERENCE,
      ),
      message('a', 'assistant', [{ type: 'redactedThinking', data: 'x' }], INFERENCE),
      text('a', 'llo.'),
      complete,
    ])
    assert.deepEqual(unstamped(run.activity), [agent('Hello.')])
    assert.deepEqual(
      eventsOf(run, 'reasoning-delta').map(({ text, meta }) => [text, meta?.['end']]),
      [
        ['Hm', undefined],
        ['m.', undefined],
        ['', true],
      ],
    )
  })

  it('reasoning ends where text or calls begin', () => {
    const thinking = (thought: unknown): object =>
      message('a', 'assistant', [{ type: 'thinking', thinking: thought }], INFERENCE)
    const order = (...lines: readonly object[]): readonly string[] =>
      mapped([thinking('Hm.'), ...lines]).events.map(({ type, meta }) =>
        meta?.['end'] === true ? `${type}, end` : type,
      )
    assert.deepEqual(order(text('a', 'Hi.')).slice(2, 5), ['reasoning-delta', 'reasoning-delta, end', 'text-delta'])
    assert.deepEqual(order(calls('a', request('c1', 'make'))).slice(2, 5), [
      'reasoning-delta',
      'reasoning-delta, end',
      'tool-call',
    ])
    const empty = mapped([thinking(''), thinking(7), complete])
    assert.equal(eventsOf(empty, 'reasoning-delta').length, 0)
    assert.deepEqual(empty.sums.reasons, { reasoning: 2, lifecycle: 1 })
  })

  it('a short restatement is believed unless other texts came in pieces', () => {
    const short = [text('b', '1'), text('b', '10')]
    assert.deepEqual(map([...short, complete]), [agent('10')])
    assert.deepEqual(map([text('a', 'One '), text('a', 'piece.'), ...short, complete]), [
      agent('One piece.'),
      agent('110'),
    ])
  })

  it('the user’s messages, images and hidden content are no message of the agent', () => {
    const run = mapped([
      message('u', 'user', [
        { type: 'text', text: 'Do it.' },
        { type: 'image', data: '' },
      ]),
      text('a', 'summary', { ...INFERENCE, userVisible: false }),
      complete,
    ])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(run.sums.reasons, { 'user-text': 1, synthetic: 1, lifecycle: 1 })
  })

  it('a message of the program itself is a warning, where messages name their author', () => {
    const limit = 'I have done as much as I may.'
    assert.deepEqual(map([calls('a', request('c1', 'make')), answers('c1'), text('b', limit, {}), complete]), [
      made('make'),
      { type: 'warning', message: limit },
    ])
    assert.deepEqual(map([text('b', limit, {}), complete]), [agent(limit)])
  })

  it('names the message in the session', () => {
    const run = mapped([text('a', 'Hi.'), complete], { sessionId: '20260102_1' })
    assert.deepEqual(eventsOf(run, 'text-delta')[0]?.native, { sessionId: '20260102_1', messageId: 'a' })
    assert.deepEqual(eventsOf(run, 'finish')[0]?.native, { sessionId: '20260102_1' })
    assert.equal(run.activity[0]?.sessionId, '20260102_1')
  })

  it('never takes a session from the stream', () => {
    assert.equal(mapped([{ ...complete, session_id: 's', id: 'i' }, text('a', 'x')]).mapper.sessionId, undefined)
  })

  it('messages lose terminal escapes, texts keep them', () => {
    const run = mapped([text('a', '\u001b[31mred\u001b[0m'), complete])
    assert.deepEqual(unstamped(run.activity), [agent('red')])
    assert.equal(eventsOf(run, 'text-delta')[0]?.text, '\u001b[31mred\u001b[0m')
  })
})

describe('Goose: calls and results', () => {
  it('several calls in one record are answered one by one', () => {
    assert.deepEqual(
      map([calls('a', request('c1', 'a'), request('c2', 'b')), answers('c2', 3), answers('c1'), complete]),
      [made('b', 3), made('a')],
    )
  })

  it('blocks of one record are read in order', () => {
    assert.deepEqual(
      map([calls('a', { type: 'text', text: 'Look:' }, request('c1', 'make')), answers('c1'), complete]),
      [agent('Look:'), made('make')],
    )
  })

  it('a result without a call, and a second one, are unknown', () => {
    const block = { type: 'toolResponse', id: 'c1', toolResult: { status: 'success', value: {} } }
    const orphan = message('u', 'user', [block])
    assert.deepEqual(map([orphan, complete]), [{ type: 'unknown', raw: block }])
    assert.deepEqual(map([calls('a', request('c1', 'make')), answers('c1'), orphan, complete])[1], {
      type: 'unknown',
      raw: block,
    })
  })

  it('two open calls with one id are ambiguous', () => {
    const types = map([calls('a', request('c1', 'a'), request('c1', 'b')), answers('c1'), complete])
    assert.deepEqual(
      types.map((event) => 'type' in event && event.type),
      ['unknown', 'unknown', 'unknown'],
    )
  })

  it('an id can be used again when its call is over; a call that is never answered has failed', () => {
    const run = mapped([calls('a', request('c1', 'a')), answers('c1'), calls('b', request('c1', 'b'))], {
      end: { exitCode: null, aborted: true },
    })
    assert.deepEqual(unstamped(run.activity), [made('a'), { type: 'command', command: 'b', isSuccess: false }])
    assert.deepEqual(
      eventsOf(run, 'tool-result').map(({ toolCallId }) => toolCallId),
      ['c1', 'c1#2'],
    )
  })

  it('input that is no object is kept as it came', () => {
    const block = { type: 'toolRequest', id: 'c1', toolCall: { value: { name: 'shell', arguments: '{"comm' } } }
    const [event] = eventsOf(mapped([calls('a', block)]), 'tool-call')
    assert.deepEqual([event?.args, event?.meta?.invalidInput], [{}, '{"comm'])
  })

  it('each message of the model is a step', () => {
    const run = mapped([text('a', 'x'), calls('a', request('c1', 'a')), answers('c1'), text('b', 'y'), complete])
    assert.deepEqual(
      eventsOf(run, 'step-finish').map(({ finishReason }) => finishReason),
      ['tool-calls', 'stop'],
    )
  })
})

describe('Goose: other records', () => {
  it('notifications are unknown, never read as prose', () => {
    const lines = [
      { type: 'notification', extension_id: 'c1', log: { message: '[subagent:2] shell' } },
      { type: 'notification', extension_id: 'c1', progress: { progress: 1, total: 2, message: null } },
    ]
    assert.deepEqual(
      map([...lines, complete]),
      lines.map((raw) => ({ type: 'unknown', raw })),
    )
  })

  it('text from before other records comes first', () => {
    const note = { type: 'notification', extension_id: 'c1', log: { message: 'x' } }
    assert.deepEqual(map([text('a', 'Hi.'), note, complete]), [agent('Hi.'), { type: 'unknown', raw: note }])
  })

  it('records and blocks that nobody knows are unknown', () => {
    const block = { type: 'novelty', a: 1 }
    const action = { type: 'actionRequired', data: {} }
    const lines = [
      { type: 'novelty' },
      { type: 'message' },
      { type: 'message', message: { content: 7 } },
      { type: 'error' },
    ]
    assert.deepEqual(
      map([...lines, message('a', 'assistant', [block, action, 7]), complete]),
      [...lines, block, action, 7].map((raw) => ({ type: 'unknown', raw })),
    )
  })

  it('text from before any other block comes first', () => {
    const blocks = [
      { type: 'novelty' },
      { type: 'systemNotification', notificationType: 'x', msg: 'm' },
      { type: 'toolResponse', id: 'c9', toolResult: {} },
    ]
    for (const block of blocks) {
      const said = map([text('a', 'Hi.'), message('a', 'assistant', [block]), complete])
      assert.deepEqual(said[0], agent('Hi.'))
      assert.equal(said.length, 2)
    }
    const noId = [message(null, 'assistant', [{ type: 'text', text: 'Hi.' }, request('c1', 'make')]), answers('c1')]
    const order = mapped([...noId, complete]).events.map(({ type }) => type)
    assert.ok(order.lastIndexOf('text-delta') < order.indexOf('tool-call'))
  })

  it('notices of the program are warnings', () => {
    const notice = message('n', 'assistant', [
      { type: 'systemNotification', notificationType: 'inlineMessage', msg: 'Compacting.' },
    ])
    assert.deepEqual(map([notice, text('a', 'Hi.'), complete]), [
      { type: 'warning', message: 'Compacting.', code: 'inlineMessage' },
      agent('Hi.'),
    ])
    assert.equal(eventsOf(mapped([notice, text('a', 'Hi.'), complete]), 'error').length, 0)
  })

  it('a run that ends with such a notice instead of an answer has failed', () => {
    const notice = message('n', 'assistant', [{ type: 'systemNotification', notificationType: 'x', msg: 'Too long.' }])
    const failure = {
      type: 'error',
      message: 'The run ended without an answer of the agent: Too long.',
      code: 'no-answer',
    }
    assert.deepEqual(map([notice, complete])[1], failure)
    const afterCall = [text('a', 'I look.'), calls('a', request('c1', 'make')), answers('c1')]
    assert.deepEqual(map([...afterCall, notice, complete]).at(-1), failure)
    assert.equal(eventsOf(mapped([...afterCall, text('b', 'Done.'), notice, complete]), 'error').length, 0)
    assert.equal(eventsOf(mapped([notice, ...afterCall, complete]), 'error').length, 0)
  })

  it('an answer that was cut off is marked as such', () => {
    const cut = message('a', 'assistant', [], { ...INFERENCE, outputTokenLimitReached: true })
    const run = mapped([text('a', 'This is c'), cut, complete])
    assert.deepEqual(unstamped(run.activity), [
      agent('This is c'),
      { type: 'warning', message: 'The answer was cut off at the output limit.', code: 'output-limit' },
    ])
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'length')
  })
})

describe('Goose: failures', () => {
  const refused = 'Ran into this error: Server error (500).\n\nPlease retry.'

  it('an error said in the agent’s place is the error, though the exit code is 0', () => {
    const run = mapped([text('a', refused, {}), complete])
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: refused }])
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'error')
  })

  it('a cut stream leaves half a message', () => {
    const run = mapped([text('a', 'This will be c'), text('b', 'Network error: cut\n\nPlease resend.', {}), complete])
    assert.deepEqual(unstamped(run.activity), [
      agent('This will be c'),
      { type: 'error', message: 'Network error: cut\n\nPlease resend.' },
    ])
    assert.deepEqual(eventsOf(run, 'text-delta').at(-1)?.meta, { end: true, interrupted: true })
  })

  it('the same text from a model is an answer', () => {
    assert.deepEqual(map([text('a', 'Network error: is what you asked about.'), complete]), [
      agent('Network error: is what you asked about.'),
    ])
  })

  it('one failure is one error, with the kind that Goose gives', () => {
    const block = { type: 'error', kind: 'authentication', message: 'no key' }
    const run = mapped([message('a', 'assistant', [block]), { type: 'error', error: 'no key' }], {
      stderr: ['Error: no key'],
      end: { exitCode: 1 },
    })
    assert.deepEqual(unstamped(run.activity), [
      { type: 'warning', message: 'Error: no key' },
      { type: 'error', message: 'no key', code: 'authentication' },
    ])
  })

  it('the error at the end closes what is open first', () => {
    const run = mapped(
      [text('a', 'Slee'), calls('a', request('c1', 'sleep 9')), { type: 'error', error: 'interrupted' }],
      {
        end: { exitCode: 1 },
      },
    )
    assert.deepEqual(unstamped(run.activity), [
      agent('Slee'),
      { type: 'command', command: 'sleep 9', isSuccess: false },
      { type: 'error', message: 'interrupted' },
    ])
    assert.equal(eventsOf(run, 'error').length, 1)
  })

  it('the last of two errors at the end ends the run', () => {
    const run = mapped(
      [
        { type: 'error', error: 'one' },
        { type: 'error', error: 'two' },
      ],
      { end: { exitCode: 1 } },
    )
    assert.deepEqual(unstamped(run.activity), [
      { type: 'error', message: 'one' },
      { type: 'error', message: 'two' },
    ])
    assert.deepEqual(
      eventsOf(run, 'error').map(({ error }) => error.message),
      ['two'],
    )
  })

  it('a run that we stopped has not failed', () => {
    const run = mapped([text('a', 'Slee'), 'Yes?{"type":"error","error":"interrupted"}'], {
      end: { exitCode: 1, aborted: true },
    })
    assert.deepEqual(unstamped(run.activity), [{ type: 'unknown', raw: 'Yes?' }, agent('Slee')])
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'other')
    assert.equal(run.sums.waiting, 0)
  })

  it('plain output before a bad exit is the text of the error', () => {
    assert.deepEqual(map(['', '  error: Unknown provider: nope'], { end: { exitCode: 1 } }), [
      { type: 'unknown', raw: '  error: Unknown provider: nope' },
      { type: 'error', message: 'goose exited with code 1:   error: Unknown provider: nope', code: 'exit-1' },
    ])
  })

  it('output that ends in the middle of a line is kept, and so is what was said', () => {
    assert.deepEqual(map([text('a', 'Hi'), '{"type":"mess'], { end: { exitCode: null, signal: 'SIGTERM' } }), [
      { type: 'unknown', raw: '{"type":"mess' },
      agent('Hi'),
      { type: 'error', message: 'goose was killed by SIGTERM: {"type":"mess', code: 'SIGTERM' },
    ])
  })
})

describe('Goose: usage', () => {
  const total = (input: number, output: number): object => ({
    type: 'complete',
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: 200,
    cache_write_input_tokens: 30,
  })

  it('is the session’s; cached tokens are counted once', () => {
    assert.deepEqual(eventsOf(mapped([total(1000, 50)]), 'finish')[0]?.usage, {
      inputTokens: 770,
      outputTokens: 50,
      totalTokens: 1050,
      cachedInputTokens: 200,
      cacheWriteInputTokens: 30,
      source: 'reported',
      scope: 'own',
    })
  })

  it('usage of a resumed session is counted from where it stood', () => {
    const first = mapped([total(1000, 50)])
    const usageBaseline = first.mapper.usage.totals
    assert.ok(usageBaseline !== undefined)
    const second = mapped([total(2000, 100)], { usageBaseline })
    assert.deepEqual(
      [second.mapper.usage.turn()[0]?.totalTokens, second.mapper.usage.turn()[0]?.cachedInputTokens],
      [1050, 0],
    )
    const unknown = mapped([total(2000, 100)], { usageBaseline: 'unknown' })
    assert.equal(unknown.mapper.usage.turn()[0]?.uncounted, true)
  })

  it('older versions report less, newer ones the cost', () => {
    assert.equal(mapped([{ type: 'complete', total_tokens: 7 }]).mapper.usage.turn()[0]?.totalTokens, 7)
    assert.equal(mapped([{ ...complete, cost_usd: 0.5 }]).mapper.usage.turn()[0]?.costUsd, 0.5)
    assert.deepEqual(mapped([{ type: 'complete', total_tokens: null }]).mapper.usage.turn(), [])
  })

  it('numbers that cannot be are ignored, with a warning', () => {
    const run = mapped([{ ...complete, input_tokens: -5, total_tokens: 2 ** 60 }])
    assert.deepEqual(
      run.activity.map((event) => event.type === 'warning' && event.code),
      ['usage-out-of-range'],
    )
    assert.equal(eventsOf(run, 'finish')[0]?.usage?.outputTokens, 5)
  })
})

describe('Goose: all in one object, when it is over', () => {
  const messageOf = (record: object): unknown => Object.entries(record).find(([key]) => key === 'message')?.[1]
  const prompt = (words: string): object => message(null, 'user', [{ type: 'text', text: words }])
  const printed = (records: readonly object[]): readonly string[] => {
    const metadata = { total_tokens: 15, input_tokens: 10, output_tokens: 5, status: 'completed' }
    return JSON.stringify({ messages: records.map(messageOf), metadata }, null, 2).split('\n')
  }
  const turn = [prompt('Go'), calls('a', request('c1', 'make')), answers('c1', 2), text('b', 'Done.')]

  it('is what its messages are, each line accounted for', () => {
    const lines = printed(turn)
    const run = mapped(lines, { end: { exitCode: 0 } })
    assert.deepEqual(unstamped(run.activity), [made('make', 2), agent('Done.')])
    assert.equal(eventsOf(run, 'finish')[0]?.usage?.outputTokens, 5)
    assert.equal(run.sums.lines, lines.length)
    assert.equal(run.sums.consumed + run.sums.events, lines.length)
  })

  it('leaves out what a session has from before', () => {
    assert.deepEqual(map(printed([...turn, prompt('On'), text('c', 'Went on.')])), [agent('Went on.')])
  })

  it('reports a failure', () => {
    const failed = [prompt('Go'), text('b', 'Ran into this error: 500.', {})]
    assert.deepEqual(map(printed(failed), { end: { exitCode: 0 } }), [
      { type: 'error', message: 'Ran into this error: 500.' },
    ])
  })

  it('a message that nobody can read is unknown', () => {
    const odd = { id: 'x', role: 'assistant' }
    assert.deepEqual(map(printed([prompt('Go'), { message: odd }])), [{ type: 'unknown', raw: odd }])
  })

  it('output that is not an object is reported as printed', () => {
    const unknown = (raw: unknown): object => ({ type: 'unknown', raw })
    assert.deepEqual(map(['{', '  "messages": [', '"x"']), ['{', '  "messages": [', '"x"'].map(unknown))
    assert.deepEqual(map(['{', '  x', '}', 'y']), ['{', '  x', '}', 'y'].map(unknown))
    assert.deepEqual(map(['{', '"x": 1', '}']), ['{', '"x": 1', '}'].map(unknown))
    assert.deepEqual(map(['{', 'x', text('a', 'Hi.'), complete]), [unknown('{'), unknown('x'), agent('Hi.')])
  })

  it('is read behind half of one, as a killed run leaves it', () => {
    const [first, second, ...rest] = printed(turn)
    const half = [first, second]
    assert.deepEqual(map([...half, first, second, ...rest]), [
      ...half.map((raw) => ({ type: 'unknown', raw })),
      made('make', 2),
      agent('Done.'),
    ])
  })

  it('an empty line among those that wait is ignored', () => {
    assert.deepEqual(map(['{', '', ' ', 'x']), [
      { type: 'unknown', raw: '{' },
      { type: 'unknown', raw: 'x' },
    ])
  })

  it('many short lines are not waited for without end', () => {
    const lines = ['{', ...Array.from({ length: 150_000 }, () => 'x')]
    const run = mapped(lines, { end: null })
    assert.ok(run.activity.length > 0)
    assert.equal(run.sums.waiting + run.activity.length, lines.length)
  })
})

describe('Goose in its chat mode', () => {
  it('runs nothing, although each call gets a result', () => {
    const skipped = 'Let the user know the tool call was skipped in goose chat mode. DO NOT apologize.'
    const value = { content: [{ type: 'text', text: skipped }], isError: false }
    const answer = message('u', 'user', [{ type: 'toolResponse', id: 'c1', toolResult: { status: 'success', value } }])
    assert.deepEqual(map([calls('a', request('c1', 'cat /a /b')), answer, text('b', 'A plan.'), complete]), [
      { type: 'read', path: '/a', isSuccess: false },
      { type: 'read', path: '/b', isSuccess: false },
      agent('A plan.'),
    ])
  })
})
