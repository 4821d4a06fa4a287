import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settledRules } from './settled-rules.ts'

test('rules that ask stay; those that always allow or deny are applied at once', () => {
  const rules = settledRules({
    categories: { read: 'allow', edit: 'ask', execute: 'deny' },
    tools: { Bash: 'ask', WebFetch: 'deny' },
    patterns: [
      { tool: 'Bash', pattern: 'rm *', policy: 'deny' },
      { tool: 'Bash', pattern: 'git *', policy: 'ask' },
    ],
  })
  assert.deepEqual(rules, {
    categories: { read: 'allow', execute: 'deny' },
    tools: { WebFetch: 'deny' },
    patterns: [{ tool: 'Bash', pattern: 'rm *', policy: 'deny' }],
  })
})
