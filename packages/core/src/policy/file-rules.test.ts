import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PatternRule, PermissionRules, Policy } from '@inspan/protocol'
import { createPolicy } from './index.ts'
import { policyFor, toolCall } from './policy.fixture.ts'

function fileRules(...patterns: PatternRule[]): PermissionRules {
  return { categories: {}, tools: {}, patterns }
}

function rule(tool: string, pattern: string, policy: Policy): PatternRule {
  return { tool, pattern, policy }
}

function verdict(rules: PermissionRules, tool: string, path: string, yolo = false): Policy {
  return policyFor(rules).decide(toolCall(tool, { path }), { yolo }).policy
}

suite('an allow for paths', () => {
  const rules = fileRules(rule('edit_file', 'src/**', 'allow'), rule('read_file', '**/*.md', 'allow'))

  test('covers what is in the folder, however it is reached', () => {
    for (const path of [
      'src/a.ts',
      './src/a.ts',
      '/repo/src/a.ts',
      'src/deep/er/a.ts',
      'src/x/../a.ts',
      'docs/../src/a.ts',
    ]) {
      assert.equal(verdict(rules, 'edit_file', path), 'allow', path)
    }
  })

  test('covers nothing that only looks as if it lay there', () => {
    const outside = [
      'src/../secret',
      'src/../../etc/passwd',
      '/src/a.ts',
      '../repo2/src/a.ts',
      'srcs/a.ts',
      'SRC/a.ts',
      '~/src/a.ts',
      'file:///repo/src/a.ts',
      'src\\..\\..\\x',
      'src/a\0.ts',
      'src/a\u200b.ts',
      'C:/src/a.ts',
      '',
    ]
    for (const path of outside) assert.equal(verdict(rules, 'edit_file', path), 'ask', JSON.stringify(path))
  })

  test('is about the named tool alone', () => {
    assert.equal(verdict(rules, 'write_file', 'src/a.ts'), 'ask')
  })

  test('may describe a name, but a star stays in its folder', () => {
    assert.equal(verdict(rules, 'read_file', 'README.md'), 'allow')
    assert.equal(verdict(rules, 'read_file', 'a/b/notes.md'), 'allow')
    const flat = fileRules(rule('edit_file', 'src/*.ts', 'allow'))
    assert.equal(verdict(flat, 'edit_file', 'src/a.ts'), 'allow')
    assert.equal(verdict(flat, 'edit_file', 'src/b/a.ts'), 'ask')
  })

  test('does not hold where the folder itself is not known', () => {
    const policy = createPolicy({ rules })
    assert.equal(policy.decide(toolCall('edit_file', { path: 'src/a.ts' }), {}).policy, 'allow')
    assert.equal(policy.decide(toolCall('edit_file', { path: '/repo/src/a.ts' }), {}).policy, 'ask')
    assert.equal(policy.decide(toolCall('edit_file', { path: '../src/a.ts' }), {}).policy, 'ask')
    const elsewhere = toolCall('edit_file', { path: 'src/a.ts' }, { cwd: '/other' })
    assert.equal(policyFor(rules).decide(elsewhere, {}).policy, 'ask')
  })

  test('needs every path of a call', () => {
    const policy = policyFor(rules, { pathTools: { edit_file: { paths: ['path', 'to'] }, read_file: 'path' } })
    assert.equal(policy.decide(toolCall('edit_file', { path: 'src/a', to: 'src/b' }), {}).policy, 'allow')
    assert.equal(policy.decide(toolCall('edit_file', { path: 'src/a', to: 'b' }), {}).policy, 'ask')
    assert.equal(policy.decide(toolCall('edit_file', { path: ['src/a', 'b'] }), {}).policy, 'ask')
    assert.equal(policy.decide(toolCall('edit_file', { path: { a: 1 } }), {}).policy, 'ask')
  })
})

suite('the folder of a command', () => {
  const allowed = fileRules(rule('read_file', 'secrets/**', 'deny'), rule('execute_command', 'cat *', 'allow'))
  const npmTest = fileRules(rule('execute_command', 'npm test *', 'allow'))

  function run(given: PermissionRules, command: string, cwd: string, more: { cwd?: string } = {}): Policy {
    return createPolicy({ rules: given }).decide(toolCall('execute_command', { command, cwd }, more), {}).policy
  }

  test('is not taken for the project that denies are about', () => {
    for (const [command, cwd, more] of [
      ['cat ../secrets/a', 'src', {}],
      ['cat a', 'secrets', {}],
      ['cat ../secrets/a', 'src', { cwd: '/project' }],
      ['cat ../secrets/a', '/project/src', { cwd: '/project' }],
      ['cat a', '/project/secrets', { cwd: '/project' }],
    ] as const) {
      assert.equal(run(allowed, command, cwd, more), 'deny', `${command} in ${cwd}`)
    }
    assert.equal(run(allowed, 'cat a', '/any/secrets'), 'ask', 'nobody knows where the project is')
    assert.equal(run(allowed, 'cat ../src/a', 'src'), 'allow')
  })

  test('nor for the one that allows are about', () => {
    assert.equal(run(npmTest, 'npm test', 'packages/a'), 'allow')
    assert.equal(run(npmTest, 'npm test', '/project/packages/a', { cwd: '/project' }), 'allow')
    assert.equal(run(npmTest, 'npm test', '/other', { cwd: '/project' }), 'ask')
    assert.equal(run(npmTest, 'npm test', '../other'), 'ask')
  })
})

