import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { activity } from '../../test/claude-code.ts'
import { eventsOf, mapFixture, unstamped } from '../../test/support.ts'
import { claudeCodeDialect } from './mapper.ts'

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

  it('a command that changes the directory changes it for what follows', () => {
    assert.deepEqual(activity('shell-directory-stays'), [
      command('cd src', true),
      { type: 'read', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'read', path: '/workspace/src/app.js', isSuccess: true },
      command('cd nodir', false, 1),
      { type: 'read', path: '/workspace/src/app.js', isSuccess: true },
      command('cd .. && false', false, 1),
      { type: 'read', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'search', query: 'add', isSuccess: true },
      { type: 'search', query: '*.js', isSuccess: true },
      { type: 'search', query: 'add', path: '/workspace/src', isSuccess: true },
      { type: 'write', path: '/workspace/src/rel.txt', isSuccess: true },
      { type: 'list', path: '/workspace/src/rel.txt', isSuccess: true },
      command('(cd ..; ls)', true),
      { type: 'list', isSuccess: true },
      command('X=..; cd "$X"; cat hello.txt', true),
      // The directory was not reported.
      { type: 'read', path: 'hello.txt', isSuccess: true },
      command('cd /workspace/ünï; true', true),
      { type: 'read', path: '/workspace/ünï/日本.txt', isSuccess: true },
      command('cd /; exit 0', true),
      command('pwd', true),
      command('pushd .. > /dev/null; ls', true),
      command('pwd', true),
      agent('Done.'),
    ])
  })

  it('a subagent begins where the agent is, and its own changes end with the command', () => {
    const reads = activity('shell-directory-of-subagent').filter((event) => 'path' in event)
    assert.deepEqual(reads, [
      { type: 'read', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'read', path: '/workspace/src/hello.txt', isSuccess: false },
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

  it('worktrees are directories that the agent, or a subagent, works in', () => {
    const paths = (name: string): unknown[] => activity(name).flatMap((event) => ('path' in event ? [event.path] : []))
    assert.deepEqual(paths('worktree-entered-and-left'), [
      '/workspace/.claude/worktrees/feature/hello.txt',
      '/workspace/.claude/worktrees/feature/hello.txt',
      '/workspace/.claude/worktrees/feature/made.txt',
      '/workspace/.claude/worktrees/feature/src',
      '/workspace/hello.txt',
    ])
    // The CLI does not report the subagent's directory.
    assert.deepEqual(paths('subagent-in-worktree'), ['hello.txt', 'src/app.js', 'app.js', '/workspace/hello.txt'])
  })

  it('limits, denials and interruptions', () => {
    assert.deepEqual(activity('budget-exhausted'), [
      command('echo hi', false),
      { type: 'error', message: 'Reached maximum budget ($0.0001)', code: 'error_max_budget_usd' },
    ])
    assert.deepEqual(
      activity('budget-exhausted-in-subagent').map((event) => ('action' in event ? event.action : event)),
      [
        'subagent_started',
        'subagent_failed',
        command('echo s', false),
        { type: 'error', message: 'Reached maximum budget ($0.0005)', code: 'error_max_budget_usd' },
      ],
    )
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
    // The CLI exits with 0 and without a result: its last record says that it was interrupted.
    assert.deepEqual(
      activity('interrupted-in-subagent').map((event) => ('action' in event ? event.action : event)),
      [
        'subagent_started',
        'subagent_failed',
        command('touch started; tail -f /dev/null', false),
        { type: 'error', message: 'The run was interrupted.', code: 'aborted_tools' },
      ],
    )
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

  it('a program that never starts is reported with its own output', () => {
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

  it('a subagent in the background, its text and its calls', () => {
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
