import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NO_RULES, type PermissionRules, type ToolCategory } from '@inspan/protocol'
import { mergeRules } from './index.ts'
import { judgeShell, shellRules } from './policy.fixture.ts'

const categoryOf = (tool: string): ToolCategory | null => (tool === 'execute_command' ? 'execute' : null)

suite('the rules of a child', () => {
  test('are those of its parent where it says nothing', () => {
    const parent = shellRules(
      { allow: ['ls *'], ask: ['git *'], deny: ['rm *'] },
      { categories: { read: 'allow' }, tools: { a: 'ask' } },
    )
    assert.deepEqual(new Set(mergeRules(parent, NO_RULES).patterns), new Set(parent.patterns))
    assert.deepEqual(mergeRules(parent, NO_RULES).categories, parent.categories)
    assert.deepEqual(mergeRules(parent, NO_RULES).tools, parent.tools)
  })

  test('hold every deny of both', () => {
    const merged = mergeRules(
      shellRules({ deny: ['rm *'] }, { tools: { a: 'deny', b: 'allow' }, categories: { edit: 'deny' } }),
      shellRules(
        { deny: ['curl *'] },
        { tools: { a: 'allow', b: 'deny' }, categories: { edit: 'allow', mcp: 'deny' } },
      ),
    )
    assert.deepEqual(merged.tools, { a: 'deny', b: 'deny' })
    assert.deepEqual(merged.categories, { edit: 'deny', mcp: 'deny' })
    assert.deepEqual(
      merged.patterns.map(({ pattern }) => pattern),
      ['rm *', 'curl *'],
    )
  })

  test('allow only what both allow', () => {
    const rules = (
      tools: PermissionRules['tools'],
      categories: PermissionRules['categories'] = {},
    ): PermissionRules => ({
      ...NO_RULES,
      tools,
      categories,
    })
    assert.deepEqual(mergeRules(rules({ a: 'allow' }), rules({ a: 'ask' })).tools, { a: 'ask' })
    assert.deepEqual(mergeRules(rules({ a: 'ask' }), rules({ a: 'allow' })).tools, { a: 'ask' })
    assert.deepEqual(mergeRules(rules({}), rules({ a: 'allow' })).tools, {})
    assert.deepEqual(mergeRules(rules({}, { read: 'ask' }), rules({}, { read: 'allow', edit: 'allow' })).categories, {
      read: 'ask',
    })
    assert.deepEqual(
      mergeRules(shellRules({ allow: ['ls *'] }), shellRules({ allow: ['rm *'] })).patterns.map(
        ({ pattern }) => pattern,
      ),
      ['ls *'],
    )
  })

  test('may be narrower by patterns where the parent allows the whole tool', () => {
    const parent: PermissionRules = { ...NO_RULES, tools: { execute_command: 'allow' } }
    const child = shellRules({ allow: ['git log *'] }, { tools: { execute_command: 'ask' } })
    const merged = mergeRules(parent, child, categoryOf)
    assert.equal(judgeShell('git log', merged).policy, 'allow')
    assert.equal(judgeShell('make', merged).policy, 'ask')
  })

  test('drop an allow of the parent that the child wants to be asked about', () => {
    const parent = shellRules({ allow: ['git log *'] })
    const child: PermissionRules = { ...NO_RULES, tools: { execute_command: 'ask' } }
    assert.equal(judgeShell('git log', mergeRules(parent, child, categoryOf)).policy, 'ask')
    const byCategory: PermissionRules = { ...NO_RULES, categories: { execute: 'ask' } }
    assert.equal(judgeShell('git log', mergeRules(parent, byCategory, categoryOf)).policy, 'ask')
  })

  test('ask about what may write where either denies editing, unless that one allows the very command', () => {
    const noEdits: PermissionRules = { ...NO_RULES, categories: { edit: 'deny' }, tools: { execute_command: 'allow' } }
    const allowed = shellRules({ allow: ['make *'] }, { tools: { execute_command: 'allow' } })
    assert.equal(judgeShell('make', mergeRules(noEdits, allowed, categoryOf)).policy, 'ask')
    assert.equal(judgeShell('make', mergeRules(allowed, noEdits, categoryOf)).policy, 'ask')
    const both: PermissionRules = { ...allowed, categories: { edit: 'deny' } }
    assert.equal(judgeShell('make', mergeRules(both, allowed, categoryOf)).policy, 'allow')
  })
})
