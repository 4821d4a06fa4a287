import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brief } from '../../../test/brief.ts'
import { eventsOf, mapFixture, mapRun } from '../../../test/support.ts'
import { clineAcpDialect, clineHabits } from './mapper.ts'

const update = (fields: object): object => ({
  method: 'session/update',
  params: { sessionId: 's', update: fields },
})
const says = (text: string): object => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const calls = (toolCallId: string, title: string): object =>
  update({ sessionUpdate: 'tool_call', toolCallId, title, status: 'pending', rawInput: { commands: ['ls'] } })
const ends = (toolCallId: string, rawOutput: unknown): object =>
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', rawOutput })

describe('Cline over ACP: subagents', () => {
  it('speak and act below the call that started them', () => {
    const run = mapFixture(clineAcpDialect, 'subagent')
    const spawn = eventsOf(run, 'tool-call').find(({ toolName }) => toolName === 'spawn_agent')
    assert.ok(spawn !== undefined)
    const below = run.events.filter((event) => event.parentToolCallId === spawn.toolCallId)
    assert.deepEqual(new Set(below.map(({ type }) => type)), new Set(['tool-call', 'tool-result', 'text-delta']))
    const own = eventsOf(run, 'text-delta').filter((event) => event.parentToolCallId === undefined)
    assert.equal(own.map(({ text }) => text).join(''), 'Done.')
  })

  it('subagents that were started side by side end one by one, and then the agent speaks again', () => {
    const { activity, sums } = mapRun(clineAcpDialect, [
      calls('a', 'spawn_agent: one'),
      calls('b', 'spawn_agent: two'),
      says('One is at work.'),
      ends('a', { text: 'One.', finishReason: 'completed' }),
      says('Two is at work.'),
      ends('b', { text: 'Two.', finishReason: 'error' }),
      says('Both are done.'),
      { id: 3, result: { stopReason: 'end_turn' } },
    ])
    assert.deepEqual(brief(activity), [
      'subagent_started ? ?',
      'subagent_started ? ?',
      'subagent_completed ?',
      'subagent_failed ? ✗',
      'agent: Both are done.',
    ])
    assert.deepEqual([sums.waiting, sums.faults], [0, 0])
  })

  it('a call of a subagent tool that Cline does not have is never reported as started', () => {
    const failed = update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'a',
      status: 'failed',
      rawOutput: 'Unknown tool',
    })
    const { activity } = mapRun(clineAcpDialect, [calls('a', 'spawn_agent: one'), failed, says('No.')])
    assert.ok(!brief(activity).some((line) => line.startsWith('subagent_started')), brief(activity).join())
  })

  it('subagents that are at work when the program ends have failed', () => {
    const lines = [calls('a', 'spawn_agent: one'), calls('b', 'run_commands: ls'), says('At w')]
    assert.deepEqual(brief(mapRun(clineAcpDialect, lines, { end: { exitCode: 1 } }).activity).slice(0, -1), [
      'subagent_started ? ?',
      'subagent_failed ? ✗',
      'command ls ✗',
    ])
  })
})

describe('Cline over ACP: standard error', () => {
  it('log lines of Cline and its library are not warnings', () => {
    assert.equal(clineHabits.noise?.('[acp] listening'), 'notice')
    assert.equal(clineHabits.noise?.('DeprecationWarning: AI SDK Warning (x): use y'), 'notice')
    assert.equal(clineHabits.noise?.('    at run (file.js:1:2)'), 'stack-trace')
  })

  it('everything else is a warning, including errors in its log', () => {
    for (const line of ['[acp] failed to read', '[acp] Error: no key', 'out of memory'])
      assert.equal(clineHabits.noise?.(line), undefined)
  })
})
