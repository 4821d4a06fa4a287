import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { summarizeCall } from './call-summary.ts'

function subjectOf(name: string, input: JsonObject): string {
  return summarizeCall({ id: 'c', name, status: 'complete', input }).subject
}

test('the subject of a call is the argument that says most, or all of them', () => {
  assert.equal(subjectOf('execute_command', { timeout: 5, command: 'ls -l' }), 'ls -l')
  assert.equal(subjectOf('submit_plan', { title: 'Paint', plan: '1. Paint it' }), 'Paint')
  const others = { colour: 'red', of: ['wall', 'door'], twice: true }
  assert.equal(subjectOf('paint', others), 'colour: red, of: ["wall","door"], twice: true')
  assert.equal(subjectOf('task_write', { tasks: [{ content: 'Read' }, { content: 'Write' }] }), 'tasks: 2')
})

test('a list of tasks that is written is no file', () => {
  for (const name of ['task_write', 'task_update', 'TodoWrite']) {
    assert.equal(summarizeCall({ id: 'c', name, status: 'complete', input: {} }).kind, 'other', name)
  }
  assert.equal(summarizeCall({ id: 'c', name: 'Task', status: 'complete', input: {} }).kind, 'subagent')
})
