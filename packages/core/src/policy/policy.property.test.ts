import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject, PatternRule, PermissionRules, Policy, ToolCategory } from '@inspan/protocol'
import { isTransparent } from '@inspan/shell/judge'
import { quote, readCommand, type SimpleCommand } from '@inspan/shell/read'
import fc from 'fast-check'
import { effectiveRules } from './effective-rules.ts'
import { createPolicy, type PolicyContext } from './index.ts'
import { isStricter } from './strictness.ts'

const policyOf = fc.constantFrom<Policy>('allow', 'ask', 'deny')
const SHELL_PATTERNS = [
  'rm *·rm -rf *·git push *·git push --force *·git log *·git *·git status·ls *·cat *·echo *·curl *·curl -X POST *·sh *',
  'xargs *·find *·find * -delete·sed *·sed -i *·npm test·npm run *·node *·sudo *·* --force *·*·tar -x *·./run *·rm -r /',
].flatMap((line) => line.split('·'))
const PATH_PATTERNS = ['src/**', '**/*.ts', '.env', '/etc/**', '~/.ssh/**', '**', 'docs/*', 'build/']

const patternRule: fc.Arbitrary<PatternRule> = fc.oneof(
  fc.record({
    tool: fc.constant('execute_command'),
    pattern: fc.constantFrom(...SHELL_PATTERNS),
    policy: policyOf,
  }),
  fc.record({
    tool: fc.constantFrom('read_file', 'edit_file', 'write_file', 'grep'),
    pattern: fc.constantFrom(...PATH_PATTERNS),
    policy: policyOf,
  }),
)
const categories = fc.dictionary(fc.constantFrom<ToolCategory>('read', 'edit', 'execute', 'mcp', 'other'), policyOf, {
  noNullPrototype: true,
})
const tools = fc.dictionary(fc.constantFrom('execute_command', 'edit_file', 'read_file', 'web'), policyOf, {
  noNullPrototype: true,
})
const someRules: fc.Arbitrary<PermissionRules> = fc.record({
  categories,
  tools,
  patterns: fc.array(patternRule, { maxLength: 5 }),
})

const WORDS = [
  'rm·-rf·-r·-f·x·/·git·push·log·--force·-f·status·ls·cat·a.ts·src/a.ts·.env·echo·curl·-X·POST·sh·-c·xargs·find·.·-delete·-exec',
  'sed·-i·s/a/b/·npm·test·run·build·node·sudo·env·A=1·timeout·5·$X·"$X"·$(ls)·`rm x`·*.ts·{}·\\;·+·eval·cd·src·/tmp·./run·nice',
].flatMap((line) => line.split('·'))
const JOINTS = [
  ' ',
  ' ',
  ' ',
  ' ',
  '; ',
  ' && ',
  ' | ',
  ' || ',
  ' & ',
  '\n',
  ' > ',
  ' >> ',
  ' < ',
  ' 2>&1 ',
  ' ( ',
  ' ) ',
  '"',
  "'",
]
const command = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...JOINTS)), { maxLength: 12 })
  .map((pairs) => pairs.flat().join(''))

const call = fc.oneof(
  { weight: 4, arbitrary: command.map((text) => ({ toolName: 'execute_command', args: { command: text } })) },
  fc
    .tuple(
      fc.constantFrom('edit_file', 'read_file', 'write_file', 'grep'),
      fc.constantFrom('src/a.ts', '.env', '../x', '/etc/p', 'docs/a', '.'),
    )
    .map(([toolName, path]) => ({ toolName, args: { path } })),
  fc.constantFrom('web', 'constructor', '__proto__').map((toolName) => ({ toolName, args: {} })),
  fc
    .constantFrom('src/a.ts', '.env', 'file:///etc/p', '~/.ssh/id', 'text')
    .map((text) => ({ toolName: 'mcp__files__open', args: { in: [text] } })),
)
const grants = fc.record({
  categories: fc.subarray<ToolCategory>(['execute', 'edit', 'read']),
  tools: fc.subarray(['execute_command', 'edit_file']),
})
const context: fc.Arbitrary<PolicyContext> = fc.record(
  { session: someRules, thread: someRules, run: someRules, grants, yolo: fc.boolean() },
  { requiredKeys: [] },
)

