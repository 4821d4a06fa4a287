import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SESSION, map, init, says } from '../../test/claude-code.ts'
import { eventsOf, mapFixture, mapRun, unstamped } from '../../test/support.ts'
import { claudeCodeDialect } from './mapper.ts'

describe('Claude Code: texts', () => {
  it('joins the texts of one record into one message and leaves reasoning out', () => {
    const record = {
      type: 'assistant',
      message: {
        id: 'm1',
        content: [
          { type: 'thinking', thinking: 'hmm', signature: 's' },
          { type: 'text', text: 'one' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'text', text: 'two' },
        ],
      },
      parent_tool_use_id: null,
    }
    const run = mapRun(claudeCodeDialect, [init, record])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'one\ntwo' }])
    assert.deepEqual(
      eventsOf(run, 'reasoning-delta').map((event) => event.text),
      ['hmm'],
    )
  })

  it('joins them also when they were streamed one by one', () => {
    const streamed = (event: object): object => ({ type: 'stream_event', event, parent_tool_use_id: null })
    const block = (index: number, text: string): readonly object[] => [
      streamed({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
      streamed({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
    ]
    const texts = ['one', 'two'].map((text) => ({ type: 'text', text }))
    const whole = { type: 'assistant', message: { id: 'm1', content: texts }, parent_tool_use_id: null }
    const start = streamed({ type: 'message_start', message: { id: 'm1' } })
    const run = mapRun(claudeCodeDialect, [init, start, ...block(0, 'one'), ...block(1, 'tw'), whole])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'one\ntwo' }])
    const said = eventsOf(run, 'text-delta').map((event) => event.text)
    assert.equal(said.join(''), 'onetwo')
  })

  it('the text of a subagent is no message of the agent', () => {
    const run = mapRun(claudeCodeDialect, [init, says('report', { parent_tool_use_id: 'agent-1' }), says('answer')])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'answer' }])
    const [sub] = eventsOf(run, 'text-delta')
    assert.equal(sub?.text, 'report')
    assert.equal(sub?.parentToolCallId, 'agent-1')
    assert.equal(run.sums.reasons['subagent-text'], 1)
  })

  it('prompts, injected context and summaries produce no activity', () => {
    const user = (content: unknown, more: object = {}): object => ({
      type: 'user',
      message: { role: 'user', content },
      parent_tool_use_id: null,
      session_id: SESSION,
      ...more,
    })
    const run = mapRun(claudeCodeDialect, [
      init,
      user('the conversation so far'),
      user([{ type: 'text', text: 'Do it' }], { isReplay: true }),
      user([{ type: 'text', text: 'Output token limit hit.' }], { isSynthetic: true }),
      user([{ type: 'image', source: {} }]),
      user([]),
    ])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(run.sums.reasons, { lifecycle: 1, 'user-text': 4, synthetic: 1 })
  })

  it('text that Claude Code itself inserts for the agent is not the agent’s answer', () => {
    const slash = {
      ...says('Context: 12 %'),
      message: { id: 'x', model: '<synthetic>', content: [{ type: 'text', text: 'Context: 12 %' }] },
    }
    assert.deepEqual(map([init, slash]), [])
  })

  it('streams deltas and does not repeat them when the whole text comes', () => {
    const run = mapFixture(claudeCodeDialect, 'partial-messages')
    assert.deepEqual(unstamped(run.activity), [
      { type: 'agent', message: 'Let me look.' },
      { type: 'command', command: 'echo hi', isSuccess: true },
      { type: 'agent', message: 'Done.' },
    ])
    assert.equal(
      eventsOf(run, 'text-delta')
        .map((event) => event.text)
        .join(''),
      'Let me look.Done.',
    )
    assert.equal(eventsOf(run, 'text-delta').filter((event) => event.meta?.['end'] === true).length, 2)
    assert.equal(
      eventsOf(run, 'tool-call-delta')
        .map((event) => event.argsTextDelta)
        .join(''),
      '{"command":"echo hi","description":"Say hi"}',
    )
    assert.equal(
      eventsOf(run, 'reasoning-delta')
        .map((event) => event.text)
        .join(''),
      'hmm',
    )
    assert.deepEqual(
      eventsOf(run, 'step-start').map((event) => event.stepIndex),
      [0, 1],
    )
  })

  it('a text that was streamed but never completed is kept as far as it arrived', () => {
    const event = (event: object): object => ({
      type: 'stream_event',
      event,
      parent_tool_use_id: null,
      session_id: SESSION,
    })
    const run = mapRun(
      claudeCodeDialect,
      [
        init,
        event({ type: 'message_start', message: { id: 'm1' } }),
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half a ' } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'sent' } }),
      ],
      { end: { exitCode: null, signal: 'SIGTERM', aborted: true } },
    )
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'Half a sent' }])
    const last = eventsOf(run, 'text-delta').at(-1)
    assert.deepEqual([last?.text, last?.meta], ['', { end: true, interrupted: true }])
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'other')
  })

  it('the partial text of a broken stream comes before the retry, and only once', () => {
    const streamed = (speaker: string | null, event: object): object => ({
      type: 'stream_event',
      event,
      parent_tool_use_id: speaker,
      session_id: SESSION,
    })
    const begins = (id: string, text: string, speaker: string | null = null): readonly object[] => [
      streamed(speaker, { type: 'message_start', message: { id } }),
      streamed(speaker, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      streamed(speaker, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ]
    const whole = (id: string, text: string, speaker: string | null = null): object => ({
      type: 'assistant',
      message: { id, content: [{ type: 'text', text }] },
      parent_tool_use_id: speaker,
      session_id: SESSION,
    })
    const run = mapRun(claudeCodeDialect, [
      init,
      ...begins('m1', 'Half an answ'),
      ...begins('s1', 'A re', 'subagent'),
      streamed(null, { type: 'content_block_stop', index: 0 }),
      streamed(null, { type: 'message_stop' }),
      { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 2, error_status: null, error: 'unknown' },
      ...begins('m2', 'Recov'),
      whole('m2', 'Recovered.'),
      whole('s1', 'A report.', 'subagent'),
    ])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'agent', message: 'Half an answ' },
      {
        type: 'warning',
        message: 'The model call is retried: the connection was lost (retry 1 of 2)',
        code: 'unknown',
      },
      { type: 'agent', message: 'Recovered.' },
    ])
    const said = (parent: string | undefined): string =>
      eventsOf(run, 'text-delta')
        .filter((event) => event.parentToolCallId === parent)
        .map((event) => event.text)
        .join('')
    assert.equal(said(undefined), 'Half an answRecovered.')
    assert.equal(said('subagent'), 'A report.')
  })

  it('terminal escapes stay in the text and leave the message', () => {
    const text = '\u001b[1mBold\u001b[0m and \u001b]8;;https://example.com\u0007a link\u001b]8;;\u0007.'
    const run = mapRun(claudeCodeDialect, [init, says(text)])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'Bold and a link.' }])
    assert.equal(eventsOf(run, 'text-delta')[0]?.text, text)
  })
})
