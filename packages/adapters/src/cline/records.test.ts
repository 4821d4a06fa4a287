import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AT, eventsOf, unstamped } from '../../test/support.ts'
import { activityOf } from '../kit/activity.ts'
import {
  agent,
  answer,
  call,
  event,
  hook,
  map,
  mapped,
  reports,
  result,
  says,
  team,
  usage,
} from '../../test/cline/records.ts'

function delta(text: string): object {
  return event('content_start', { contentType: 'text', text })
}

describe('Cline: records', () => {
  it('hooks, iterations, usage, done and the result make no activity', () => {
    const run = mapped([
      hook('agent_start'),
      event('iteration_start', { iteration: 1 }),
      hook('tool_call'),
      hook('tool_result'),
      reports(usage(1, 1, 1, 1)),
      event('iteration_end', { iteration: 1 }),
      hook('agent_error'),
      hook('agent_end'),
      event('done', { reason: 'completed', text: 'Hi.' }),
      { type: 'run_start', mode: 'act' },
      { type: 'run_abort_requested', reason: 'sigint' },
      { type: 'team_restored', teamName: 't' },
      result,
    ])
    assert.deepEqual(run.activity, [])
    assert.equal(run.sums.consumed, 13)
  })

  it('the whole text is the message, and streamed pieces are not repeated', () => {
    const run = mapped([delta('Hel'), delta('lo'), says('Hello.'), delta('Bye'), says('Bye'), result])
    assert.deepEqual(unstamped(run.activity), [agent('Hello.'), agent('Bye')])
    const texts = eventsOf(run, 'text-delta')
    assert.deepEqual(
      texts.map(({ text }) => text),
      ['Hel', 'lo', '.', 'Bye', ''],
    )
    assert.deepEqual(new Set(texts.map(({ partId }) => partId)).size, 2)
  })

  it('reasoning is no activity', () => {
    const run = mapped([
      event('content_start', { contentType: 'reasoning', reasoning: 'Hm', redacted: false }),
      event('content_end', { contentType: 'reasoning', reasoning: 'Hmm.' }),
      event('content_start', { contentType: 'reasoning', redacted: true }),
      event('content_end', { contentType: 'reasoning' }),
      result,
    ])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(
      eventsOf(run, 'reasoning-delta').map(({ text }) => text),
      ['Hm', 'm.'],
    )
  })

  it('output comes as progress while the tool runs', () => {
    const update = (chunk: unknown): object =>
      event('content_update', { contentType: 'tool', toolName: 'bash', toolCallId: 'c1', update: { chunk } })
    const run = mapped([
      call('c1', 'bash', { command: 'make' }),
      update(''),
      update('one\n'),
      update(7),
      answer('c1', 'bash', [{ success: true }]),
      result,
    ])
    assert.deepEqual(
      eventsOf(run, 'tool-progress').map(({ toolCallId, toolName, output }) => ({ toolCallId, toolName, output })),
      [{ toolCallId: 'c1', toolName: 'bash', output: 'one\n' }],
    )
    assert.equal(run.sums.unknown, 0)
  })

  it('notices are warnings', () => {
    assert.deepEqual(
      map([event('notice', { noticeType: 'status', message: 'compacting', reason: 'auto_compaction' }), result]),
      [{ type: 'warning', message: 'compacting', code: 'auto_compaction' }],
    )
  })

  it('records, events and contents that nobody knows are unknown', () => {
    const lines = [
      { type: 'novelty', a: 1 },
      event('novelty'),
      event('content_end', { contentType: 'video' }),
      event('content_end', { contentType: 'text', text: 7 }),
      { type: 'agent_event' },
      { type: 'hook_event' },
      team('novelty', {}),
      call('', 'bash', {}),
    ]
    assert.deepEqual(
      map([...lines, result]),
      lines.map((raw) => ({ type: 'unknown', raw })),
    )
  })
})

describe('Cline: sessions', () => {
  it('are identified by sessionId, session_id or id, never by a task', () => {
    for (const field of ['sessionId', 'session_id', 'id'])
      assert.equal(mapped([{ type: 'run_start', [field]: 's1' }]).mapper.sessionId, 's1')
    assert.equal(
      mapped([hook('agent_start'), { type: 'run_start', taskId: 't', task_id: 't' }]).mapper.sessionId,
      undefined,
    )
  })

  it('come from the launcher otherwise', () => {
    const run = mapped([says('Hi.'), { type: 'run_start', id: 'other' }, result], { sessionId: 's1' })
    assert.equal(run.activity[0]?.sessionId, 's1')
    assert.deepEqual(eventsOf(run, 'finish')[0]?.native, { sessionId: 's1' })
    assert.deepEqual(unstamped(run.activity), [agent('Hi.')])
  })

  it('do not change in the middle of a run', () => {
    const run = mapped([
      { type: 'run_start', sessionId: 'a' },
      { type: 'run_start', sessionId: 'b' },
      says('Hi.'),
      result,
    ])
    assert.deepEqual(
      run.activity.map(({ type, sessionId }) => [type, sessionId]),
      [
        ['warning', 'a'],
        ['agent', 'a'],
      ],
    )
  })
})

