import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject, PatternRule, Policy, ToolCategory } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import type { PolicyContext } from './index.ts'
import { policyFor, toolCall } from './policy.fixture.ts'

const DENIES: readonly PatternRule[] = [
  { tool: 'read_file', pattern: '.env*', policy: 'deny' },
  { tool: 'edit_file', pattern: 'secrets/**', policy: 'deny' },
]

const policy = policyFor({
  categories: { read: 'allow', edit: 'allow', execute: 'allow', mcp: 'allow', other: 'allow' },
  tools: {},
  patterns: DENIES,
})

function verdict(args: JsonObject, more: Partial<ToolCallRequest> = {}, context: PolicyContext = {}): Policy {
  return policy.decide(toolCall('mcp__files__open', args, { serverName: 'files', ...more }), context).policy
}

suite('a tool without declared paths', () => {
  test('asks where any text of its arguments is a denied path', () => {
    const risky: readonly JsonObject[] = [
      { path: '.env' },
      { uri: 'file:///repo/.env.local' },
      { file: '/repo/src/../.env' },
      { file: ' .env\n' },
      { file: '.ENV' },
      { file: `${'./'.repeat(5_000)}.env` },
      { file: 'a\nb/../.env' },
      { options: { files: ['a', { name: 'sub/.env' }] } },
      { files: { '.env': 'x' } },
      { to: 'secrets/a' },
      { to: '/repo/secrets' },
      { to: '/proc/self/cwd/secrets/a' },
    ]
    for (const args of risky) assert.equal(verdict(args), 'ask', JSON.stringify(args))
  })

  test('reports which rule and which text', () => {
    const { part, reason, rule } = policy.decide(toolCall('mcp__files__open', { a: ['x', 'secrets/a'] }), {})
    assert.deepEqual([part, rule], ['secrets/a', 'deny edit_file(secrets/**)'])
    assert.match(
      reason,
      /`deny edit_file\(secrets\/\*\*\)` of the harness may deny `secrets\/a`, which cannot be known before it runs/,
    )
  })

  test('asks even under yolo, and once somebody approved, it runs', () => {
    assert.equal(verdict({ path: '.env' }, {}, { yolo: true }), 'ask')
    const answered = { hash: 'h', decision: 'approve' } as const
    assert.equal(verdict({ path: '.env' }, {}, { hash: 'h', answered }), 'allow')
  })

  test('is not asked about for texts that only speak of it', () => {
    const harmless: readonly JsonObject[] = [
      {},
      { path: 'src/a.ts', line: 3, all: true, none: null },
      { title: 'Read settings from .env', body: 'first\n.env\nlast' },
      { url: 'https://example.org/blob/main/.env' },
      { path: 'src/secrets' },
      { query: 'environment' },
    ]
    for (const args of harmless) assert.equal(verdict(args), 'allow', JSON.stringify(args))
  })

  test('is held to the rules of its declared behaviour', () => {
    const inCategory = (path: string, category: ToolCategory): Policy =>
      policy.decide(toolCall('own_tool', { path }, { category }), {}).policy
    assert.equal(inCategory('secrets/a', 'read'), 'allow')
    assert.equal(inCategory('secrets/a', 'edit'), 'ask')
    assert.equal(inCategory('.env', 'read'), 'ask')
    assert.equal(inCategory('.env', 'edit'), 'allow')
    assert.equal(inCategory('.env', 'other'), 'ask')
    assert.equal(inCategory('secrets/a', 'other'), 'ask')
  })

  test('asks if a rule requires approval', () => {
    const asking = policyFor({
      categories: { mcp: 'allow' },
      tools: {},
      patterns: [{ tool: 'edit_file', pattern: 'src/**', policy: 'ask' }],
    })
    const decide = (path: string): Policy =>
      asking.decide(toolCall('mcp__files__write', { path }, { serverName: 'files' }), {}).policy
    assert.deepEqual([decide('src/a.ts'), decide('docs/a.md')], ['ask', 'allow'])
  })

  test('is asked about only for what looks like a path where every file is denied', () => {
    const nothing = policyFor({
      categories: { mcp: 'allow' },
      tools: {},
      patterns: [{ tool: 'edit_file', pattern: '**', policy: 'deny' }],
    })
    const decide = (text: string): Policy =>
      nothing.decide(toolCall('mcp__any__tool', { text }, { serverName: 'any' }), {}).policy
    for (const text of ['src/a', './a', 'a.ts', '/repo/a']) assert.equal(decide(text), 'ask', text)
    for (const text of ['hello', 'two words', '42']) assert.equal(decide(text), 'allow', text)
  })

  test('asks when it gets more texts than can be checked', () => {
    assert.equal(verdict({ rows: Array.from({ length: 100_000 }, (_, at) => `row ${at}`) }), 'ask')
    const deep = Array.from({ length: 20_000 }).reduce<JsonObject>((inner) => ({ inner }), { path: '.env' })
    assert.equal(verdict(deep), 'ask')
  })

  test('is not checked where it is a path tool: its own argument counts', () => {
    const declared = policyFor(
      { categories: { mcp: 'allow' }, tools: {}, patterns: [{ tool: 'open', pattern: '.env', policy: 'deny' }] },
      { pathTools: { open: 'path' }, toolCategory: () => 'mcp' },
    )
    assert.equal(declared.decide(toolCall('open', { path: '.env' }), {}).policy, 'deny')
    assert.equal(declared.decide(toolCall('open', { path: 'a', note: '.env' }), {}).policy, 'allow')
  })
})
