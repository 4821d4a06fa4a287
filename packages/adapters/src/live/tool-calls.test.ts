import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canonicalCall, nativeCall, type NativeCall } from './tool-calls.ts'

function call(toolName: string, input: NativeCall['input'], more: Partial<NativeCall> = {}): NativeCall {
  return { toolCallId: 'c1', toolName, input, ...more }
}

describe('a call of a foreign program', () => {
  for (const [name, input, canonical, args, category] of [
    ['Bash', { command: 'ls', description: 'Lists' }, 'execute_command', { command: 'ls' }, 'execute'],
    ['bash', { command: 'ls', workdir: '/b' }, 'execute_command', { command: 'ls', cwd: '/b' }, 'execute'],
    ['command_execution', { command: 'ls' }, 'execute_command', { command: 'ls' }, 'execute'],
    ['Read', { file_path: '/a', limit: 3 }, 'read_file', { path: '/a', limit: 3 }, 'read'],
    ['Write', { file_path: '/a', content: 'x' }, 'write_file', { path: '/a', content: 'x' }, 'edit'],
    ['NotebookEdit', { notebook_path: '/a', new_source: '' }, 'edit_file', { path: '/a', new_source: '' }, 'edit'],
    ['Grep', { pattern: 'x', path: '/a' }, 'grep', { pattern: 'x', path: '/a' }, 'read'],
    ['WebFetch', { url: 'https://example.com' }, 'web_fetch', { url: 'https://example.com' }, 'other'],
  ] as const) {
    it(`${name} goes by the name ${canonical}`, () => {
      const request = canonicalCall(call(name, input))
      assert.deepEqual([request.toolName, request.args, request.category], [canonical, args, category])
      assert.deepEqual(nativeCall(call(name, input))?.args, input)
    })
  }

  it('reports where it runs when that is not the folder of its session', () => {
    const moved = { cwd: '/project', workdir: '/project/src' }
    const args = (toolName: string, input: NativeCall['input']): unknown => canonicalCall(call(toolName, input, moved))
    const about = { toolCallId: 'c1', cwd: '/project' }
    assert.deepEqual(args('Bash', { command: 'ls' }), {
      ...about,
      toolName: 'execute_command',
      args: { command: 'ls', cwd: '/project/src' },
      category: 'execute',
    })
    const read = { ...about, toolName: 'read_file', category: 'read' }
    assert.deepEqual(args('Read', { file_path: 'a' }), { ...read, args: { path: '/project/src/a' } })
    assert.deepEqual(args('Read', { file_path: '/b/a' }), { ...read, args: { path: '/b/a' } })
  })

  it('a call of a tool of an MCP server keeps its name', () => {
    const request = canonicalCall(call('mcp__files__read', { path: '/a' }))
    assert.deepEqual([request.toolName, request.category], ['mcp__files__read', 'mcp'])
    assert.equal(nativeCall(call('mcp__files__read', {})), undefined)
  })

  it('a call of an unknown tool keeps its name, too', () => {
    const request = canonicalCall(call('Teleport', { to: 'here' }))
    assert.deepEqual([request.toolName, request.args, request.category], ['Teleport', { to: 'here' }, 'other'])
  })

  it('is the same again when only its description differs', () => {
    const first = canonicalCall(call('Bash', { command: 'ls', description: 'Lists the files' }, { cwd: '/project' }))
    const again = canonicalCall(call('Bash', { command: 'ls', description: 'Looks around' }, { cwd: '/project' }))
    assert.deepEqual(first, again)
  })

  it('has a path even when the field has the wrong type: then it stays as it is', () => {
    assert.deepEqual(canonicalCall(call('Read', { file_path: 7 })).args, { file_path: 7 })
  })
})