function verdict(
  rules: PermissionRules,
  { args, toolName }: { args: JsonObject; toolName: string },
  context: PolicyContext = {},
): Policy {
  const policy = createPolicy({ rules, cwd: '/repo', home: '/home/me' })
  return policy.decide({ toolCallId: 'call', toolName, args }, context).policy
}

suite('for any rules and calls', () => {
  test('adding a deny, at whatever level, makes no verdict weaker', () => {
    const deny = fc.oneof(
      patternRule.map((rule): PermissionRules => ({
        categories: {},
        tools: {},
        patterns: [{ ...rule, policy: 'deny' }],
      })),
      fc
        .constantFrom('execute_command', 'edit_file')
        .map((tool): PermissionRules => ({ categories: {}, tools: { [tool]: 'deny' }, patterns: [] })),
      fc
        .constantFrom<ToolCategory>('edit', 'execute', 'read')
        .map((category): PermissionRules => ({ categories: { [category]: 'deny' }, tools: {}, patterns: [] })),
    )
    fc.assert(
      fc.property(
        someRules,
        context,
        call,
        deny,
        fc.constantFrom('session', 'thread', 'run'),
        (rules, given, asked, added, level) => {
          const before = verdict(rules, asked, given)
          const known = given[level] ?? { categories: {}, tools: {}, patterns: [] }
          const more: PermissionRules = {
            categories: { ...known.categories, ...added.categories },
            tools: { ...known.tools, ...added.tools },
            patterns: [...known.patterns, ...added.patterns],
          }
          const after = verdict(rules, asked, { ...given, [level]: more })
          assert.ok(!isStricter(before, after), `${before} became ${after}`)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('adding an allow, at whatever level, overrides no deny', () => {
    const allow = fc.record({
      categories: fc.constant<PermissionRules['categories']>({ read: 'allow', edit: 'allow', execute: 'allow' }),
      tools: fc.constant<PermissionRules['tools']>({
        execute_command: 'allow',
        edit_file: 'allow',
        read_file: 'allow',
      }),
      patterns: fc.array(
        patternRule.map((rule): PatternRule => ({ ...rule, policy: 'allow' })),
        { maxLength: 3 },
      ),
    })
    let denied = 0
    fc.assert(
      fc.property(
        someRules,
        context,
        call,
        allow,
        fc.constantFrom('session', 'thread', 'run'),
        (rules, given, asked, added, level) => {
          if (verdict(rules, asked, given) !== 'deny') return
          denied += 1
          const known = given[level] ?? { categories: {}, tools: {}, patterns: [] }
          const more: PermissionRules = {
            categories: { ...added.categories, ...known.categories },
            tools: { ...added.tools, ...known.tools },
            patterns: [...known.patterns, ...added.patterns],
          }
          const open = { ...given, [level]: more, grants: { categories: [], tools: [asked.toolName] }, yolo: true }
          assert.equal(verdict(rules, asked, open), 'deny')
        },
      ),
      { numRuns: 2_000 },
    )
    assert.ok(denied > 100, `only ${denied} were denied: nothing was tested`)
  })

  test('the stricter of two consecutive commands counts', () => {
    const isWhole = (text: string): boolean => {
      const reading = readCommand(text)
      return reading.ok && reading.commands.length > 0
    }
    const changesNothing = (text: string): boolean => {
      const reading = readCommand(text)
      const isEmpty = ({ args, program }: SimpleCommand): boolean => program === 'eval' && args.length === 0
      return reading.ok && reading.commands.every((each) => isEmpty(each) || isTransparent(each))
    }
    const shell = (text: string): { toolName: string; args: JsonObject } => {
      return { toolName: 'execute_command', args: { command: text } }
    }
    const allowRm: PermissionRules = {
      categories: {},
      tools: {},
      patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'allow' }],
    }
    fc.assert(
      fc.property(
        someRules,
        context,
        command.filter(isWhole),
        command.filter(isWhole),
        fc.constantFrom('; ', '\n'),
        (rules, given, first, second, joint) => {
          fc.pre(isWhole(`${first}${joint}${second}`))
          const both = verdict(rules, shell(`${first}${joint}${second}`), given)
          for (const alone of [first, second]) {
            const before = verdict(rules, shell(alone), given)
            // No rule allows `test` or an empty `eval`, and next to an allowed command there is nothing to ask about.
            if (before === 'ask' && changesNothing(alone)) continue
            // In another folder the same words may mean other files, which somebody has to be asked about.
            const least = before === 'deny' && /\bcd\b/.test(first) ? 'ask' : before
            assert.ok(!isStricter(least, both), `${alone} alone is ${before}, with the other one ${both}`)
          }
        },
      ),
      {
        numRuns: 2_000,
        examples: [
          [allowRm, {}, 'rm x', 'eval', '; '],
          [allowRm, {}, 'test ', 'rm x', '; '],
        ],
      },
    )
  })

  test('all levels as one set of rules decide the same', () => {
    fc.assert(
      fc.property(someRules, context, call, (harness, given, asked) => {
        const { run, session, thread, ...rest } = given
        const together = effectiveRules({
          harness,
          ...(session === undefined ? {} : { session }),
          ...(thread === undefined ? {} : { thread }),
          ...(run === undefined ? {} : { run }),
        })
        assert.equal(verdict(together, asked, rest), verdict(harness, asked, given))
      }),
      { numRuns: 2_000 },
    )
  })

  test('no input throws, not even rules that nobody checked', () => {
    const anyText = fc.oneof(command, fc.string({ unit: 'binary', maxLength: 100 }), fc.string({ maxLength: 60 }))
    const anyRule = fc.record({
      tool: fc.constantFrom('execute_command', 'edit_file', 'web'),
      pattern: fc.oneof(anyText, fc.constantFrom(...SHELL_PATTERNS)),
      policy: policyOf,
    })
    const anyValue = fc.oneof(anyText, fc.array(anyText, { maxLength: 4 }), fc.constantFrom(null, 1, true, {}))
    fc.assert(
      fc.property(
        fc.array(anyRule, { maxLength: 4 }),
        fc.constantFrom('execute_command', 'edit_file', 'grep', 'web'),
        anyValue,
        fc.option(anyText, { nil: undefined }),
        (patterns, toolName, value, cwd) => {
          const policy = createPolicy()
          const asked = {
            toolCallId: 'call',
            toolName,
            args: { command: value, path: value },
            ...(cwd === undefined ? {} : { cwd }),
          }
          const decided = policy.decide(asked, { thread: { categories: {}, tools: {}, patterns } })
          assert.ok(decided.reason.length > 0)
          assert.ok(!/[\n\r\0]/.test(decided.reason))
          policy.grant(asked, 'category', {})
        },
      ),
      { numRuns: 3_000 },
    )
  })
})

suite('a denied command stays denied', () => {
  const DENIED = [
    'rm -rf x',
    'rm x',
    'git push origin main',
    'curl -X POST u',
    'git -C a push',
    '/bin/rm x y',
    'find . -delete',
  ]
  const rules: PermissionRules = {
    categories: {},
    tools: { execute_command: 'allow' },
    patterns: ['rm *', 'git push *', 'curl -X POST *', 'find * -delete'].map((pattern) => ({
      tool: 'execute_command',
      pattern,
      policy: 'deny',
    })),
  }
  const denied = fc.constantFrom(...DENIED)
  const stays = (text: string): void =>
    assert.equal(verdict(rules, { toolName: 'execute_command', args: { command: text } }, { yolo: true }), 'deny', text)

  /** Quotes some letters of a word, in one of the ways that a shell removes again. */
  const quoted = (word: string): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom('plain', 'single', 'double', 'escape', 'hex', 'empty'), {
        minLength: word.length,
        maxLength: word.length,
      })
      .map((styles) =>
        word
          .split('')
          .map((char, at) => {
            switch (styles[at]) {
              case 'single':
                return `'${char}'`
              case 'double':
                return `"${char}"`
              case 'escape':
                return `\\${char}`
              case 'hex':
                return `$'\\x${char.charCodeAt(0).toString(16)}'`
              case 'empty':
                return `''${char}""`
              default:
                return char
            }
          })
          .join(''),
      )

  test('a denied command stays denied however its words are quoted and spaced', () => {
    const spelled = denied.chain((text) =>
      fc
        .tuple(...text.split(' ').map(quoted))
        .chain((words) =>
          fc
            .array(fc.constantFrom(' ', '  ', '\t', ' \\\n '), { minLength: words.length, maxLength: words.length })
            .map((gaps) => words.map((word, at) => word + gaps[at]).join('')),
        ),
    )
    fc.assert(fc.property(spelled, stays), { numRuns: 1_000 })
  })

  test('a denied command stays denied however it is wrapped', () => {
    const WRAPS: readonly ((text: string) => string)[] = [
      (text) => quote(['sh', '-c', text]),
      (text) => quote(['bash', '-lc', text]),
      (text) => `env ${text}`,
      (text) => `env A=1 ${text}`,
      (text) => `timeout 5 ${text}`,
      (text) => `nice -n 3 ${text}`,
      (text) => `sudo -n ${text}`,
      (text) => `A=1 ${text}`,
      (text) => `xargs ${text}`,
      (text) => `true && ${text}`,
      (text) => `${text} | cat`,
      (text) => `( ${text} )`,
      (text) => `{ ${text}; }`,
      (text) => `echo "$(${text})"`,
      (text) => `if true; then ${text}; fi`,
      (text) => `f() { ${text}; }`,
      (text) => `eval ${quote([text])}`,
      (text) => `sh <<'E'\n${text}\nE`,
      (text) => `cat <(${text})`,
      (text) => `${text} > /dev/null 2>&1`,
      (text) => `${text} &`,
    ]
    // A wrapper takes words, so anything but a plain command is put into a shell first.
    const wrapped = fc
      .tuple(denied, fc.array(fc.constantFrom(...WRAPS), { maxLength: 4 }))
      .map(([text, wraps]) =>
        wraps.reduce((inner, wrap) => wrap(DENIED.includes(inner) ? inner : quote(['sh', '-c', inner])), text),
      )
    fc.assert(fc.property(wrapped, stays), { numRuns: 2_000 })
  })
})

test('nothing else is allowed together with an allowed command', () => {
  const rules: PermissionRules = {
    categories: {},
    tools: {},
    patterns: ['git log *', 'cat *', 'echo *', 'ls *'].map((pattern) => ({
      tool: 'execute_command',
      pattern,
      policy: 'allow',
    })),
  }
  const allowed = fc.constantFrom('git log', 'git log --oneline', 'cat a', 'echo x', 'ls -la')
  const other = fc.constantFrom(
    'rm x',
    'curl u',
    './git log',
    'git push',
    'x > y',
    '$X',
    'PATH=. git log',
    'sh -c "$Y"',
  )
  const joint = fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', '\n', ' $(', ' `', ' <(')
  const closing: Readonly<Record<string, string>> = { ' $(': ')', ' `': '`', ' <(': ')' }
  fc.assert(
    fc.property(allowed, joint, other, fc.boolean(), (first, between, second, inShell) => {
      const text = `${first}${between}${second}${closing[between] ?? ''}`
      const command = inShell ? quote(['bash', '-c', text]) : text
      assert.equal(verdict(rules, { toolName: 'execute_command', args: { command } }), 'ask', command)
    }),
    { numRuns: 1_000 },
  )
})
