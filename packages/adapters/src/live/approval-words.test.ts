import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvalWords } from './approval-words.ts'
import { canonicalCall, type NativeCall } from './tool-calls.ts'

const words = (toolName: string, input: NativeCall['input'], said?: string): string =>
  approvalWords(canonicalCall({ toolCallId: 'c', toolName, input }), said)

describe('an approval describes what will happen', () => {
  it('by the command itself, whatever the model calls it', () => {
    assert.equal(words('Bash', { command: 'rm -rf /', description: 'List files' }, 'List files'), 'Run rm -rf /')
    assert.equal(words('bash', { command: ['ls', 'pwd'] }), 'Run ls; pwd')
    assert.equal(words('command_execution', { command: 'ls', cwd: '/tmp' }), 'Run ls in /tmp')
  })

  it('by the path of a file', () => {
    assert.equal(words('Write', { file_path: '/etc/passwd', content: 'x' }), 'Write /etc/passwd')
    assert.equal(words('file_change', { changes: [{ path: 'a' }, { path: 'b' }] }), 'Change a, b')
  })

  it('by the arguments of any other tool', () => {
    assert.equal(words('deploy', { to: 'prod' }, 'harmless'), 'deploy {"to":"prod"}')
  })

  it('in the wording of the agent only if there is nothing else, and marked as such', () => {
    assert.equal(words('execute', {}, 'rm -rf \u001b[8mx'), 'execute, of which the agent says: "rm -rf x"')
    assert.equal(words('execute', {}), 'execute')
  })

  it('without escapes, and not at any length', () => {
    assert.equal(words('Bash', { command: 'ls\u001b[2K' }), 'Run ls')
    assert.equal(words('Bash', { command: 'x'.repeat(10_000) }).length, 2_001)
  })
})
