import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, unstamped } from '../../test/support.ts'
import { agent, answer, call, event, hook, map, mapped, result, says, team } from '../../test/cline/records.ts'

const sub = (action: string, id: string, more: object = {}): object => ({
  type: 'orchestration',
  action: `subagent_${action}`,
  subagentId: id,
  ...more,
})

describe('Cline: subagents', () => {
  const spawn = call('s1', 'spawn_agent', { task: 'look' })
  const report = answer('s1', 'spawn_agent', { text: 'r', iterations: 1, finishReason: 'completed' })

  it('come and go by hooks that name a parent', () => {
    const run = mapped([
      hook('agent_start'),
      spawn,
      hook('agent_start', 'sub', 'lead'),
      says('I look.'),
      call('c1', 'bash', { command: 'ls' }),
      hook('tool_call', 'sub', 'lead'),
      answer('c1', 'bash', [{ success: true }]),
      hook('agent_end', 'sub', 'lead'),
      event('done', { text: 'I look.' }),
      report,
      says('It looked.'),
      result,
    ])
    assert.deepEqual(unstamped(run.activity), [
      sub('started', 'sub'),
      { type: 'command', command: 'ls', isSuccess: true },
      sub('completed', 'sub', { isSuccess: true }),
      agent('It looked.'),
    ])
    assert.deepEqual(
      eventsOf(run, 'text-delta').map(({ text, parentToolCallId }) => [text, parentToolCallId]),
      [
        ['I look.', 's1'],
        ['It looked.', undefined],
      ],
    )
    assert.deepEqual(
      eventsOf(run, 'tool-call').map(({ toolName, parentToolCallId }) => [toolName, parentToolCallId]),
      [
        ['spawn_agent', undefined],
        ['bash', 's1'],
      ],
    )
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'stop')
  })

  it('have failed when their call reports it, not at the first error', () => {
    const failing = [spawn, hook('agent_start', 'sub', 'lead'), hook('agent_error', 'sub', 'lead')]
    const failure = answer('s1', 'spawn_agent', { text: '', finishReason: 'error' })
    assert.deepEqual(map([...failing, failure, result]), [
      sub('started', 'sub'),
      sub('failed', 'sub', { isSuccess: false }),
    ])
    assert.deepEqual(map([...failing, hook('agent_error', 'sub', 'lead'), report, result]), [
      sub('started', 'sub'),
      sub('completed', 'sub', { isSuccess: true }),
    ])
    assert.deepEqual(map([...failing, hook('agent_end', 'sub', 'lead'), report, result]), [
      sub('started', 'sub'),
      sub('completed', 'sub', { isSuccess: true }),
    ])
  })

  it('subagents that were never announced still end', () => {
    assert.deepEqual(map([hook('agent_end', 'sub', 'lead'), hook('agent_error', 'other', 'lead'), result]), [
      sub('completed', 'sub', { isSuccess: true }),
      sub('failed', 'other', { isSuccess: false }),
    ])
    assert.deepEqual(map([hook('agent_error', 'sub', 'lead'), hook('agent_end', 'sub', 'lead'), result]), [
      sub('failed', 'sub', { isSuccess: false }),
    ])
  })

  it('progress of their calls names their caller', () => {
    const run = mapped([
      spawn,
      call('c1', 'bash', { command: 'ls' }),
      event('content_update', { contentType: 'tool', toolName: 'bash', toolCallId: 'c1', update: { chunk: 'x' } }),
    ])
    assert.equal(eventsOf(run, 'tool-progress')[0]?.parentToolCallId, 's1')
  })

  it('end with the program', () => {
    assert.deepEqual(map([spawn, hook('agent_start', 'sub', 'lead')], { end: { exitCode: null, aborted: true } }), [
      sub('started', 'sub'),
      sub('failed', 'sub', { isSuccess: false }),
    ])
  })

  it('their errors end nothing', () => {
    const run = mapped([
      spawn,
      hook('agent_start', 'sub', 'lead'),
      event('error', { error: { message: 'overloaded' }, errorClass: 'unknown', recoverable: false }),
      answer('s1', 'spawn_agent', { error: 'overloaded' }, { error: 'overloaded' }),
      says('It failed.'),
      result,
    ])
    assert.deepEqual(unstamped(run.activity), [
      sub('started', 'sub'),
      { type: 'error', message: 'overloaded', code: 'unknown' },
      sub('failed', 'sub', { isSuccess: false }),
      agent('It failed.'),
    ])
    assert.equal(eventsOf(run, 'error').length, 0)
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'stop')
  })

  it('may use the id of the call that started them', () => {
    assert.deepEqual(
      map([
        spawn,
        hook('agent_start', 'sub', 'lead'),
        call('s1', 'bash', { command: 'ls' }),
        answer('s1', 'bash', [{ success: true }]),
        report,
        says('Done.'),
        result,
      ]),
      [
        sub('started', 'sub'),
        { type: 'command', command: 'ls', isSuccess: true },
        sub('completed', 'sub', { isSuccess: true }),
        agent('Done.'),
      ],
    )
  })

  it('may be started by a tool of another name', () => {
    const reviewer = call('s1', 'reviewer', { task: 'look' })
    assert.deepEqual(
      map([
        reviewer,
        hook('agent_start', 'sub', 'lead'),
        says('I look.'),
        hook('agent_end', 'sub', 'lead'),
        answer('s1', 'reviewer', { text: 'r', finishReason: 'completed' }),
        says('Done.'),
        result,
      ]),
      [sub('started', 'sub'), sub('completed', 'sub', { isSuccess: true }), agent('Done.')],
    )
  })
})

