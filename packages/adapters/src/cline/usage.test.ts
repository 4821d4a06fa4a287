import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf } from '../../test/support.ts'
import { answer, call, event, mapped, reports, result, team, usage } from '../../test/cline/records.ts'

describe('Cline: usage', () => {
  it('steps have their own, the turn has the sum; cached tokens are counted once', () => {
    const cached = { cacheReadTokens: 50, cacheWriteTokens: 10, cost: 0.25 }
    const run = mapped([
      event('iteration_start'),
      reports(usage(160, 20, 160, 20, cached)),
      event('iteration_end'),
      event('iteration_start'),
      reports(usage(160, 20, 320, 40, cached)),
      event('iteration_end'),
      result,
    ])
    const step = {
      inputTokens: 100,
      outputTokens: 20,
      totalTokens: 180,
      cachedInputTokens: 50,
      cacheWriteInputTokens: 10,
      costUsd: 0.25,
      source: 'reported',
      scope: 'own',
    }
    assert.deepEqual(
      eventsOf(run, 'step-finish').map((event) => event.usage),
      [step, step],
    )
    assert.deepEqual(eventsOf(run, 'finish')[0]?.usage, {
      ...step,
      inputTokens: 200,
      outputTokens: 40,
      totalTokens: 360,
      cachedInputTokens: 100,
      cacheWriteInputTokens: 20,
      costUsd: 0.5,
    })
  })

  it("a subagent's is not the agent's", () => {
    const run = mapped([
      reports(usage(100, 20, 100, 20)),
      call('s1', 'spawn_agent', {}),
      reports(usage(7, 1, 7, 1)),
      answer('s1', 'spawn_agent', { finishReason: 'completed' }),
      reports(usage(100, 20, 200, 40)),
      result,
    ])
    assert.deepEqual(
      run.mapper.usage.turn().map(({ scope, inputTokens }) => [scope, inputTokens]),
      [
        ['own', 200],
        ['subagents', 7],
      ],
    )
  })

  it('usage of teammates is reported twice and counted once, in either order', () => {
    const wrapped = (report: object): object => team('agent_event', { agentId: 'worker', event: report })
    const spawned = team('teammate_spawned', { agentId: 'worker' })
    const mine = usage(100, 20, 100, 20)
    const theirs = usage(30, 5, 30, 5)
    for (const lines of [
      [spawned, reports(theirs), wrapped(theirs), reports(mine)],
      [spawned, wrapped(theirs), reports(theirs), reports(mine)],
      [spawned, reports(mine), reports(theirs), wrapped(theirs)],
    ]) {
      const run = mapped([event('iteration_start'), ...lines, event('iteration_end'), result])
      assert.deepEqual(
        run.mapper.usage.turn().map(({ scope, inputTokens }) => [scope, inputTokens]),
        [
          ['own', 100],
          ['subagents', 30],
        ],
      )
      assert.equal(eventsOf(run, 'step-finish')[0]?.usage?.inputTokens, 100)
    }
  })

  it('the result counts where nothing else was reported; prices of nothing are no prices', () => {
    const total = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 50, cacheWriteTokens: 0, totalCost: 0 }
    const run = mapped([{ ...result, usage: total, aggregateUsage: total }])
    assert.deepEqual(eventsOf(run, 'finish')[0]?.usage, {
      inputTokens: 50,
      outputTokens: 20,
      totalTokens: 120,
      cachedInputTokens: 50,
      cacheWriteInputTokens: 0,
      source: 'reported',
      scope: 'own',
    })
    const told = mapped([reports(usage(1, 1, 1, 1)), { ...result, usage: total }])
    assert.equal(eventsOf(told, 'finish')[0]?.usage?.inputTokens, 1)
  })

  it('numbers that cannot be are ignored, with a warning', () => {
    const run = mapped([reports(usage(-1, 20, 0, 0)), result])
    assert.deepEqual(
      run.activity.map((event) => event.type === 'warning' && event.code),
      ['usage-out-of-range'],
    )
    assert.equal(eventsOf(run, 'finish')[0]?.usage?.outputTokens, 20)
  })
})
