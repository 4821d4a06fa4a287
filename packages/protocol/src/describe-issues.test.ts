import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeIssues } from './describe-issues.ts'

test('problems of a value are one line, each after the path to its field', () => {
  const issues = [
    { message: 'expected a string', path: ['files', 0, { key: 'name' }] },
    { message: 'expected an object', path: [] },
    { message: 'is too long' },
  ]
  assert.equal(describeIssues(issues), 'files.0.name: expected a string; expected an object; is too long')
})
