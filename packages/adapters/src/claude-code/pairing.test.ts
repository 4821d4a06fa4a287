import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SESSION, map, init, toolUse, toolResult, says } from '../../test/claude-code.ts'
import { eventsOf, mapRun, unstamped } from '../../test/support.ts'
import { claudeCodeDialect } from './mapper.ts'

describe('Claude Code: pairing', () => {
  it('a result without a call is unknown', () => {
    const block = { type: 'tool_result', tool_use_id: 'nobody', content: 'x' }
    assert.deepEqual(map([init, toolResult('nobody', { content: 'x' })]), [{ type: 'unknown', raw: block }])
  })

  it('a read result without a call is recovered from what it carries', () => {
    const file = { filePath: '/repo/a.txt', content: 'secret', numLines: 3, startLine: 2, totalLines: 9 }
    for (const field of ['tool_use_result', 'toolUseResult'])
      assert.deepEqual(map([init, toolResult('lost', { content: 'secret' }, { [field]: { type: 'text', file } })]), [
        { type: 'read', path: '/repo/a.txt', startLine: 2, endLine: 4, isSuccess: true },
      ])
  })

  it('a tool that the provider runs has its result in the agent’s own message', () => {
    const use = { type: 'server_tool_use', id: 'w1', name: 'web_search', input: { query: 'q' } }
    const result = { type: 'web_search_tool_result', tool_use_id: 'w1', content: [] }
    const says = (block: object): object => ({
      type: 'assistant',
      message: { id: 'm1', content: [block] },
      parent_tool_use_id: null,
    })
    const run = mapRun(claudeCodeDialect, [init, says(use), says(result), says({ type: 'text', text: 'Found.' })])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'unknown', raw: { call: use, result } },
      { type: 'agent', message: 'Found.' },
    ])
    const broken = { type: 'text', text: 7 }
    assert.deepEqual(map([init, says(broken)]), [{ type: 'unknown', raw: broken }])
  })

  it('two open calls with one id are ambiguous: neither is guessed', () => {
    const lines = [
      init,
      toolUse('t1', 'Read', { file_path: '/repo/a' }),
      toolUse('t1', 'Bash', { command: 'rm b' }),
      toolResult('t1', { content: 'done' }),
    ]
    const run = mapRun(claudeCodeDialect, lines)
    assert.deepEqual(
      run.activity.map((event) => event.type),
      ['unknown', 'unknown', 'unknown'],
    )
    assert.equal(run.sums.waiting, 0)
  })

  it('a second result for one call is unknown', () => {
    const lines = [
      init,
      toolUse('t1', 'Bash', { command: 'make' }),
      toolResult('t1'),
      toolResult('t1', { content: 'again' }),
    ]
    assert.deepEqual(map(lines), [
      { type: 'command', command: 'make', isSuccess: true },
      { type: 'unknown', raw: { type: 'tool_result', tool_use_id: 't1', content: 'again' } },
    ])
  })

  it('an id that is used again after its call is over names a new call', () => {
    const lines = [
      init,
      toolUse('t1', 'Bash', { command: 'make' }),
      toolResult('t1'),
      toolUse('t1', 'Read', { file_path: '/repo/a' }),
      toolResult('t1'),
    ]
    const run = mapRun(claudeCodeDialect, lines)
    assert.deepEqual(unstamped(run.activity), [
      { type: 'command', command: 'make', isSuccess: true },
      { type: 'read', path: '/repo/a', isSuccess: true },
    ])
    assert.deepEqual(
      eventsOf(run, 'tool-result').map((event) => event.toolCallId),
      ['t1', 't1#2'],
    )
  })

  it('a call that is never answered is closed as failed', () => {
    const run = mapRun(claudeCodeDialect, [init, toolUse('t1', 'Bash', { command: 'sleep 99' })], {
      end: { exitCode: null, signal: 'SIGKILL' },
    })
    assert.deepEqual(unstamped(run.activity), [
      { type: 'command', command: 'sleep 99', isSuccess: false },
      { type: 'error', message: 'claude-code was killed by SIGKILL', code: 'SIGKILL' },
    ])
    assert.deepEqual(eventsOf(run, 'tool-result')[0]?.meta, { synthetic: true })
    assert.equal(run.sums.waiting, 0)
  })

  it('a subagent may use the id of an open call of the agent', () => {
    const lines = [
      init,
      toolUse('t1', 'Bash', { command: 'make all' }),
      toolUse('t1', 'Read', { file_path: '/repo/sub' }, { parent_tool_use_id: 'agent-1' }),
      toolResult('t1', {}, { parent_tool_use_id: 'agent-1' }),
      toolResult('t1', { content: 'Exit code 2', is_error: true }),
    ]
    const run = mapRun(claudeCodeDialect, lines)
    assert.deepEqual(unstamped(run.activity), [
      { type: 'read', path: '/repo/sub', isSuccess: true },
      { type: 'command', command: 'make all', exitCode: 2, isSuccess: false },
    ])
    const [first, second] = eventsOf(run, 'tool-call')
    assert.notEqual(first?.toolCallId, second?.toolCallId)
    assert.equal(second?.parentToolCallId, 'agent-1')
  })

  it('the first session id is the run’s; another one is warned about once', () => {
    const run = mapRun(claudeCodeDialect, [
      init,
      says('a', { session_id: 'other' }),
      says('b', { session_id: 'third' }),
    ])
    assert.deepEqual(
      run.activity.map((event) => [event.type, event.sessionId]),
      [
        ['warning', SESSION],
        ['agent', SESSION],
        ['agent', SESSION],
      ],
    )
  })

  it('several results in one record are each paired', () => {
    const both = {
      type: 'user',
      message: {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't2', content: 'Exit code 1', is_error: true },
          { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
        ],
      },
      parent_tool_use_id: null,
    }
    const lines = [init, toolUse('t1', 'Bash', { command: 'one' }), toolUse('t2', 'Bash', { command: 'two' }), both]
    assert.deepEqual(map(lines), [
      { type: 'command', command: 'two', exitCode: 1, isSuccess: false },
      { type: 'command', command: 'one', isSuccess: true },
    ])
  })
})
