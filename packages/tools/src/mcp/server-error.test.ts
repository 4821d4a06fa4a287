import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { McpServerErrorCategory } from '@inspan/protocol/chat'
import { problemOf } from './server-error.ts'

const failed = (fields: object): Error => Object.assign(new Error('It failed.'), fields)

/** By category: an error of it, and whether another attempt may help. */
const CASES: Readonly<Record<McpServerErrorCategory, readonly [error: unknown, retriable: boolean]>> = {
  'connect-timeout': [new InspanError('expired', 'Late.'), true],
  'http-401': [failed({ status: 401 }), true],
  'http-403': [failed({ status: 403 }), false],
  'http-4xx': [failed({ status: 418 }), false],
  'http-5xx': [failed({ status: 503 }), true],
  'transport-eof': [failed({ code: 'CONNECTION_CLOSED' }), true],
  'protocol-error': [failed({ code: 'INVALID_RESULT' }), false],
  'config-error': [new InspanError('invalid-input', 'It has no command.'), false],
  aborted: [new InspanError('closed', 'It is no longer wanted.'), false],
  unknown: [failed({}), false],
}

test('every category of failure reports whether another attempt may help', () => {
  assert.deepEqual(Object.keys(CASES), Object.values(McpServerErrorCategory))
  for (const [category, [error, retriable]] of Object.entries(CASES)) {
    assert.deepEqual(problemOf(error).detail, { category, retriable })
  }
})
