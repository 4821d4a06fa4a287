import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toError, toErrorData } from './error-data.ts'

test('name, message, code and causes survive the way to data and back', () => {
  const thrown = Object.assign(new RangeError('outer', { cause: new Error('inner') }), { code: 'E_OUT' })
  const back = toError(JSON.parse(JSON.stringify(toErrorData(thrown))))
  assert.equal(back.name, 'RangeError')
  assert.equal(back.message, 'outer')
  assert.equal((back as Error & { code?: string }).code, 'E_OUT')
  assert.equal(back.stack, thrown.stack)
  assert.equal((back.cause as Error).message, 'inner')
})

test('anything can be thrown', () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  assert.equal(toErrorData('text').message, 'text')
  assert.equal(toErrorData({ a: 1 }).message, '{"a":1}')
  assert.equal(toErrorData(undefined).message, 'undefined')
  assert.equal(toErrorData(circular).message, '[object Object]')
})

test('an error that is its own cause ends', () => {
  const loop = new Error('loop')
  loop.cause = loop
  assert.ok(JSON.stringify(toErrorData(loop)).length < 100_000)
})
