import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PermissionRules } from '@inspan/protocol'
import { effectiveRules } from './effective-rules.ts'
import { judgeShell, policyFor, shellCall, shellRules, toolCall } from './policy.fixture.ts'

const NONE: PermissionRules = { categories: {}, tools: {}, patterns: [] }

suite('the order of the rules', () => {
  const call = toolCall('deploy', {}, { category: 'other' })

  test('without any rule a call asks', () => {
    const decided = policyFor(NONE).decide(call, {})
    assert.deepEqual(decided, { policy: 'ask', step: 'default', reason: 'no rule allows `deploy`' })
  })

  test('a category decides when nothing nearer does', () => {
    const rules = { ...NONE, categories: { other: 'allow' } } as const
    assert.deepEqual(policyFor(rules).decide(call, {}), {
      policy: 'allow',
      step: 'category',
      rule: 'allow category other',
      about: { category: 'other' },
      level: 'harness',
      reason: '`deploy` is allowed by the rule `allow category other` of the harness',
    })
  })

  test('a grant comes before the category, the rule for the tool before a grant', () => {
    const category = { ...NONE, categories: { other: 'ask' } } as const
    const grants = { tools: ['deploy'], categories: [] }
    assert.equal(policyFor(category).decide(call, { grants }).step, 'grant')
    const tool = { ...NONE, tools: { deploy: 'ask' } } as const
    assert.equal(policyFor(tool).decide(call, { grants }).policy, 'ask')
    assert.equal(policyFor(NONE).decide(call, { grants: { tools: [], categories: ['other'] } }).policy, 'allow')
  })

  test('patterns come before the rule for the tool, the strictest of them first', () => {
    const rules = shellRules({ allow: ['git *'], ask: ['git push *'] }, { tools: { execute_command: 'ask' } })
    assert.equal(judgeShell('git log', rules).policy, 'allow')
    assert.equal(judgeShell('git push', rules).step, 'pattern')
    assert.equal(judgeShell('git push', rules).policy, 'ask')
    assert.equal(judgeShell('ls', rules).step, 'tool')
  })

  test('a pattern may want to be asked about what only runs others, too', () => {
    const rules = shellRules(
      { allow: ['npm test'], ask: ['bash *', 'eval *', 'nohup *', 'env *'] },
      { tools: { execute_command: 'allow' } },
    )
    for (const command of ['bash -c "npm test"', 'eval "npm test"', 'nohup npm test', 'cd src; env A=1 npm test']) {
      const { policy, step } = judgeShell(command, rules)
      assert.deepEqual([policy, step], ['ask', 'pattern'], command)
    }
    assert.equal(judgeShell('sh -c "timeout 9 npm test"', rules).policy, 'allow')
  })

  test('a call in doubt, or a tool that changed, asks before any allow, but not under yolo', () => {
    const rules = { ...NONE, tools: { deploy: 'allow' } } as const
    const policy = policyFor(rules)
    assert.equal(policy.decide(call, {}).policy, 'allow')
    assert.equal(policy.decide(call, { inDoubt: true }).step, 'in-doubt')
    assert.equal(policy.decide(call, { definitionChanged: true }).step, 'definition')
    assert.equal(policy.decide(call, { inDoubt: true, definitionChanged: true, yolo: true }).policy, 'allow')
  })

  test('yolo allows what only asks', () => {
    assert.equal(judgeShell('git push', shellRules({ ask: ['git push *'] }), { yolo: true }).step, 'yolo')
    assert.equal(judgeShell('ls "', shellRules({}), { yolo: true }).policy, 'allow')
    assert.equal(
      judgeShell('ls "', shellRules({ deny: ['rm *'] }), { yolo: true }).policy,
      'ask',
      'a deny may be meant',
    )
  })

  test('an answer comes before yolo and before the question whether a deny is meant', () => {
    const answered = { hash: 'h', decision: 'approve' } as const
    const decided = judgeShell('$X y', shellRules({ deny: ['rm *'] }), { hash: 'h', answered })
    assert.equal(decided.step, 'answer')
    assert.equal(decided.policy, 'allow')
  })

  test('the nearest of several levels decides, but a deny of any level counts', () => {
    const level = (policy: 'allow' | 'ask' | 'deny'): PermissionRules => ({ ...NONE, tools: { deploy: policy } })
    const decide = (harness: PermissionRules, session: PermissionRules, thread: PermissionRules): string =>
      policyFor(harness).decide(call, { session, thread }).policy
    assert.equal(decide(level('ask'), NONE, level('allow')), 'allow')
    assert.equal(decide(level('allow'), level('ask'), NONE), 'ask')
    assert.equal(decide(level('allow'), level('ask'), level('allow')), 'allow')
    assert.equal(decide(level('deny'), level('allow'), level('allow')), 'deny')
    assert.equal(decide(level('allow'), level('deny'), level('allow')), 'deny')
  })

  test('the rules in force can be written as one set of rules', () => {
    const policy = policyFor({ ...NONE, tools: { a: 'deny', b: 'ask' } })
    const rules = policy.rulesInForce({
      session: { ...NONE, tools: { a: 'allow', b: 'allow' }, categories: { read: 'ask' } },
      thread: shellRules({ allow: ['ls *'] }, { categories: { read: 'allow' } }),
      run: { ...NONE, tools: { c: 'deny', d: 'allow' } },
    })
    assert.deepEqual(rules, {
      categories: { read: 'allow' },
      tools: { a: 'deny', b: 'allow', c: 'deny' },
      patterns: [{ tool: 'execute_command', pattern: 'ls *', policy: 'allow' }],
    })
    assert.deepEqual(effectiveRules({}), NONE)
  })

  test('names of built-in properties are names like any other', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      assert.equal(policyFor(NONE).decide(toolCall(name), {}).policy, 'ask')
    }
  })
})

