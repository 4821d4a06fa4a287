import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError, type PatternRule, type PermissionRules } from '@inspan/protocol'
import type { StandingRules } from '../harness/harness-config.ts'
import { checkRules } from './check-rules.ts'
import { createPolicy } from './index.ts'

function load(rule: Partial<PatternRule>): void {
  const complete: PatternRule = { tool: 'execute_command', pattern: 'ls *', policy: 'allow', ...rule }
  checkRules({ categories: {}, tools: {}, patterns: [complete] })
}

function refuses(rule: Partial<PatternRule>, message: RegExp): InspanError {
  let caught: unknown
  assert.throws(
    () => load(rule),
    (error) => {
      caught = error
      return InspanError.is(error, 'invalid-input') && message.test(error.message)
    },
  )
  assert.ok(InspanError.is(caught))
  return caught
}

suite('the examples of a rule', () => {
  test('are checked against it when it is loaded', () => {
    load({
      pattern: 'git log *',
      match: ['git log', 'git log -5', 'sh -c "git log"'],
      notMatch: ['git log > x', 'git push', 'git log; ls', 'git log --output=x'],
    })
    load({
      pattern: 'rm -rf *',
      policy: 'deny',
      match: ['rm -fr x', 'sudo rm -r -f x', 'ls; rm -rf x'],
      notMatch: ['rm x', 'echo rm -rf x'],
    })
    load({ pattern: 'git push *', policy: 'ask', match: ['git -C x push'], notMatch: ['git pull'] })
    load({ tool: 'edit_file', pattern: 'src/**', match: ['src/a.ts'], notMatch: ['src/../a.ts'] })
    load({ tool: 'edit_file', pattern: '.env', policy: 'deny', match: ['a/.ENV'], notMatch: ['.env.example'] })
  })

  test('name the rule and themselves when they are wrong', () => {
    const missing = refuses(
      { pattern: 'git log *', match: ['git -C x log'] },
      /does not match its example "git -C x log"/,
    )
    assert.deepEqual(missing.details, {
      rule: 'allow execute_command(git log *)',
      example: 'git -C x log',
      expected: 'match',
    })
    refuses(
      { pattern: 'rm *', policy: 'deny', notMatch: ['/bin/rm x'] },
      /"deny execute_command\(rm \*\)" matches its example/,
    )
    refuses({ pattern: 'rm *', policy: 'deny', notMatch: ['$X y'] }, /may match its example "\$X y"/)
    refuses({ pattern: 'rm *', policy: 'deny', match: ['$X y'] }, /does not match/)
    refuses({ tool: 'edit_file', pattern: 'src/*', match: ['src/a/b'] }, /does not match/)
  })

  test('are checked when a policy is made', () => {
    const rules: PermissionRules = {
      categories: {},
      tools: {},
      patterns: [{ tool: 'execute_command', pattern: 'ls', policy: 'allow', match: ['ls -l'] }],
    }
    assert.throws(() => createPolicy({ rules }), /does not match its example "ls -l"/)
  })
})

