import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { piDialect } from './mapper.ts'

interface Mapped extends Omit<MappedRun, 'activity'> {
  readonly activity: readonly object[]
}

function map(lines: readonly unknown[], options?: RunOptions): Mapped {
  const mapped = mapRun(piDialect, lines, options)
  return { ...mapped, activity: unstamped(mapped.activity) }
}

const SESSION: JsonObject = { type: 'session', version: 3, id: 'pi-1', cwd: '/repo' }

function begin(toolName: string, args: JsonValue, toolCallId = 'c'): JsonObject {
  return { type: 'tool_execution_start', toolCallId, toolName, args }
}

function over(toolName: string, output: string, isError: boolean, toolCallId = 'c'): JsonObject {
  const result = { content: [{ type: 'text', text: output }], details: {} }
  return { type: 'tool_execution_end', toolCallId, toolName, result, isError }
}

function used(toolName: string, args: JsonObject, output = '', isError = false): readonly object[] {
  return run(begin(toolName, args), over(toolName, output, isError)).activity
}

function run(...records: readonly JsonObject[]): Mapped {
  return map([SESSION, ...records])
}

describe('Pi: tools', () => {
  it('read is a read of lines counted from 1, relative to the session’s directory', () => {
    assert.deepEqual(used('read', { path: 'a.txt', offset: 2, limit: 3 }), [
      { type: 'read', path: '/repo/a.txt', startLine: 2, endLine: 4, isSuccess: true },
    ])
    assert.deepEqual(used('read', { path: '/b.txt', offset: 9 }), [
      { type: 'read', path: '/b.txt', startLine: 9, isSuccess: true },
    ])
    assert.deepEqual(used('read', { path: 'gone' }, 'ENOENT', true), [
      { type: 'read', path: '/repo/gone', isSuccess: false },
    ])
  })

  it('paths are those of the file that Pi opens, however they were written', () => {
    const read = (path: string): object => ({ type: 'read', path, isSuccess: true })
    assert.deepEqual(used('read', { path: '@src/a.ts' }), [read('/repo/src/a.ts')])
    assert.deepEqual(used('read', { path: 'file:///src/a%20b.ts' }), [read('/src/a b.ts')])
    assert.deepEqual(used('read', { path: 'file:///50%.txt' }), [read('/50%.txt')])
    assert.deepEqual(used('read', { path: '@' }), [read('/repo/@')])
    assert.deepEqual(used('read', { path: 'a.txt', offset: '2', limit: '2' }), [
      { type: 'read', path: '/repo/a.txt', startLine: 2, endLine: 3, isSuccess: true },
    ])
  })

  it('a skill is an ordinary read', () => {
    assert.deepEqual(used('read', { path: '.pi/skills/demo/SKILL.md' }), [
      { type: 'read', path: '/repo/.pi/skills/demo/SKILL.md', isSuccess: true },
    ])
  })

  it('write and edit are writes', () => {
    assert.deepEqual(used('write', { path: 'a.txt', content: 'x' }), [
      { type: 'write', path: '/repo/a.txt', isSuccess: true },
    ])
    assert.deepEqual(used('edit', { path: 'a.txt', edits: [{ oldText: 'x', newText: 'y' }] }, 'No match', true), [
      { type: 'write', path: '/repo/a.txt', isSuccess: false },
    ])
  })

  it('search, grep, glob and find are searches', () => {
    for (const tool of ['search', 'grep', 'glob', 'find']) {
      assert.deepEqual(used(tool, { pattern: '*.ts', path: 'src' }), [
        { type: 'search', query: '*.ts', path: '/repo/src', isSuccess: true },
      ])
    }
    assert.deepEqual(used('search', { query: 'needle' }), [{ type: 'search', query: 'needle', isSuccess: true }])
  })

  it('list and ls are lists', () => {
    assert.deepEqual(used('ls', { path: 'src' }), [{ type: 'list', path: '/repo/src', isSuccess: true }])
    assert.deepEqual(used('list', {}), [{ type: 'list', isSuccess: true }])
  })

  it('names are matched whatever their case', () => {
    assert.deepEqual(used('Read', { path: '/a' }), [{ type: 'read', path: '/a', isSuccess: true }])
    assert.deepEqual(used('BASH', { command: 'make' }), [{ type: 'command', command: 'make', isSuccess: true }])
  })

  it('any other tool, and one that lacks what it needs, is unknown with its call and result', () => {
    for (const [tool, args] of [
      ['codemode', { code: '1' }],
      ['todo', {}],
      ['read', { wrong: 1 }],
      ['bash', {}],
      ['grep', {}],
      ['write', {}],
      ['constructor', { path: 'x' }],
    ] as const) {
      const call = begin(tool, args)
      const result = over(tool, 'x', true)
      assert.deepEqual(run(call, result).activity, [{ type: 'unknown', raw: { call, result } }])
    }
  })
})

