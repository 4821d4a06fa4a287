import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SESSION, map, init, toolUse, call } from '../../test/claude-code.ts'

describe('Claude Code: system records', () => {
  const system = (subtype: string, more: object = {}): object => ({
    type: 'system',
    subtype,
    session_id: SESSION,
    ...more,
  })

  it('consumes lifecycle records and keeps unknown ones', () => {
    for (const subtype of [
      'init',
      'status',
      'thinking_tokens',
      'compact_boundary',
      'background_tasks_changed',
      'session_state_changed',
    ]) {
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

  it('informational records are reported when they are warnings', () => {
    assert.deepEqual(map([system('informational', { level: 'notice', content: 'fyi' })]), [])
    assert.deepEqual(map([system('informational', { level: 'warning', content: 'careful', tag: 't' })]), [
      { type: 'warning', message: 'careful', code: 't' },
    ])
    const stopped = "Opus 5.5's safeguards stopped the response above · continuing once with that noted"
    assert.deepEqual(map([system('informational', { level: 'notice', content: stopped })]), [
      { type: 'warning', message: stopped, code: 'safety-stop' },
    ])
  })

  it('another model than the one that was asked for is a warning', () => {
    const change = { trigger: 'overloaded', original_model: 'a', fallback_model: 'b' }
    assert.deepEqual(map([system('model_fallback', { ...change, content: 'Switched to b' })]), [
      { type: 'warning', message: 'Switched to b', code: 'overloaded' },
    ])
    assert.deepEqual(map([system('model_consent_fallback', { fallback_model: 'b' })]), [
      { type: 'warning', message: 'The model was changed to b.', code: 'model_consent_fallback' },
    ])
  })

  it('urgent notifications are warnings', () => {
    const notification = (priority: string): object =>
      system('notification', { key: 'stop-hook-error', text: 'Stop hook error', priority })
    for (const priority of ['immediate', 'high']) {
      assert.deepEqual(map([notification(priority)]), [
        { type: 'warning', message: 'Stop hook error', code: 'stop-hook-error' },
      ])
    }
    assert.deepEqual(map([notification('low')]), [])
    assert.deepEqual(map([system('notification')]), [{ type: 'unknown', raw: system('notification') }])
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

  it('subagents of a workflow come and go with its progress', () => {
    const progress = (...agents: readonly object[]): object =>
      system('task_progress', {
        task_id: 'w1',
        workflow_progress: agents.map((agent) => ({ type: 'workflow_agent', ...agent })),
      })
    const one = { agentId: 'a1', label: 'Look' }
    const two = { agentId: 'a2', label: 'Check', agentType: 'explorer' }
    const [first, second] = [
      { type: 'orchestration', subagentId: 'a1', subagentName: 'Look' },
      { type: 'orchestration', subagentId: 'a2', subagentName: 'explorer' },
    ]
    assert.deepEqual(
      map([
        init,
        system('task_started', { task_id: 'w1', task_type: 'local_workflow' }),
        progress({ label: 'Look', state: 'start' }),
        progress({ ...one, state: 'progress' }, { ...two, state: 'error' }),
        progress({ ...one, state: 'done' }, { ...two, state: 'error' }),
        system('task_notification', { task_id: 'w1', status: 'completed' }),
      ]),
      [
        { ...first, action: 'subagent_started' },
        { ...second, action: 'subagent_started' },
        { ...second, action: 'subagent_failed', isSuccess: false },
        { ...first, action: 'subagent_completed', isSuccess: true },
      ],
    )
  })

  it('a subagent ends with the turn that fails while the agent waits for it, and once', () => {
    const lines = [
      init,
      toolUse('t1', 'Agent', { prompt: 'x' }),
      system('task_started', { task_id: 'a1', tool_use_id: 't1', task_type: 'local_agent', subagent_type: 'explorer' }),
      { type: 'result', subtype: 'error_max_budget_usd', is_error: true, errors: ['Too much'] },
      system('task_notification', { task_id: 'a1', status: 'stopped', summary: 'x' }),
    ]
    assert.deepEqual(
      map(lines).map((event) => ('action' in event ? event.action : 'type' in event && event.type)),
      ['subagent_started', 'subagent_failed', 'error'],
    )
  })

  it('a background command that fails is warned about', () => {
    const lines = [
      system('task_started', { task_id: 'b1', task_type: 'local_bash' }),
      system('task_notification', { task_id: 'b1', status: 'failed', summary: 'make failed (exit code 2)' }),
    ]
    assert.deepEqual(map(lines), [{ type: 'warning', message: 'make failed (exit code 2)', code: 'background-task' }])
  })

  it('a command that was stopped is reported as stopped: its summary only describes what it was', () => {
    const lines = [
      system('task_started', { task_id: 'b1', task_type: 'local_bash' }),
      system('task_notification', { task_id: 'b1', status: 'stopped', summary: 'Watch the log' }),
    ]
    assert.deepEqual(map(lines), [
      { type: 'warning', message: 'A background command was stopped: Watch the log', code: 'background-task' },
    ])
  })

  it('a subagent that no task record announced is reported from its call', () => {
    const launched = { tool_use_result: { status: 'async_launched', agentId: 'a1', agentType: 'explorer' } }
    assert.deepEqual(call('Task', { subagent_type: 'explorer', prompt: 'x' }, {}, launched), [
      { type: 'orchestration', action: 'subagent_started', subagentId: 'a1', subagentName: 'explorer' },
    ])
    const done = { tool_use_result: { status: 'completed', agentId: 'a2' } }
    assert.deepEqual(call('Task', { description: 'look', prompt: 'x' }, {}, done), [
      { type: 'orchestration', action: 'subagent_completed', subagentId: 'a2', subagentName: 'look', isSuccess: true },
    ])
  })

  it('a workflow counts as work of subagents', () => {
    assert.deepEqual(call('Workflow', { description: 'review' }, {}, {}), [
      { type: 'orchestration', action: 'subagent_completed', subagentName: 'review', isSuccess: true },
    ])
  })
})