suite('a deny for paths', () => {
  const rules = fileRules(
    rule('edit_file', 'src/Generated/**', 'deny'),
    rule('edit_file', 'café', 'deny'),
    rule('edit_file', '/etc/hosts', 'deny'),
    rule('edit_file', '~/.ssh/**', 'deny'),
    rule('read_file', '.env', 'deny'),
  )

  test('holds for every spelling that some system takes for the same file: another case, NFC and NFD', () => {
    const same = [
      'src/Generated/a.ts',
      'src/generated/a.ts',
      'SRC/GENERATED/a.ts',
      'src/x/../Generated/a.ts',
      '/repo/src/Generated/a.ts',
      'src\\Generated\\a.ts',
      'src/Generated./a.ts',
      'src/Gen\u200cerated/a.ts',
      'ſrc/Generated/a.ts',
      'src/Generated',
      'cafe\u0301',
      'caf\u00e9',
      'CAFÉ/x',
      '../etc/hosts',
      '/etc//hosts',
      '/ETC/hosts',
      '/etc/hosts\0.txt',
      '/etc/hosts::$DATA',
      '/private/etc/hosts',
      '/proc/self/root/etc/hosts',
      'file:///etc/hosts',
      'file:///etc/%68osts',
      '~/.ssh/id',
      '/home/me/.ssh/id',
    ]
    for (const path of same) assert.equal(verdict(rules, 'edit_file', path, true), 'deny', JSON.stringify(path))
  })

  test('lets other files be', () => {
    for (const path of ['src/a.ts', 'src/Generated2/a.ts', 'cafeteria', '/etc/hostname', '.ssh/id']) {
      assert.equal(verdict(rules, 'edit_file', path, true), 'allow', path)
    }
  })

  test('holds for every tool of the same category', () => {
    assert.equal(verdict(rules, 'write_file', 'src/generated/a.ts', true), 'deny')
    assert.equal(verdict(rules, 'read_file', 'src/generated/a.ts', true), 'allow')
  })

  test('means a bare name in every folder', () => {
    for (const path of ['.env', 'a/b/.env', '/elsewhere/.env', '.ENV']) {
      assert.equal(verdict(rules, 'read_file', path, true), 'deny', path)
    }
    assert.equal(verdict(rules, 'read_file', '.env.example', true), 'allow')
  })

  test('has somebody look at tools that read everything below a folder', () => {
    assert.equal(verdict(rules, 'grep', '.', true), 'ask')
    const deep = fileRules(rule('read_file', 'secrets/**', 'deny'))
    assert.equal(verdict(deep, 'grep', '.', true), 'ask')
    assert.equal(verdict(deep, 'grep', '/', true), 'ask')
    assert.equal(verdict(deep, 'grep', 'src', true), 'allow')
    assert.equal(verdict(deep, 'grep', 'secrets/a', true), 'deny')
    assert.equal(policyFor(deep).decide(toolCall('grep', {}), { yolo: true }).policy, 'ask')
  })

  test('asks where the path cannot be determined', () => {
    assert.equal(policyFor(rules).decide(toolCall('edit_file', { path: 7 }), { yolo: true }).policy, 'ask')
    const unknown = createPolicy({ rules: fileRules(rule('edit_file', 'src/**', 'deny')) })
    const decide = (path: string): Policy => unknown.decide(toolCall('edit_file', { path }), { yolo: true }).policy
    assert.equal(decide('/repo/src/a.ts'), 'ask')
    assert.equal(decide('../a.ts'), 'ask')
    assert.equal(decide('/repo/lib/a.ts'), 'allow')
    const homeless = createPolicy({ rules: fileRules(rule('edit_file', '~/.ssh/**', 'deny')) })
    assert.equal(homeless.decide(toolCall('edit_file', { path: '/home/me/.ssh/id' }), { yolo: true }).policy, 'ask')
    assert.equal(homeless.decide(toolCall('edit_file', { path: '~/.ssh/id' }), { yolo: true }).policy, 'deny')
  })
})

suite('a deny for paths through the folders of a process', () => {
  const rules = fileRules(rule('read_file', 'secret/**', 'deny'))

  test('holds for every door to the same file', () => {
    for (const door of [
      'self/cwd',
      'self/task/1/cwd',
      'self/root/repo',
      '1/task/1/root/repo',
      'self/root/proc/1/cwd',
    ]) {
      assert.equal(verdict(rules, 'read_file', `/proc/${door}/secret/x`, true), 'deny', door)
      assert.equal(verdict(rules, 'read_file', `/proc/${door}/open/x`, true), 'allow', door)
    }
    assert.equal(verdict(rules, 'read_file', '/proc/self/fd/3/secret/x', true), 'deny')
  })
})
