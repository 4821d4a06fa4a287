import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SESSION, map, init, says } from '../../test/claude-code.ts'
import { eventsOf, mapFixture, mapRun, unstamped } from '../../test/support.ts'
import { claudeCodeDialect } from './mapper.ts'

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

  it('a result without any messages becomes the text of the answer', () => {
    const usage = { input_tokens: 100, output_tokens: 20 }
    const alone = mapRun(claudeCodeDialect, [result({ subtype: 'success', result: 'Hello.', usage })])
    assert.deepEqual(unstamped(alone.activity), [{ type: 'agent', message: 'Hello.' }])
    assert.equal(alone.activity[0]?.sessionId, SESSION)
    assert.equal(eventsOf(alone, 'finish')[0]?.usage?.outputTokens, 20)
    assert.deepEqual(map([result({ subtype: 'success', is_error: true, result: 'No key' })]), [
      { type: 'error', message: 'No key' },
    ])
    assert.deepEqual(map([result({ subtype: 'success', result: '' })]), [])
    const answers = ['First.', 'Second.'].map((words) => result({ subtype: 'success', result: words }))
    assert.deepEqual(map(answers), [
      { type: 'agent', message: 'First.' },
      { type: 'agent', message: 'Second.' },
    ])
  })

  it('a list of all records is read like the records one by one', () => {
    const records = [init, says('Hello.'), result({ subtype: 'success', result: 'Hello.' })]
    const run = mapRun(claudeCodeDialect, [records])
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'Hello.' }])
    assert.deepEqual([run.sums.lines, run.sums.events], [1, 1])
  })

  it('limits are errors with the subtype as code', () => {
    for (const subtype of ['error_max_turns', 'error_max_budget_usd', 'error_max_structured_output_retries']) {
      assert.deepEqual(map([init, result({ subtype, is_error: true, errors: ['Reached the limit'] })]), [
        { type: 'error', message: 'Reached the limit', code: subtype },
      ])
    }
  })

  it('a subtype that names an error is one also in versions that set no flag for it', () => {
    for (const flag of [{ is_error: false }, {}])
      assert.deepEqual(map([init, result({ subtype: 'error_max_turns', ...flag })]), [
        { type: 'error', message: 'error_max_turns', code: 'error_max_turns' },
      ])
  })

  it('an error said as assistant text is one with the result that repeats it, and a warning when the run continues', () => {
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

  it('an interruption without a result is the failure, unless we stopped it or it went on', () => {
    const told = (text: string): object => ({
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text }] },
      parent_tool_use_id: null,
    })
    const notice = told('[Request interrupted by user]')
    assert.deepEqual(map([init, notice]), [
      { type: 'error', message: 'The run was interrupted.', code: 'aborted_streaming' },
    ])
    assert.deepEqual(map([init, notice], { end: { exitCode: 0, aborted: true } }), [])
    assert.deepEqual(map([init, { ...notice, parent_tool_use_id: 'sub' }]), [])
    assert.deepEqual(map([init, notice, says('On it')]), [{ type: 'agent', message: 'On it' }])
    assert.deepEqual(map([init, notice, result({ subtype: 'success', is_error: false })]), [])
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

  it('a cost that only rises is counted from where it stood', () => {
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
