import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { APICallError } from '@ai-sdk/provider'
import { failureOf } from './model-failure.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

function apiError(statusCode: number, responseHeaders: Record<string, string> = {}): APICallError {
  return new APICallError({ message: 'no', url: 'x:', requestBodyValues: {}, statusCode, responseHeaders })
}

suite('a failed model call', () => {
  for (const [status, isRetryable] of [
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, true],
    [429, true],
    [500, true],
    [503, true],
    [529, true],
  ] as const) {
    test(`with status ${status} is ${isRetryable ? '' : 'not '}worth another try`, () => {
      const failure = failureOf(apiError(status), NOW)
      assert.equal(failure.isRetryable, isRetryable)
      assert.equal(failure.status, status)
      assert.equal(failureOf({ message: 'no', statusCode: status }, NOW).isRetryable, isRetryable)
    })
  }

  test('is classified as the provider reports it', () => {
    assert.equal(failureOf({ message: 'no', statusCode: 500, isRetryable: false }, NOW).isRetryable, false)
    assert.equal(failureOf({ message: 'no', statusCode: 400, isRetryable: true }, NOW).isRetryable, true)
  })

  test('for lack of a connection is worth another try, however deep the cause is nested', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    assert.equal(failureOf(reset, NOW).isRetryable, true)
    assert.equal(failureOf(new Error('failed', { cause: reset }), NOW).isRetryable, true)
    assert.equal(failureOf(new TypeError('fetch failed'), NOW).isRetryable, true)
    assert.equal(failureOf(new TypeError('x is not a function'), NOW).isRetryable, false)
    assert.equal(failureOf(new DOMException('stop', 'AbortError'), NOW).isRetryable, false)
    assert.equal(failureOf('strange', NOW).isRetryable, false)
  })

  for (const [failure, isRetryable] of [
    [{ message: 'no', type: 'overloaded_error' }, true],
    [{ message: 'no', type: 'api_error' }, true],
    [{ message: 'no', code: 'rate_limit_exceeded' }, true],
    [{ message: 'no', type: 'error', code: 'server_error' }, true],
    [{ message: 'no', type: 'invalid_request_error' }, false],
    [{ message: 'no', code: 'insufficient_quota' }, false],
  ] as const) {
    const word = Object.values(failure).slice(1).join(' ')
    test(`in the middle of a stream, called ${word}, is ${isRetryable ? '' : 'not '}worth another try`, () => {
      assert.equal(failureOf(failure, NOW).isRetryable, isRetryable)
    })
  }

  for (const [headers, expected] of [
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:05 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ] as const) {
    test(`says by ${JSON.stringify(headers)} how long to wait: ${String(expected)}`, () => {
      assert.equal(failureOf(apiError(429, headers), NOW).retryAfterMs, expected)
    })
  }

  test('in a stream is plain data, and keeps its text', () => {
    assert.deepEqual(failureOf({ message: 'busy', type: 'overloaded_error', code: 529 }, NOW).error, {
      name: 'overloaded_error',
      message: 'busy',
      code: '529',
    })
  })
})
