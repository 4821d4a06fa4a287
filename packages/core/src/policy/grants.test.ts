import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NO_RULES } from '@inspan/protocol'
import { policyFor, shellCall, shellRules, toolCall } from './policy.fixture.ts'

suite('"always"', () => {
  test('for a tool or its category, stored in addition to what was granted before', () => {
    const policy = policyFor(NO_RULES)
    const before = { grants: { tools: ['a'], categories: ['read'] as const } }
    assert.deepEqual(policy.grant(toolCall('b', {}, { category: 'edit' }), 'tool', before), {
      granted: true,
      grants: { tools: ['a', 'b'], categories: ['read'] },
    })
    assert.deepEqual(policy.grant(toolCall('b', {}, { category: 'edit' }), 'category', before), {
      granted: true,
      grants: { tools: ['a'], categories: ['read', 'edit'] },
    })
  })

  test('is refused if a pattern requires approval, and names the pattern', () => {
    const policy = policyFor(shellRules({ ask: ['git push *'] }))
    const refused = policy.grant(shellCall('make && git push'), 'tool', {})
    assert.deepEqual(refused, {
      granted: false,
      reason: 'the rule `ask execute_command(git push *)` of the harness requires approval for `git push`',
    })
    assert.equal(policy.grant(shellCall('make'), 'tool', {}).granted, true)
  })

  test('is refused if a rule for the whole tool requires approval', () => {
    const policy = policyFor({ ...NO_RULES, tools: { deploy: 'ask' } })
    const refused = policy.grant(toolCall('deploy'), 'tool', {})
    assert.ok(!refused.granted)
    assert.match(refused.reason, /the rule `ask deploy` of the harness requires approval/)
  })

  test('is refused where a deny holds or may be meant', () => {
    const policy = policyFor(shellRules({ deny: ['rm *'] }))
    for (const command of ['rm x', '$X y', 'ls "'])
      assert.equal(policy.grant(shellCall(command), 'tool', {}).granted, false)
  })

  test('is refused for a category that is not known or does not vouch', () => {
    const policy = policyFor(NO_RULES)
    const unknown = policy.grant(toolCall('mystery'), 'category', {})
    assert.ok(!unknown.granted)
    assert.match(unknown.reason, /the category of mystery is not known/)
    const served = toolCall('drop', {}, { serverName: 's', annotations: { destructiveHint: true } })
    assert.equal(policy.grant(served, 'category', {}).granted, false)
    assert.equal(policy.grant(served, 'tool', {}).granted, true)
  })

  test('for running commands does not cover writing files', () => {
    const grants = { tools: [], categories: ['execute'] as const }
    const policy = policyFor(NO_RULES)
    assert.equal(policy.decide(shellCall('make'), { grants }).policy, 'allow')
    assert.equal(policy.decide(shellCall('make > out'), { grants }).policy, 'ask')
    const both = { tools: [], categories: ['execute', 'edit'] as const }
    assert.equal(policy.decide(shellCall('make > out'), { grants: both }).policy, 'allow')
  })
})
