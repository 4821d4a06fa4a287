import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeDenies } from './index.ts'
import { shellRules } from './policy.fixture.ts'

test('denies come out as data that an adapter can translate, and nothing else does', () => {
  const rules = shellRules(
    { allow: ['ls *'], ask: ['git push *'], deny: ['rm -rf *', 'curl'] },
    {
      tools: { web: 'deny', a: 'allow', b: 'ask' },
      categories: { mcp: 'deny', read: 'allow' },
      patterns: [
        { tool: 'edit_file', pattern: 'src/**', policy: 'deny' },
        { tool: 'read_file', pattern: 'docs/**', policy: 'ask' },
        { tool: 'web_fetch', pattern: 'https://evil/*', policy: 'deny' },
      ],
    },
  )
  assert.deepEqual(nativeDenies(rules), {
    tools: ['web'],
    categories: ['mcp'],
    shell: [
      { tool: 'execute_command', pattern: 'rm -rf *', program: 'rm', words: ['-rf'] },
      { tool: 'execute_command', pattern: 'curl', program: 'curl', words: [] },
    ],
    paths: [{ tool: 'edit_file', pattern: 'src/**', category: 'edit' }],
    others: [{ tool: 'web_fetch', pattern: 'https://evil/*' }],
  })
})