suite('the category of a call', () => {
  test('unknown asks, also where "other" is allowed', () => {
    const policy = policyFor({ ...NONE, categories: { other: 'allow', mcp: 'allow' } })
    assert.equal(policy.decide(toolCall('mystery'), {}).policy, 'ask')
  })

  test('a tool of a server is mcp unless something else is said', () => {
    const policy = policyFor({ ...NONE, categories: { mcp: 'allow' } })
    assert.equal(policy.decide(toolCall('search', {}, { serverName: 'web' }), {}).policy, 'allow')
    assert.equal(policy.decide(toolCall('search', {}, { serverName: 'web', category: 'execute' }), {}).policy, 'ask')
  })

  test('where harness and tool disagree the stricter counts', () => {
    const rules: PermissionRules = { ...NONE, categories: { read: 'allow', edit: 'ask', execute: 'deny' } }
    const policy = policyFor(rules, { toolCategory: () => 'read' })
    assert.equal(policy.decide(toolCall('x'), {}).policy, 'allow')
    assert.equal(policy.decide(toolCall('x', {}, { category: 'edit' }), {}).policy, 'ask')
    assert.equal(policy.decide(toolCall('x', {}, { category: 'execute' }), {}).policy, 'deny')
  })

  test('a server’s description of its tool raises caution and never lowers it', () => {
    const policy = policyFor({ ...NONE, categories: { mcp: 'allow', read: 'allow', execute: 'ask' } })
    const served = (
      annotations: { destructiveHint?: boolean; readOnlyHint?: boolean },
      category?: 'read' | 'execute',
    ) => toolCall('x', {}, { serverName: 's', annotations, ...(category === undefined ? {} : { category }) })
    assert.equal(policy.decide(served({ readOnlyHint: true }), {}).policy, 'allow')
    assert.equal(policy.decide(served({ destructiveHint: true }), {}).policy, 'ask')
    assert.equal(policy.decide(served({ readOnlyHint: false }, 'read'), {}).policy, 'ask')
    assert.equal(policy.decide(served({ readOnlyHint: true }, 'execute'), {}).policy, 'ask')
    const byName = policyFor({ ...NONE, tools: { x: 'allow' } })
    assert.equal(byName.decide(served({ destructiveHint: true }), {}).policy, 'allow')
  })
})

suite('the reason of a decision', () => {
  test('a decision names part, rule and level in one sentence', () => {
    const decided = policyFor(NONE).decide(shellCall('cd a && git push -f'), {
      thread: shellRules({ ask: ['git push *'] }),
    })
    assert.deepEqual(decided, {
      policy: 'ask',
      step: 'pattern',
      level: 'thread',
      part: 'git push -f',
      rule: 'ask execute_command(git push *)',
      about: { tool: 'execute_command' },
      reason: 'the rule `ask execute_command(git push *)` of the thread requires approval for `git push -f`',
    })
  })

  test('why a rule that looks as if it allowed it does not', () => {
    const rules = shellRules({ allow: ['sed *', 'git log *', 'node *'] })
    assert.match(judgeShell('sed -i s/a/b/ f', rules).reason, /-i has to stand in the rule$/)
    assert.match(judgeShell('git log $X', rules).reason, /what \$X becomes is only known when it runs$/)
    assert.match(judgeShell('node x.js', rules).reason, /the script it runs has to stand in the rule$/)
    assert.match(judgeShell('git log > out', rules).reason, /it writes out$/)
  })

  test('a decision names the part of a compound command that a deny may mean, and why', () => {
    const noEnv = { tool: 'read_file', pattern: '.env*', policy: 'deny' } as const
    const rules = shellRules({ allow: ['*'], deny: ['rm *'] }, { patterns: [noEnv] })
    const because = (command: string): unknown[] => {
      const { part, reason } = judgeShell(command, rules)
      return [part, reason.replace(/^.* cannot be known before it runs/, '')]
    }
    assert.deepEqual(because('cd src && tool -f .env | wc'), ['tool -f .env', ': it may use `.env`'])
    assert.deepEqual(because('ls; rg key src'), ['rg key src', ': it may use what lies below `src`'])
    assert.deepEqual(because('ls; cp -rf src out'), ['cp -rf src out', ': it may use what lies below `src`'])
    assert.deepEqual(because('tar -czf a.tar.gz src'), ['tar -czf a.tar.gz src', ': it may use what lies below `src`'])
    assert.deepEqual(because('ls; tool .e*'), ['tool .e*', ': it may use `.e*`'])
    assert.deepEqual(because('x=$1; cat "$x"'), ['cat "$x"', ': which files it uses is only known when it runs'])
    assert.deepEqual(because('git status && git diff | head'), [
      'git diff',
      ': it may show any file that git keeps, unless a rule allows `git diff *`',
    ])
    assert.deepEqual(because('curl u | sh'), ['sh', ': its script comes on its input'])
    assert.deepEqual(because('tee s < a; sh s'), ['sh s', ': it runs a file that the same text makes'])
    assert.deepEqual(because('ls; ssh h "rm x"'), ['ssh h "rm x"', ''])
  })

  test('why a text that a deny may mean cannot be decided', () => {
    const { reason } = judgeShell('echo "', shellRules({ deny: ['rm *'] }))
    assert.match(reason, /`deny execute_command\(rm \*\)` of the harness .* before it runs: it cannot be read: .*quote/)
  })

  test('it on one short line', () => {
    const { reason } = judgeShell(`echo ${'a\n'.repeat(500)}\u202e`, shellRules({}))
    assert.ok(reason.length < 300)
    assert.doesNotMatch(reason, /[\n\u202e]/)
  })
})
