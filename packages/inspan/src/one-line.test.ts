import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneLine } from './one-line.ts'

test('a title is the first line with content', () => {
  assert.equal(oneLine('\n  Fix the build\nand the tests'), 'Fix the build')
  assert.equal(oneLine(' \n '), '')
})

test('a long line is cut between the characters people see', () => {
  const family = '👩‍👩‍👧'
  assert.equal(oneLine(family.repeat(90)), `${family.repeat(80)}…`)
  assert.equal(oneLine('x'.repeat(80)), 'x'.repeat(80))
  assert.equal(oneLine(`${'x'.repeat(79)}é!`), `${'x'.repeat(79)}é…`)
})
