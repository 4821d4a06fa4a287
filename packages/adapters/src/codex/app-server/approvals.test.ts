import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NativeCall } from '../../live/tool-calls.ts'
import { OpenItems, serverAsk } from './approvals.ts'

test('a command shows where it runs only when that is not the folder of the session, which it cannot choose', () => {
  const callIn = (cwd: string): NativeCall | undefined => {
    const params = { itemId: 'c1', command: 'make', cwd }
    return serverAsk('item/commandExecution/requestApproval', params, new OpenItems(), '/project')?.call
  }
  assert.deepEqual(callIn('/project'), { toolCallId: 'c1', toolName: 'command_execution', input: { command: 'make' } })
  const elsewhere = { command: 'make', cwd: '/project/sub' }
  assert.deepEqual(callIn('/project/sub'), { toolCallId: 'c1', toolName: 'command_execution', input: elsewhere })
})