describe('Cline: teams', () => {
  const spawned = team('teammate_spawned', { agentId: 'worker', role: 'tester', teammate: {} })
  const began = team('task_start', { agentId: 'worker', message: 'go' })
  const ended = (status: string): object => team('task_end', { agentId: 'worker', status })
  const worker = { subagentName: 'tester' }

  it('each task of a teammate has a beginning and an end', () => {
    assert.deepEqual(
      map([
        spawned,
        began,
        team('team_mission_log', { entry: {} }),
        ended('completed'),
        began,
        ended('failed'),
        team('teammate_shutdown', { agentId: 'worker' }),
        result,
      ]),
      [
        sub('started', 'worker', worker),
        sub('completed', 'worker', { ...worker, isSuccess: true }),
        sub('started', 'worker', worker),
        sub('failed', 'worker', { ...worker, isSuccess: false }),
      ],
    )
  })

  it('a teammate that is stopped while it works has failed; one without work has not', () => {
    const stopped = team('teammate_shutdown', { agentId: 'worker' })
    assert.deepEqual(
      map([spawned, began, stopped, result])[1],
      sub('failed', 'worker', { ...worker, isSuccess: false }),
    )
    assert.deepEqual(map([began, result])[1], sub('failed', 'worker', { isSuccess: false }))
    assert.deepEqual(map([spawned, stopped, result])[1], sub('completed', 'worker', worker))
    assert.deepEqual(map([spawned, began, result])[1], sub('failed', 'worker', { ...worker, isSuccess: false }))
  })

  it('versions without a status are recognised by the result or the error', () => {
    const end = (more: object): object | undefined =>
      map([began, team('task_end', { agentId: 'worker', ...more }), result])[1]
    assert.deepEqual(end({ result: { finishReason: 'completed' } }), sub('completed', 'worker', { isSuccess: true }))
    assert.deepEqual(end({ result: { finishReason: 'aborted' } }), sub('failed', 'worker', { isSuccess: false }))
    assert.deepEqual(end({ error: {} }), sub('failed', 'worker', { isSuccess: false }))
    assert.deepEqual(end({}), sub('completed', 'worker'))
  })

  it('calls of teammates are activity, and their texts are not the agent’s', () => {
    const wrapped = (inner: object): object => team('agent_event', { agentId: 'worker', event: inner })
    const tool = { contentType: 'tool', toolName: 'bash', toolCallId: 'c1' }
    const run = mapped([
      spawned,
      began,
      call('c1', 'read_files', { files: ['/a'] }),
      wrapped({ type: 'iteration_start', iteration: 1 }),
      wrapped({ type: 'content_start', contentType: 'text', text: 'I w' }),
      wrapped({ type: 'content_end', contentType: 'text', text: 'I work.' }),
      wrapped({ type: 'content_start', ...tool, input: { command: 'make' } }),
      wrapped({ type: 'content_end', ...tool, output: [{ success: false }] }),
      wrapped({ type: 'error', error: { message: 'no quota' }, recoverable: false }),
      wrapped({ type: 'iteration_end', iteration: 1 }),
      wrapped({ type: 'done', text: 'I work.' }),
      ended('failed'),
      answer('c1', 'read_files', [{ success: true }]),
      says('Done.'),
      result,
    ])
    assert.deepEqual(unstamped(run.activity), [
      sub('started', 'worker', worker),
      { type: 'command', command: 'make', isSuccess: false },
      { type: 'error', message: 'no quota' },
      sub('failed', 'worker', { ...worker, isSuccess: false }),
      { type: 'read', path: '/a', isSuccess: true },
      agent('Done.'),
    ])
    assert.equal(eventsOf(run, 'step-start').length, 0)
    assert.equal(eventsOf(run, 'text-delta')[0]?.parentToolCallId, 'worker')
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'stop')
  })
})
