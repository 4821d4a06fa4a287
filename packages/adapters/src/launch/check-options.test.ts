import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { acp, claudeCode, codex, goose, opencode, type AcpOptions } from '../index.ts'

const WRONG: readonly (readonly [field: string, options: object])[] = [
  ['permissions', { permissions: 'readonly', transport: 'print' }],
  ['transport', { transport: 'stdio' }],
  ['canAnswer', { canAnswer: 'no' }],
  ['deadlineMs', { deadlineMs: -1 }],
  ['stallMs', { stallMs: '5m' }],
  ['onStall', { onStall: 'kill' }],
  ['cwd', { cwd: '' }],
  ['mcp', { mcp: [{ name: 'toy' }] }],
  ['env', { env: 'A=1' }],
  ['record', { record: './runs' }],
]

function isRefused(field: string): (error: unknown) => boolean {
  return (error) =>
    InspanError.is(error, 'invalid-input') && error.message.startsWith(`\`${field}\` of the options of `)
}

suite('invalid options of an agent are refused by name when it is made', () => {
  for (const [field, options] of WRONG) {
    test(JSON.stringify(options), () => {
      for (const agent of [claudeCode, codex, goose, opencode]) {
        assert.throws(() => agent(options), isRefused(field))
      }
    })
  }

  for (const [options, meant] of [
    [{ permisions: 'read-only' }, 'permissions'],
    [{ permissionLevel: 'read-only', transport: 'print' }, 'permissions'],
    [{ timeoutMs: 5 }, 'deadlineMs'],
  ] as const) {
    test(`${JSON.stringify(options)}, which is unknown`, () => {
      for (const agent of [claudeCode, codex, goose, opencode]) {
        assert.throws(
          () => agent(options as object),
          (error) =>
            InspanError.is(error, 'invalid-input') &&
            /^`\w+` is not an option of [A-Z]/.test(error.message) &&
            error.message.includes(meant),
        )
      }
    })
  }

  test('an ACP agent without a program', () => {
    assert.throws(() => acp({} as AcpOptions), isRefused('command'))
  })

  test('0 is a valid time, and null means no limit', () => {
    assert.doesNotThrow(() => claudeCode({ deadlineMs: 0, stallMs: null, idleMs: null, transport: 'live' }))
  })
})
