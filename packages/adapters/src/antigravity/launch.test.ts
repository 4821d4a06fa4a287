import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES } from '@inspan/protocol'
import { aPicture, aRequest, optionOf } from '../../test/launch/request.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { launchAntigravity } from './launch.ts'

const launch = (more: Partial<LaunchRequest> = {}): LaunchPlan => launchAntigravity(aRequest(more))

describe('the command line gives Antigravity', () => {
  it('the prompt as an argument', () => {
    const plan = launch()
    assert.deepEqual(plan.args, ['--print', 'Do it.'])
    assert.equal(plan.stdin, undefined)
  })

  it('the model and what else was given', () => {
    const plan = launchAntigravity(aRequest({ model: 'm-1' }), { args: ['--sandbox'] })
    assert.equal(optionOf(plan, '--model'), 'm-1')
    assert.deepEqual(plan.args.slice(-3), ['--sandbox', '--print', 'Do it.'])
  })

  it('Antigravity gets the option to ask nobody where it may do everything', () => {
    assert.ok(launch({ permissions: 'full' }).args.includes('--dangerously-skip-permissions'))
  })

  it('Antigravity gets neither instructions nor a number of steps, and a warning reports that', () => {
    const { warnings } = launch({ instructions: 'Be brief.', maxSteps: 3 })
    assert.deepEqual(
      warnings?.map(({ code }) => code),
      ['ignored-option', 'ignored-option'],
    )
  })

  it('no images and no MCP servers', () => {
    for (const more of [{ input: [aPicture] }, { mcp: { toy: { type: 'stdio', command: 'toy' } } }] as const) {
      assert.throws(
        () => launch(more),
        (error) => InspanError.is(error, 'unsupported'),
      )
    }
  })

  it('no rules: it does not start under one that denies, unless that was allowed', () => {
    const rules = { ...NO_RULES, categories: { execute: 'deny' }, tools: { edit_file: 'ask' } } as const
    assert.throws(
      () => launch({ rules }),
      (error) => {
        assert.ok(InspanError.is(error, 'policy-unsupported'))
        assert.deepEqual(error.details['rules'], ['deny every execute tool', 'deny edit_file'])
        return true
      },
    )
    assert.deepEqual(
      launch({ rules, allowUngoverned: true }).warnings?.map(({ code }) => code),
      ['rule-asks', 'policy-unsupported'],
    )
  })
})
