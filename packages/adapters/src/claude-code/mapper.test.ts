import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, mapFixture, mapRun, unstamped, type RunOptions } from '../../test/support.ts'
import { claudeCodeDialect } from './mapper.ts'

const SESSION = 'session-1'

function activity(name: string, options?: RunOptions): readonly object[] {
  return unstamped(mapFixture(claudeCodeDialect, name, options).activity)
}

function map(lines: readonly unknown[], options?: RunOptions): readonly object[] {
  return unstamped(mapRun(claudeCodeDialect, lines, options).activity)
}

const init = { type: 'system', subtype: 'init', cwd: '/repo', session_id: SESSION }

function toolUse(id: string, name: string, input: unknown, more: object = {}): object {
  return {
    type: 'assistant',
    message: { id: `m-${id}`, role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    parent_tool_use_id: null,
    session_id: SESSION,
    ...more,
  }
}

function toolResult(id: string, block: object = {}, more: object = {}): object {
  return {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, ...block }] },
    parent_tool_use_id: null,
    session_id: SESSION,
    ...more,
  }
}

function says(text: string, more: object = {}): object {
  return {
    type: 'assistant',
    message: { id: `m-${text}`, role: 'assistant', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: SESSION,
    ...more,
  }
}

/** One call and its result. */
function call(name: string, input: unknown, block: object = {}, more: object = {}): readonly object[] {
  return map([init, toolUse('t1', name, input), toolResult('t1', block, more)])
}

describe('Claude Code: its tools', () => {
  it('Read is a read, with the range of offset and limit', () => {
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt' }), [
      { type: 'read', path: '/repo/a.txt', isSuccess: true },
    ])
    assert.deepEqual(call('Read', { file_path: 'a.txt', offset: 10, limit: 11 }), [
      { type: 'read', path: '/repo/a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt', limit: 5 }, { is_error: true }), [
      { type: 'read', path: '/repo/a.txt', startLine: 1, endLine: 5, isSuccess: false },
    ])
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt', offset: 7 }), [
      { type: 'read', path: '/repo/a.txt', startLine: 7, isSuccess: true },
    ])
  })

  it('Write, Edit, MultiEdit and NotebookEdit are writes', () => {
    for (const name of ['Write', 'Edit', 'MultiEdit']) {
      assert.deepEqual(call(name, { file_path: 'src/b.ts' }), [
        { type: 'write', path: '/repo/src/b.ts', isSuccess: true },
      ])
    }
    assert.deepEqual(call('NotebookEdit', { notebook_path: '/repo/n.ipynb' }, { is_error: true }), [
      { type: 'write', path: '/repo/n.ipynb', isSuccess: false },
    ])
  })

  it('Grep and Glob are searches, LS is a list', () => {
    assert.deepEqual(call('Grep', { pattern: 'TODO', path: 'src' }), [
      { type: 'search', query: 'TODO', path: '/repo/src', isSuccess: true },
    ])
    assert.deepEqual(call('Glob', { pattern: '**/*.ts' }), [{ type: 'search', query: '**/*.ts', isSuccess: true }])
    assert.deepEqual(call('LS', { path: '/repo/src' }), [{ type: 'list', path: '/repo/src', isSuccess: true }])
  })

  it('Bash is a command, or the file operation that it is', () => {
    assert.deepEqual(call('Bash', { command: 'npm test' }, { content: 'ok', is_error: false }), [
      { type: 'command', command: 'npm test', isSuccess: true },
    ])
    assert.deepEqual(call('Bash', { command: "sed -n '10,20p' a.txt" }), [
      { type: 'read', path: '/repo/a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(call('Bash', { command: 'ls -la src' }), [{ type: 'list', path: '/repo/src', isSuccess: true }])
  })

  it('reads the exit code from the first line of a failed result, and only there', () => {
    const failed = (content: unknown): readonly object[] =>
      call('Bash', { command: 'make' }, { content, is_error: true })
    assert.deepEqual(failed('Exit code 2\nmake: failed'), [
      { type: 'command', command: 'make', exitCode: 2, isSuccess: false },
    ])
    assert.deepEqual(failed([{ type: 'text', text: 'Exit code 137' }]), [
      { type: 'command', command: 'make', exitCode: 137, isSuccess: false },
    ])
    for (const content of ['tests failed\nExit code 2', 'Exit code two', 'Exit code 3 of 4\n', '', 7, null]) {
      assert.deepEqual(failed(content), [{ type: 'command', command: 'make', isSuccess: false }])
    }
    assert.deepEqual(call('Bash', { command: 'echo "Exit code 9"' }, { content: 'Exit code 9', is_error: false }), [
      { type: 'command', command: 'echo "Exit code 9"', isSuccess: true },
    ])
  })

  it('an interrupted call has failed', () => {
    const more = { tool_use_result: { stdout: '', stderr: '', interrupted: true } }
    assert.deepEqual(call('Bash', { command: 'make' }, { is_error: false }, more), [
      { type: 'command', command: 'make', isSuccess: false },
    ])
  })

  it('a command in the background has no outcome yet', () => {
    const more = { tool_use_result: { backgroundTaskId: 'b1', interrupted: false } }
    assert.deepEqual(call('Bash', { command: 'make watch', run_in_background: true }, { is_error: false }, more), [
      { type: 'command', command: 'make watch' },
    ])
  })

  it('Skill takes its path from the text that follows, else from the usual place', () => {
    const use = [
      init,
      toolUse('t1', 'Skill', { skill: 'greet' }),
      toolResult('t1', { content: 'Launching skill: greet' }),
    ]
    const body = {
      type: 'user',
      isSynthetic: true,
      message: {
        role: 'user',
        content: [{ type: 'text', text: 'Base directory for this skill: /home/u/.claude/skills/greet\n\n# Greet' }],
      },
      parent_tool_use_id: null,
      session_id: SESSION,
    }
    const skill = { type: 'skill', path: '/home/u/.claude/skills/greet/SKILL.md', skillName: 'greet', isSuccess: true }
    assert.deepEqual(map([...use, body, says('Hello')]), [skill, { type: 'agent', message: 'Hello' }])
    const assumed = { ...skill, path: '/repo/skills/greet/SKILL.md' }
    assert.deepEqual(map([...use, says('Hello')]), [assumed, { type: 'agent', message: 'Hello' }])
    assert.deepEqual(map(use), [assumed])
    assert.deepEqual(call('Skill', { skill: 'none' }, { is_error: true }), [
      { type: 'skill', path: '/repo/skills/none/SKILL.md', skillName: 'none', isSuccess: false },
    ])
  })

  it('two skills at once each get their own path', () => {
    const body = (name: string): object => ({
      type: 'user',
      isSynthetic: true,
      message: { role: 'user', content: [{ type: 'text', text: `Base directory for this skill: /skills/${name}\n` }] },
    })
    const lines = [
      init,
      toolUse('t1', 'Skill', { skill: 'one' }),
      toolUse('t2', 'Skill', { skill: 'two' }),
      toolResult('t1'),
      toolResult('t2'),
      body('two'),
      body('one'),
    ]
    assert.deepEqual(
      map(lines).map((event) => 'path' in event && event.path),
      ['/skills/two/SKILL.md', '/skills/one/SKILL.md'],
    )
  })

  it('bookkeeping and structured output are consumed, what is not known is unknown', () => {
    for (const name of [
      'StructuredOutput',
      'ToolSearch',
      'TaskCreate',
      'TaskGet',
      'TaskList',
      'TaskUpdate',
      'TaskStop',
    ]) {
      assert.deepEqual(call(name, {}), [], name)
    }
    for (const name of [
      'mcp__files__read',
      'WebFetch',
      'WebSearch',
      'TodoWrite',
      'AskUserQuestion',
      'constructor',
      '__proto__',
    ]) {
      const [event, ...more] = call(name, { a: 1 }, { content: 'x' })
      assert.deepEqual(more, [])
      assert.deepEqual(event, {
        type: 'unknown',
        raw: {
          call: { type: 'tool_use', id: 't1', name, input: { a: 1 } },
          result: { type: 'tool_result', tool_use_id: 't1', content: 'x' },
        },
      })
    }
  })

  it('a recognized tool whose input does not say what it did is unknown', () => {
    for (const [name, input] of [
      ['Read', {}],
      ['Bash', { command: 5 }],
      ['Grep', { path: 'x' }],
      ['Write', { file_path: null }],
    ] as const) {
      assert.deepEqual(
        call(name, input).map((event) => 'type' in event && event.type),
        ['unknown'],
      )
    }
    assert.deepEqual(map([init, toolUse('t1', 'Read', 'no object')]), [
      { type: 'unknown', raw: { type: 'tool_use', id: 't1', name: 'Read', input: 'no object' } },
    ])
  })
})

describe('Claude Code: pairing', () => {
  it('C4-32 a result without a call is unknown', () => {
    const block = { type: 'tool_result', tool_use_id: 'nobody', content: 'x' }
    assert.deepEqual(map([init, toolResult('nobody', { content: 'x' })]), [{ type: 'unknown', raw: block }])
  })

  it('a read result without a call is recovered from what it carries', () => {
    const file = { filePath: '/repo/a.txt', content: 'secret', numLines: 3, startLine: 2, totalLines: 9 }
    assert.deepEqual(
      map([init, toolResult('lost', { content: 'secret' }, { tool_use_result: { type: 'text', file } })]),
      [{ type: 'read', path: '/repo/a.txt', startLine: 2, endLine: 4, isSuccess: true }],
    )
  })

  it('C4-32 two open calls with one id are ambiguous: neither is guessed', () => {
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

  it('C4-32 a second result for one call is unknown', () => {
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

  it('C4-32 an id that is used again after its call is over names a new call', () => {
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

  it('C4-32 a call that is never answered is closed as failed', () => {
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

  it('C4-35 a subagent may use the id of an open call of the agent', () => {
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

  it('C4-35 the first session id is the run’s; another one is warned about once', () => {
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

describe('Claude Code: words', () => {
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

  it('a subagent’s words are no message of the agent', () => {
    const run = mapRun(claudeCodeDialect, [init, says('report', { parent_tool_use_id: 'agent-1' }), says('answer')])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'answer' }])
    const [sub] = eventsOf(run, 'text-delta')
    assert.equal(sub?.text, 'report')
    assert.equal(sub?.parentToolCallId, 'agent-1')
    assert.equal(run.sums.reasons['subagent-text'], 1)
  })

  it('prompts, injected context and summaries are nobody’s activity', () => {
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

  it('what Claude Code itself puts into the agent’s mouth is not the agent', () => {
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

  it('a text that was streamed but never came whole counts as far as it went', () => {
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

  it('C4-37 terminal escapes stay in the text and leave the message', () => {
    const text = '\u001b[1mBold\u001b[0m and \u001b]8;;https://example.com\u0007a link\u001b]8;;\u0007.'
    const run = mapRun(claudeCodeDialect, [init, says(text)])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'Bold and a link.' }])
    assert.equal(eventsOf(run, 'text-delta')[0]?.text, text)
  })
})

describe('Claude Code: system records', () => {
  const system = (subtype: string, more: object = {}): object => ({
    type: 'system',
    subtype,
    session_id: SESSION,
    ...more,
  })

  it('consumes lifecycle records and keeps unknown ones', () => {
    for (const subtype of ['init', 'status', 'thinking_tokens', 'compact_boundary', 'background_tasks_changed']) {
      assert.deepEqual(map([system(subtype)]), [], subtype)
    }
    assert.deepEqual(map([system('brand_new', { a: 1 })]), [{ type: 'unknown', raw: system('brand_new', { a: 1 }) }])
  })

  it('a retry is a warning with the reason as its code', () => {
    assert.deepEqual(map([system('api_retry', { attempt: 1, max_retries: 3, error_status: null, error: 'unknown' })]), [
      {
        type: 'warning',
        message: 'The model call is retried: the connection was lost (retry 1 of 3)',
        code: 'unknown',
      },
    ])
  })

  it('hooks are consumed unless they fail', () => {
    assert.deepEqual(map([system('hook_started'), system('hook_response', { outcome: 'success' })]), [])
    assert.deepEqual(
      map([system('hook_response', { outcome: 'error', hook_name: 'Stop', stderr: 'no\n', exit_code: 1 })]),
      [{ type: 'warning', message: 'Stop: no', code: 'hook-error' }],
    )
  })

  it('informational records count when they warn', () => {
    assert.deepEqual(map([system('informational', { level: 'notice', content: 'fyi' })]), [])
    assert.deepEqual(map([system('informational', { level: 'warning', content: 'careful', tag: 't' })]), [
      { type: 'warning', message: 'careful', code: 't' },
    ])
  })

  it('rate limits are consumed while they allow, and warned about otherwise', () => {
    const event = (info: object): object => ({ type: 'rate_limit_event', rate_limit_info: info, session_id: SESSION })
    assert.deepEqual(map([event({ status: 'allowed' })]), [])
    assert.deepEqual(map([event({ status: 'allowed_warning', rateLimitType: 'five_hour' })]), [
      { type: 'warning', message: 'Rate limit: allowed_warning (five_hour)', code: 'allowed_warning' },
    ])
    assert.deepEqual(map([{ type: 'rate_limit_event' }]), [{ type: 'unknown', raw: { type: 'rate_limit_event' } }])
  })

  it('subagents that never end have failed', () => {
    const started = system('task_started', {
      task_id: 'a1',
      tool_use_id: 't1',
      task_type: 'local_agent',
      subagent_type: 'explorer',
    })
    assert.deepEqual(
      map([init, toolUse('t1', 'Agent', { prompt: 'x' }), started], { end: { exitCode: null, signal: 'SIGKILL' } }),
      [
        { type: 'orchestration', action: 'subagent_started', subagentId: 'a1', subagentName: 'explorer' },
        {
          type: 'orchestration',
          action: 'subagent_failed',
          subagentId: 'a1',
          subagentName: 'explorer',
          isSuccess: false,
        },
        { type: 'error', message: 'claude-code was killed by SIGKILL', code: 'SIGKILL' },
      ],
    )
  })

  it('a background command that fails is warned about', () => {
    const lines = [
      system('task_started', { task_id: 'b1', task_type: 'local_bash' }),
      system('task_notification', { task_id: 'b1', status: 'failed', summary: 'make failed (exit code 2)' }),
    ]
    assert.deepEqual(map(lines), [{ type: 'warning', message: 'make failed (exit code 2)', code: 'background-task' }])
  })

  it('a subagent that no task record announced is told by its call', () => {
    const launched = { tool_use_result: { status: 'async_launched', agentId: 'a1', agentType: 'explorer' } }
    assert.deepEqual(call('Task', { subagent_type: 'explorer', prompt: 'x' }, {}, launched), [
      { type: 'orchestration', action: 'subagent_started', subagentId: 'a1', subagentName: 'explorer' },
    ])
    const done = { tool_use_result: { status: 'completed', agentId: 'a2' } }
    assert.deepEqual(call('Task', { description: 'look', prompt: 'x' }, {}, done), [
      { type: 'orchestration', action: 'subagent_completed', subagentId: 'a2', subagentName: 'look', isSuccess: true },
    ])
  })
})

describe('Claude Code: the end of a turn', () => {
  const result = (more: object): object => ({ type: 'result', session_id: SESSION, uuid: 'r', ...more })

  it('a failure with subtype success is a failure, and one error', () => {
    const failed = result({
      subtype: 'success',
      is_error: true,
      result: 'No key',
      api_error_type: 'authentication_error',
    })
    const run = mapRun(claudeCodeDialect, [init, failed], { end: { exitCode: 1 }, stderr: ['No key'] })
    assert.deepEqual(unstamped(run.activity), [
      { type: 'warning', message: 'No key' },
      { type: 'error', message: 'No key', code: 'authentication_error' },
    ])
    assert.equal(eventsOf(run, 'error').length, 1)
    assert.deepEqual(
      eventsOf(run, 'finish').map((event) => event.finishReason),
      ['error'],
    )
  })

  it('limits are errors with the subtype as code', () => {
    for (const subtype of ['error_max_turns', 'error_max_budget_usd', 'error_max_structured_output_retries']) {
      assert.deepEqual(map([init, result({ subtype, is_error: true, errors: ['Reached the limit'] })]), [
        { type: 'error', message: 'Reached the limit', code: subtype },
      ])
    }
  })

  it('an error said as assistant text is one with the result that repeats it, and a warning when the run goes on', () => {
    const said = {
      type: 'assistant',
      message: { id: 'x', model: '<synthetic>', content: [{ type: 'text', text: 'API Error: gone' }] },
      parent_tool_use_id: null,
      is_api_error_message: true,
      api_error: 'connection_failed',
    }
    const failed = result({
      subtype: 'success',
      is_error: true,
      result: 'API Error: gone',
      api_error: 'connection_failed',
    })
    assert.deepEqual(map([init, said, failed], { end: { exitCode: 1 } }), [
      { type: 'error', message: 'API Error: gone', code: 'connection_failed' },
    ])
    assert.deepEqual(map([init, said, says('Anyway'), result({ subtype: 'success', is_error: false })]), [
      { type: 'warning', message: 'API Error: gone', code: 'connection_failed' },
      { type: 'agent', message: 'Anyway' },
    ])
    assert.deepEqual(map([init, said]), [{ type: 'warning', message: 'API Error: gone', code: 'connection_failed' }])
  })

  it('each turn of one process can fail once', () => {
    const failed = result({ subtype: 'success', is_error: true, result: 'down', terminal_reason: 'api_error' })
    const run = mapRun(claudeCodeDialect, [init, failed, init, failed], { finish: 'at-turn-end', end: { exitCode: 1 } })
    assert.deepEqual(
      run.events.map((event) => event.type),
      ['start', 'error', 'finish', 'start', 'error', 'finish'],
    )
  })

  it('usage is this turn’s, with the subagents’ apart', () => {
    const run = mapFixture(claudeCodeDialect, 'subagent-completed')
    assert.deepEqual(run.mapper.usage.turn(), [
      {
        inputTokens: 200,
        outputTokens: 40,
        totalTokens: 360,
        reasoningTokens: 0,
        cachedInputTokens: 100,
        cacheWriteInputTokens: 20,
        costUsd: 0.0012900000000000001,
        source: 'reported',
        scope: 'own',
      },
      {
        inputTokens: 100,
        outputTokens: 20,
        totalTokens: 180,
        cachedInputTokens: 50,
        cacheWriteInputTokens: 10,
        source: 'reported',
        scope: 'subagents',
      },
    ])
    assert.equal(eventsOf(run, 'finish')[0]?.usage?.inputTokens, 200)
    assert.equal(run.mapper.usage.totals?.inputTokens, 300)
  })

  it('C4-36 a cost that only rises is counted from where it stood', () => {
    const cost = (total: number): object => result({ subtype: 'success', is_error: false, total_cost_usd: total })
    const baseline = {
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
      reasoningTokens: 0,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
    }
    const known = mapRun(claudeCodeDialect, [cost(0.5)], { usageBaseline: { ...baseline, costUsd: 0.25 } })
    assert.equal(known.mapper.usage.turn()[0]?.costUsd, 0.25)
    const unknown = mapRun(claudeCodeDialect, [cost(0.5)], { usageBaseline: 'unknown' })
    assert.deepEqual(unknown.mapper.usage.turn(), [{ costUsd: 0.5, source: 'reported', scope: 'own', uncounted: true }])
  })

  it('names the place to resume at', () => {
    const run = mapRun(claudeCodeDialect, [
      init,
      says('Hello', { uuid: 'u1' }),
      result({ subtype: 'success', is_error: false }),
    ])
    assert.deepEqual(eventsOf(run, 'text-delta')[0]?.native, { sessionId: SESSION, messageId: 'u1' })
    assert.deepEqual(eventsOf(run, 'finish')[0]?.native, { sessionId: SESSION, messageId: 'u1' })
  })
})

describe('Claude Code: recorded runs', () => {
  const agent = (message: string): object => ({ type: 'agent', message })
  const command = (text: string, isSuccess: boolean, exitCode?: number): object =>
    exitCode === undefined
      ? { type: 'command', command: text, isSuccess }
      : { type: 'command', command: text, exitCode, isSuccess }

  it('shell commands and their exit codes', () => {
    assert.deepEqual(activity('shell-exit-codes'), [
      agent('Running.'),
      command('echo hi', true),
      command('echo oops >&2; exit 3', false, 3),
      command('sleep 5', false, 143),
      agent('Both ran.'),
    ])
  })

  it('shell commands that are file operations', () => {
    assert.deepEqual(activity('shell-file-operations'), [
      { type: 'read', path: '/workspace/hello.txt', isSuccess: true },
      { type: 'read', path: '/workspace/hello.txt', startLine: 2, endLine: 4, isSuccess: true },
      { type: 'search', query: 'TODO', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'search', query: 'NOPE', path: '/workspace/src', isSuccess: true },
      { type: 'search', query: '*.js', path: '/workspace', isSuccess: true },
      { type: 'list', path: '/workspace/src', isSuccess: true },
      { type: 'read', path: '/workspace/missing.txt', isSuccess: false },
      { type: 'search', query: 'TODO', isSuccess: true },
      agent('Looked.'),
    ])
  })

  it('file tools', () => {
    assert.deepEqual(activity('file-tools'), [
      { type: 'read', path: '/workspace/hello.txt', startLine: 2, endLine: 4, isSuccess: true },
      { type: 'read', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'write', path: '/workspace/new.txt', isSuccess: true },
      { type: 'write', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'read', path: '/workspace/missing.txt', isSuccess: false },
      { type: 'write', path: '/workspace/src/app.js', isSuccess: false },
      { type: 'search', query: '**/*.js', isSuccess: true },
      { type: 'search', query: 'TODO', path: '/workspace/src', isSuccess: true },
      { type: 'list', path: '/workspace', isSuccess: false },
      { type: 'read', path: '/workspace', isSuccess: false },
      { type: 'write', path: '/workspace/src/app.js', isSuccess: true },
      agent('Files done.'),
    ])
  })

  it('parallel calls come in the order they end', () => {
    assert.deepEqual(activity('parallel-calls'), [
      agent('Three at once.'),
      { type: 'search', query: 'add', isSuccess: true },
      { type: 'read', path: '/workspace/nope.txt', isSuccess: false },
      { type: 'read', path: '/workspace/hello.txt', isSuccess: true },
      command('echo one; sleep 0.3', true),
      agent('All back.'),
    ])
  })

  it('subagents', () => {
    const reviewer = { subagentId: 'a382865571346d4bd', subagentName: 'reviewer' }
    assert.deepEqual(activity('subagent-completed'), [
      { type: 'orchestration', action: 'subagent_started', ...reviewer },
      { type: 'orchestration', action: 'subagent_completed', ...reviewer, isSuccess: true },
      agent('Ok.'),
    ])
    const failing = { subagentId: 'a3b36250cd56dad8e', subagentName: 'general-purpose' }
    assert.deepEqual(activity('subagent-failed'), [
      { type: 'orchestration', action: 'subagent_started', ...failing },
      { type: 'orchestration', action: 'subagent_failed', ...failing, isSuccess: false },
      { type: 'orchestration', action: 'subagent_failed', subagentName: 'nope', isSuccess: false },
      agent('Subagent failed.'),
    ])
  })

  it('a background shell wakes the agent for a second turn', () => {
    const run = mapFixture(claudeCodeDialect, 'background-shell', { finish: 'at-turn-end' })
    assert.deepEqual(unstamped(run.activity), [
      { type: 'command', command: 'sleep 1; echo bgdone' },
      agent('Started.'),
      agent('Got notified.'),
    ])
    assert.deepEqual(
      eventsOf(run, 'finish').map((event) => [event.finishReason, event.usage?.inputTokens]),
      [
        ['stop', 200],
        ['stop', 100],
      ],
    )
  })

  it('provider errors', () => {
    assert.deepEqual(activity('provider-401'), [
      {
        type: 'warning',
        message: 'The model call is retried: the provider answered 401 (retry 1 of 2)',
        code: 'authentication_failed',
      },
      {
        type: 'warning',
        message: 'The model call is retried: the provider answered 401 (retry 2 of 2)',
        code: 'authentication_failed',
      },
      { type: 'error', message: 'Invalid API key · Fix external API key', code: 'authentication_error' },
    ])
    assert.deepEqual(activity('stream-cut-after-call').slice(1), [command('echo one', true), agent('after')])
  })

  it('limits, denials and interruptions', () => {
    assert.deepEqual(activity('budget-exhausted'), [
      command('echo hi', false),
      { type: 'error', message: 'Reached maximum budget ($0.0001)', code: 'error_max_budget_usd' },
    ])
    assert.deepEqual(
      activity('permission-denied').map((event) => 'type' in event && event.type),
      ['warning', 'command', 'warning', 'write', 'agent'],
    )
    assert.deepEqual(activity('interrupted-in-text'), [
      agent('This hangs '),
      { type: 'error', message: 'The run was interrupted.', code: 'aborted_streaming' },
    ])
    assert.deepEqual(activity('interrupted-in-tool'), [
      agent('Sleeping.'),
      command('sleep 20', false),
      { type: 'error', message: 'The run was interrupted.', code: 'aborted_tools' },
    ])
    assert.deepEqual(activity('terminated-in-tool'), [
      agent('Sleeping.'),
      command('sleep 20', false, 137),
      { type: 'error', message: 'claude-code exited with code 143', code: 'exit-143' },
    ])
  })

  it('approvals are asked for, and what was denied has failed', () => {
    const run = mapFixture(claudeCodeDialect, 'approvals')
    assert.deepEqual(
      eventsOf(run, 'tool-approval-request').map((event) => [event.toolCall.toolName, event.toolCall.args['command']]),
      [
        ['Bash', 'touch ok'],
        ['Bash', 'touch nope'],
        ['Write', undefined],
      ],
    )
    assert.deepEqual(unstamped(run.activity), [
      command('touch ok', true),
      command('touch nope', false),
      { type: 'write', path: '/workspace/x.txt', isSuccess: false },
      agent('End.'),
    ])
  })

  it('a program that never starts gives its own words', () => {
    const message = 'Error: When using --print, --output-format=stream-json requires --verbose'
    assert.deepEqual(activity('startup-error'), [
      { type: 'warning', message },
      { type: 'error', message: `claude-code exited with code 1: ${message}`, code: 'exit-1' },
    ])
  })

  it('MCP calls name their server', () => {
    const run = mapFixture(claudeCodeDialect, 'mcp-calls')
    assert.deepEqual(
      eventsOf(run, 'tool-call').map((event) => event.serverName),
      [undefined, 'everything', 'everything', 'everything'],
    )
    assert.deepEqual(
      run.activity.map((event) => event.type),
      ['unknown', 'unknown', 'unknown', 'agent'],
    )
  })
})

describe('Claude Code: hand-made streams', () => {
  it('tools of earlier versions', () => {
    assert.deepEqual(activity('made-earlier-tools'), [
      { type: 'list', path: '/repo/src', isSuccess: true },
      { type: 'write', path: '/repo/src/a.ts', isSuccess: true },
      { type: 'write', path: '/repo/notes.ipynb', isSuccess: true },
      { type: 'skill', path: '/repo/skills/greet/SKILL.md', skillName: 'greet', isSuccess: true },
      { type: 'orchestration', action: 'subagent_completed', subagentName: 'explorer', isSuccess: true },
      { type: 'agent', message: 'Done.' },
    ])
  })

  it('a subagent in the background, its words and its calls', () => {
    const explorer = { subagentId: 'a1', subagentName: 'explorer' }
    const run = mapFixture(claudeCodeDialect, 'made-background-subagent')
    assert.deepEqual(unstamped(run.activity), [
      { type: 'orchestration', action: 'subagent_started', ...explorer },
      { type: 'agent', message: 'Started it.' },
      { type: 'read', path: '/repo/a.txt', isSuccess: true },
      { type: 'orchestration', action: 'subagent_completed', ...explorer, isSuccess: true },
      { type: 'agent', message: 'It found two files.' },
    ])
    const words = eventsOf(run, 'text-delta').filter((event) => event.parentToolCallId !== undefined)
    assert.deepEqual(
      words.map((event) => [event.parentToolCallId, event.text]),
      [['toolu_agent', 'I look around.']],
    )
    assert.equal(eventsOf(run, 'tool-call').at(-1)?.parentToolCallId, 'toolu_agent')
  })

  it('a conversation that is compacted, limited and structured', () => {
    assert.deepEqual(activity('made-compaction-and-limits'), [
      { type: 'warning', message: 'Rate limit: allowed_warning (five_hour)', code: 'allowed_warning' },
      { type: 'agent', message: 'Here it is.' },
    ])
  })

  it('results with images are results', () => {
    const run = mapFixture(claudeCodeDialect, 'made-image-result')
    assert.deepEqual(unstamped(run.activity), [
      { type: 'read', path: '/repo/logo.png', isSuccess: true },
      { type: 'agent', message: 'A logo.' },
    ])
    assert.deepEqual(eventsOf(run, 'tool-result')[0]?.result, [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    ])
  })
})