suite('a pattern that could never match is refused', () => {
  test('with what to write instead', () => {
    refuses({ pattern: 'git log:*' }, /further arguments are written as ` \*`, not `:\*`/)
    refuses({ pattern: 'git log && rm *' }, /about one simple command/)
    refuses({ pattern: 'ls > x' }, /about one simple command/)
    refuses({ pattern: 'echo $HOME' }, /about one simple command/)
    refuses({ pattern: 'A=1 ls' }, /not about an assignment/)
    refuses({ pattern: '' }, /it is empty/)
    refuses({ pattern: '  ' }, /it is empty/)
    refuses({ pattern: 'git "log' }, /is not closed/)
    refuses({ pattern: 'git log\\' }, /ends with a backslash/)
    refuses({ pattern: 'ls\nrm' }, /control characters/)
    refuses({ tool: 'edit_file', pattern: '../x' }, /climbs out/)
    refuses({ tool: 'edit_file', pattern: 'src/**.ts' }, /stands for whole folders/)
    refuses({ tool: 'edit_file', pattern: 'src\\x' }, /separated by \//)
    refuses({ tool: 'edit_file', pattern: '' }, /it is empty/)
    refuses({ pattern: 'git {log,diff} *' }, /write one rule for each/)
    refuses({ tool: 'edit_file', pattern: '*.{ts,tsx}' }, /write one rule for each/)
    refuses({ tool: 'edit_file', pattern: '!src/**' }, /does not negate/)
    refuses({ tool: 'edit_file', pattern: '$HOME/x' }, /variables are not filled in/)
    refuses({ tool: 'edit_file', pattern: '${PWD}/x' }, /variables are not filled in/)
    refuses({ tool: 'edit_file', pattern: '~me/x' }, /only `~\/` is known/)
    refuses({ tool: 'edit_file', pattern: 'file:///x' }, /written as a path/)
    refuses({ tool: 'edit_file', pattern: '.env ' }, /begins or ends with a space/)
    refuses(
      { tool: 'web_fetch', pattern: 'https://x/*' },
      /nothing is known of what patterns for "web_fetch" are about/,
    )
  })

  test('a name that only looks odd is not refused', () => {
    load({
      tool: 'edit_file',
      pattern: 'app/[id]/page.tsx',
      match: ['app/[id]/page.tsx'],
      notMatch: ['app/i/page.tsx'],
    })
    load({ tool: 'edit_file', pattern: 'routes/$slug.tsx', match: ['routes/$slug.tsx'] })
    load({ tool: 'edit_file', pattern: 'a{b}', match: ['a{b}'] })
    load({ pattern: "git stash show 'stash@{0,1}'", match: ["git stash show 'stash@{0,1}'"] })
    load({ pattern: 'find * -exec echo {} *' })
  })

  test('an unknown tool is refused with the names of the known ones', () => {
    const { hint } = refuses({ tool: 'Bash', pattern: 'rm *' }, /nothing is known/)
    assert.match(hint ?? '', /execute_command, read_file.*`shellTools` or `pathTools`/)
  })

  test('rules with a wrong shape are refused', () => {
    const rule = { tool: 'execute_command', pattern: 'rm *', policy: 'deny' }
    const misshapen: readonly (readonly [unknown, RegExp])[] = [
      [null, /rules are an object/],
      [[], /rules are an object/],
      [{}, /`categories` says a policy for each name/],
      [{ categories: {}, tools: [], patterns: [] }, /`tools` says a policy for each name/],
      [{ categories: {}, tools: {} }, /`patterns` is a list of rules/],
      [{ categories: {}, tools: {}, patterns: [null] }, /a rule is an object/],
      [{ categories: {}, tools: {}, patterns: [{ ...rule, pattern: 3 }] }, /`pattern` of a rule is a text/],
      [{ categories: {}, tools: {}, patterns: [{ pattern: 'rm *', policy: 'deny' }] }, /`tool` of a rule is a text/],
      [{ categories: {}, tools: {}, patterns: [{ ...rule, match: 'rm x' }] }, /`match` of a rule is a list of texts/],
      [{ categories: {}, tools: {}, patterns: [{ ...rule, notMatch: [1] }] }, /`notMatch` of a rule is a list/],
      [{ categories: {}, tools: {}, patterns: [{ ...rule, notmatch: [] }] }, /no `notmatch`/],
      [{ categories: {}, tools: {}, patterns: [], pattern: [] }, /no `pattern`/],
    ]
    for (const [rules, message] of misshapen) {
      assert.throws(
        () => checkRules(rules as PermissionRules),
        (error) => InspanError.is(error, 'invalid-input') && message.test(error.message),
        JSON.stringify(rules),
      )
    }
  })

  test('policies and categories that do not exist are refused', () => {
    const rules = (given: object): PermissionRules => ({ categories: {}, tools: {}, patterns: [], ...given })
    assert.throws(() => checkRules(rules({ tools: { x: 'Deny' } })), /"Deny" is none of allow, ask and deny/)
    assert.throws(() => checkRules(rules({ tools: { 'execute_*': 'deny' } })), /a star stands for nothing/)
    assert.throws(
      () => checkRules(rules({ tools: { 'Bash(rm)': 'deny' } })),
      /"Bash\(rm\)" is not valid: it is no name of a tool.*`patterns`/,
    )
    assert.throws(() => checkRules(rules({ categories: { read: 'block' } })), /"block" is none of/)
    assert.throws(() => checkRules(rules({ categories: { reed: 'deny' } })), /there is no such category.*read, edit/)
    assert.throws(
      () => checkRules(rules({ patterns: [{ tool: 'execute_command', pattern: 'x', policy: 'no' }] })),
      /is none of/,
    )
  })
})

test('rules that are given under another name are refused: they would be none', () => {
  const rules: PermissionRules = { categories: { execute: 'deny' }, tools: {}, patterns: [] }
  const cases: readonly (readonly [given: object, meant: string])[] = [
    [{ rule: rules }, 'rules'],
    [{ rules, shelTools: { run: 'command' } }, 'shellTools'],
  ]
  for (const [given, meant] of cases) {
    assert.throws(
      () => createPolicy(given),
      (error) => InspanError.is(error, 'invalid-input') && error.message.includes(`Did you mean "${meant}"?`),
    )
  }
})

suite('the words of a pattern', () => {
  test('may be quoted, where a space or star is literal', () => {
    load({ pattern: 'git commit -m "a *" *', match: ['git commit -m "a *"'], notMatch: ['git commit -m "a b"'] })
    load({ pattern: "grep 'a b' *", match: ['grep "a b" f'], notMatch: ['grep a b f'] })
    load({ pattern: 'echo \\*', match: ["echo '*'"], notMatch: ['echo x', 'echo *'] })
    load({ pattern: 'find * -name "*.ts"', match: ['find src -name "*.ts"'], notMatch: ['find src lib -name "*.ts"'] })
  })

  test('a rule that was never checked is asked about rather than passed over', () => {
    const policy = createPolicy({ rules: { categories: {}, tools: { execute_command: 'allow' }, patterns: [] } })
    const thread: PermissionRules = {
      categories: {},
      tools: {},
      patterns: [{ tool: 'execute_command', pattern: 'rm "', policy: 'deny' }],
    }
    const call = { toolCallId: 'c', toolName: 'execute_command', args: { command: 'ls' } }
    assert.equal(policy.decide(call, {}).policy, 'allow')
    assert.equal(policy.decide(call, { thread }).policy, 'ask')
    assert.equal(policy.decide(call, { thread, yolo: true }).policy, 'ask')
  })
})

test('a policy takes the rules that `permissions` of a harness takes', () => {
  const call = { toolCallId: 'c', toolName: 'paint', args: {}, category: 'edit' } as const
  const policy = (rules: StandingRules) => createPolicy({ rules }).decide(call, {}).policy
  assert.equal(policy({ tools: { paint: 'allow' } }), 'allow')
  assert.equal(policy({ categories: { edit: 'deny' } }), 'deny')
  assert.equal(policy({ patterns: [] }), 'ask')
  assert.throws(() => createPolicy({ rules: 'allow' as never }), { code: 'invalid-input' })
})
