import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { clineDialect } from './mapper.ts'

function mapped(lines: readonly unknown[], options?: RunOptions): MappedRun {
  return mapRun(clineDialect, lines, options)
}

function map(lines: readonly unknown[], options?: RunOptions): readonly object[] {
  return unstamped(mapped(lines, options).activity)
}

const agent = (message: string): object => ({ type: 'agent', message })

describe('Cline: the stream of older versions', () => {
  const say = (kind: string, text: string, more: object = {}): object => ({
    ts: 1,
    type: 'say',
    say: kind,
    text,
    ...more,
  })
  const ask = (kind: string, text: string): object => ({ ts: 2, type: 'ask', ask: kind, text })

  it('texts, completion results and questions are messages', () => {
    assert.deepEqual(
      map([
        say('text', 'Hello.'),
        say('completion_result', 'Done.'),
        ask('followup', 'Which?'),
        ask('followup', JSON.stringify({ question: 'Which one?', options: ['a', 'b'] })),
      ]),
      [agent('Hello.'), agent('Done.'), agent('Which?'), agent('Which one?')],
    )
  })

  it('a text that is sent again as it grows becomes one message', () => {
    const run = mapped([
      say('text', 'Hel', { partial: true }),
      say('text', 'Hello', { partial: true }),
      say('text', 'Hello.', { partial: false }),
    ])
    assert.deepEqual(unstamped(run.activity), [agent('Hello.')])
    assert.deepEqual(
      eventsOf(run, 'text-delta').map(({ text }) => text),
      ['Hel', 'lo', '.'],
    )
  })

  it('reasoning is consumed', () => {
    const run = mapped([say('reasoning', 'Hm.'), say('reasoning', 'Hm', { partial: true })])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(run.sums.reasons, { reasoning: 2 })
    assert.deepEqual(
      eventsOf(run, 'reasoning-delta').map(({ text }) => text),
      ['Hm.'],
    )
  })

  it('diagnostics are errors: they fail the run if it ends with them, and otherwise do not', () => {
    const run = mapped([say('error', 'no key')], { end: { exitCode: 1 } })
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: 'no key' }])
    assert.equal(eventsOf(run, 'error').length, 1)
    const passing = mapped([say('diff_error', 'no match'), say('clineignore_error', 'x'), say('text', 'Again.')])
    assert.deepEqual(unstamped(passing.activity), [
      { type: 'error', message: 'no match' },
      { type: 'error', message: 'x' },
      agent('Again.'),
    ])
    assert.equal(eventsOf(passing, 'error').length, 0)
    assert.deepEqual(map([say('mcp_error', 'no server'), say('text', 'On.')]), [
      { type: 'error', message: 'no server' },
      { type: 'agent', message: 'On.' },
    ])
  })

  it('a retry that is announced is a warning', () => {
    assert.deepEqual(map([say('error_retry', JSON.stringify({ attempt: 1, errorMessage: 'overloaded' }))]), [
      { type: 'warning', message: 'overloaded', code: 'retry' },
    ])
  })

  it('everything else is unknown, including tools', () => {
    const lines = [
      say('tool', '{"tool":"readFile","path":"a"}'),
      say('command', 'ls'),
      say('api_req_started', '{}'),
      ask('tool', '{}'),
      ask('completion_result', ''),
      { type: 'say' },
      { type: 'say', say: 'text' },
    ]
    assert.deepEqual(
      map(lines),
      lines.map((raw) => ({ type: 'unknown', raw })),
    )
  })
})