describe('Pi: commands', () => {
  it('the exit code of a failed command is the last line of its output', () => {
    assert.deepEqual(used('bash', { command: 'make' }, 'partial\n\n\nCommand exited with code 3', true), [
      { type: 'command', command: 'make', exitCode: 3, isSuccess: false },
    ])
    assert.deepEqual(used('shell', { command: 'make' }, 'Command exited with code 127', true), [
      { type: 'command', command: 'make', exitCode: 127, isSuccess: false },
    ])
  })

  it('a command that succeeded has no exit code, because Pi does not report it', () => {
    assert.deepEqual(used('bash', { command: 'make' }, 'done\n'), [
      { type: 'command', command: 'make', isSuccess: true },
    ])
  })

  it('output that merely looks like an exit code is ignored', () => {
    for (const [output, isError] of [
      ['Command exited with code 3', false],
      ['Command exited with code 3\nmore', true],
      ['echo Command exited with code 3', true],
      ['Command timed out after 5 seconds', true],
      ['Command aborted', true],
      [`Command exited with code ${'9'.repeat(80)}`, true],
    ] as const) {
      assert.deepEqual(used('bash', { command: 'make' }, output, isError), [
        { type: 'command', command: 'make', isSuccess: !isError },
      ])
    }
  })

  it('a command that only reads files becomes reads, searches and lists', () => {
    assert.deepEqual(used('bash', { command: 'cat a.txt' }), [{ type: 'read', path: '/repo/a.txt', isSuccess: true }])
    assert.deepEqual(used('bash', { command: 'grep -rn x src' }, '(no output)\n\nCommand exited with code 1', true), [
      { type: 'search', query: 'x', path: '/repo/src', isSuccess: true },
    ])
    assert.deepEqual(used('bash', { command: 'ls nope' }, 'no such file\n\nCommand exited with code 2', true), [
      { type: 'list', path: '/repo/nope', isSuccess: false },
    ])
  })
})

describe('Pi: calls and results', () => {
  it('parallel calls are paired by id, in the order in which they end', () => {
    const { activity, sums } = run(
      begin('bash', { command: 'sleep 1' }, 'a'),
      begin('read', { path: '/x' }, 'b'),
      { type: 'tool_execution_update', toolCallId: 'a', toolName: 'bash', args: {}, partialResult: { content: [] } },
      over('read', 'x', false, 'b'),
      over('bash', '', false, 'a'),
    )
    assert.deepEqual(activity, [
      { type: 'read', path: '/x', isSuccess: true },
      { type: 'command', command: 'sleep 1', isSuccess: true },
    ])
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [6, 0])
  })

  it('a result without a call, and a second result, are unknown', () => {
    const stray = over('bash', 'x', false)
    assert.deepEqual(run(stray).activity, [{ type: 'unknown', raw: stray }])
    const { activity, sums } = run(begin('read', { path: '/x' }), over('read', 'x', false), stray)
    assert.deepEqual(activity, [
      { type: 'read', path: '/x', isSuccess: true },
      { type: 'unknown', raw: stray },
    ])
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [4, 0])
  })

  it('a call that is never answered is closed as failed', () => {
    const { activity, events, sums } = run(begin('bash', { command: 'sleep 99' }))
    assert.deepEqual(activity, [{ type: 'command', command: 'sleep 99', isSuccess: false }])
    assert.equal(events.find((event) => event.type === 'tool-result')?.meta?.synthetic, true)
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [2, 0])
  })

  it('two open calls with the same id are ambiguous', () => {
    const first = begin('read', { path: '/a' })
    const second = begin('read', { path: '/b' })
    const result = over('read', 'x', false)
    assert.deepEqual(run(first, second, result).activity, [
      { type: 'unknown', raw: first },
      { type: 'unknown', raw: second },
      { type: 'unknown', raw: result },
    ])
  })

  it('an id may be used again by a later call', () => {
    const { activity, events } = run(
      begin('read', { path: '/a' }),
      over('read', '', false),
      begin('read', { path: '/b' }),
      over('read', '', false),
    )
    assert.deepEqual(activity, [
      { type: 'read', path: '/a', isSuccess: true },
      { type: 'read', path: '/b', isSuccess: true },
    ])
    const ids = events.flatMap((event) => (event.type === 'tool-result' ? [event.toolCallId] : []))
    assert.deepEqual(ids, ['c', 'c#2'])
  })

  it('versions whose results repeat the input need no beginning', () => {
    const whole = (more: JsonObject): JsonObject => ({ type: 'tool_execution_end', toolName: 'read', ...more })
    const { activity } = run(
      whole({ toolCallId: 'a', input: { path: '/a' }, status: 'completed' }),
      whole({ toolCallId: 'b', input: { path: '/b' }, status: 'error' }),
      whole({ toolCallId: 'd', args: { path: '/d' }, error: 'It failed.' }),
      whole({ input: { path: '/e' } }),
      whole({ input: { path: '/f' }, status: 'ok' }),
    )
    assert.deepEqual(activity, [
      { type: 'read', path: '/a', isSuccess: true },
      { type: 'read', path: '/b', isSuccess: false },
      { type: 'read', path: '/d', isSuccess: false },
      { type: 'read', path: '/e' },
      { type: 'read', path: '/f', isSuccess: true },
    ])
  })

  it('input that is not an object is kept unchanged', () => {
    const { events } = run(begin('bash', 'echo'))
    assert.equal(events.find((event) => event.type === 'tool-call')?.meta?.invalidInput, 'echo')
  })

  it('file contents never appear in activity', () => {
    const secret = 'secret contents'
    const all = [
      ...used('read', { path: '/a' }, secret),
      ...used('write', { path: '/a', content: secret }, secret),
      ...used('grep', { pattern: 'x' }, secret),
      ...used('bash', { command: 'make' }, secret),
    ]
    assert.ok(!JSON.stringify(all).includes(secret))
  })
})