describe('Cline: calls and results', () => {
  const made = { type: 'command', command: 'make', isSuccess: true }
  const begin = call('c1', 'bash', { command: 'make' })
  const done = answer('c1', 'bash', [{ success: true }])

  it('a result without a call, and a second one, are unknown', () => {
    assert.deepEqual(map([done, result]), [{ type: 'unknown', raw: done }])
    assert.deepEqual(map([begin, done, done, result]), [made, { type: 'unknown', raw: done }])
  })

  it('two open calls with one id are ambiguous', () => {
    assert.deepEqual(map([begin, begin, done, result]), [
      { type: 'unknown', raw: begin },
      { type: 'unknown', raw: begin },
      { type: 'unknown', raw: done },
    ])
  })

  it('an id can be used again when its call is over', () => {
    const run = mapped([begin, done, begin, done, result])
    assert.deepEqual(unstamped(run.activity), [made, made])
    assert.deepEqual(
      eventsOf(run, 'tool-result').map(({ toolCallId }) => toolCallId),
      ['c1', 'c1#2'],
    )
  })

  it('a call that is never answered has failed', () => {
    assert.deepEqual(
      map([call('c1', 'run_commands', { commands: ['a', 'b'] })], { end: { exitCode: null, aborted: true } }),
      [
        { type: 'command', command: 'a', isSuccess: false },
        { type: 'command', command: 'b', isSuccess: false },
      ],
    )
  })
})

describe('Cline: failures', () => {
  const fatal = event('error', { error: { name: 'Error', message: 'no key' }, errorClass: 'auth', recoverable: false })
  const broken = { type: 'run_result', finishReason: 'error', text: 'no key' }
  const stderr = [JSON.stringify({ ts: 't', type: 'error', message: 'no key' })]

  it('one failure is one error, with the code that Cline gives', () => {
    const run = mapped([hook('agent_error'), fatal, broken], { end: { exitCode: 1 } })
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: 'no key', code: 'auth' }])
    assert.equal(eventsOf(run, 'error').length, 1)
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'error')
  })

  it('errors that the agent made are reported with their calls', () => {
    const mistake = event('error', { error: { message: '1 tool call(s) failed' }, recoverable: true })
    assert.deepEqual(map([mistake, says('Sorry.'), result]), [agent('Sorry.')])
  })

  it('a result that failed is an error, with its reason', () => {
    assert.deepEqual(map([says('Hm.'), broken], { end: { exitCode: 1 } }), [
      agent('Hm.'),
      { type: 'error', message: 'no key' },
    ])
    assert.deepEqual(map([{ type: 'run_result', finishReason: 'max_iterations', text: 'too many' }]), [
      { type: 'error', message: 'too many', code: 'max_iterations' },
    ])
  })

  it('calls that are open are closed before the error', () => {
    assert.deepEqual(map([call('c1', 'bash', { command: 'a' }), fatal, broken], { end: { exitCode: 1 } }), [
      { type: 'command', command: 'a', isSuccess: false },
      { type: 'error', message: 'no key', code: 'auth' },
    ])
  })

  it('the reason on standard error is a warning, and the error of a run that has no other', () => {
    assert.deepEqual(map([], { stderr, end: { exitCode: 1 } }), [
      { type: 'warning', message: 'no key' },
      { type: 'error', message: 'no key' },
    ])
    assert.deepEqual(map([fatal, broken], { stderr, end: { exitCode: 1 } }), [
      { type: 'warning', message: 'no key' },
      { type: 'error', message: 'no key', code: 'auth' },
    ])
  })

  it('the reason on standard error is a warning also after the failure it repeats', () => {
    const { mapper, events } = mapped([fatal, broken], { end: null })
    for (const line of stderr) mapper.stderr(line, AT)
    mapper.end({ exitCode: 1 }, AT)
    const activity = events.flatMap((made) => activityOf(made))
    assert.deepEqual(unstamped(activity), [
      { type: 'error', message: 'no key', code: 'auth' },
      { type: 'warning', message: 'no key' },
    ])
  })

  it('stack traces are no warnings of their own', () => {
    assert.deepEqual(map([result], { stderr: ['Warning: old option', '      at f (/app/x.js:1:2)', ''] }), [
      { type: 'warning', message: 'Warning: old option' },
    ])
  })

  it('a run that gave up has failed, also with exit code 0, unless we stopped it', () => {
    const mistake = event('error', { error: { message: '1 tool call(s) failed' }, recoverable: true })
    const stopped = [
      mistake,
      { type: 'run_result', finishReason: 'aborted', text: '' },
      { type: 'run_aborted', reason: 'external_abort', message: 'aborted' },
    ]
    assert.deepEqual(map(stopped), [{ type: 'error', message: 'aborted: 1 tool call(s) failed', code: 'aborted' }])
    assert.deepEqual(map(stopped, { end: { exitCode: 0, aborted: true } }), [])
  })

  it('one that was asked to stop and had completed has not failed', () => {
    const asked = { type: 'run_aborted', reason: 'local_abort', message: 'aborted' }
    assert.deepEqual(map([says('Hi.'), result, asked]), [
      agent('Hi.'),
      { type: 'warning', message: 'aborted', code: 'local_abort' },
    ])
  })

  it('a run that ends well but without a result has failed', () => {
    assert.deepEqual(map([delta('Hi')]), [
      agent('Hi'),
      { type: 'error', message: 'The run ended without a result.', code: 'no-result' },
    ])
    assert.deepEqual(map([delta('Hi')], { end: { exitCode: 0, aborted: true } }), [agent('Hi')])
  })

  it('messages lose terminal escapes, texts keep them', () => {
    const run = mapped([says('\u001b[31mred\u001b[0m'), result])
    assert.deepEqual(unstamped(run.activity), [agent('red')])
    assert.equal(eventsOf(run, 'text-delta')[0]?.text, '\u001b[31mred\u001b[0m')
  })
})
