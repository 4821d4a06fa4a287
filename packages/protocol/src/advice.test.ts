import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ErrorData } from './error-data.ts'
import { adviceOn, withAdvice } from './advice.ts'

const CASES: readonly (readonly [what: string, error: Omit<ErrorData, 'name'>, advice: RegExp])[] = [
  ['a wrong key, by its status', { message: 'no', details: { status: 401 } }, /"inspan keys"/],
  ['a wrong key, by its words', { message: 'Invalid API key · Please run /login' }, /"inspan keys"/],
  ['an empty account', { message: 'Your credit balance is too low' }, /topped up/],
  ['a conversation that is too long', { message: 'x', code: 'context-overflow' }, /new thread/],
  ['a model that is not there', { message: 'no', details: { status: 404 } }, /another model/],
  ['a limit', { message: 'Overloaded' }, /^Wait a little/],
  ['no network', { message: 'x', cause: { name: 'Error', message: 'y', code: 'ECONNREFUSED' } }, /Check the network/],
  ['a stream that was cut', { message: 'x', code: 'stream-cut' }, /Send another message/],
]

suite('advice on a run that failed', () => {
  for (const [what, error, advice] of CASES) {
    test(what, () => assert.match(adviceOn({ name: 'AI_APICallError', ...error }) ?? '', advice))
  }

  test('follows the message as a sentence of its own', () => {
    const error = { name: 'Error', message: 'Cannot connect to API: bad port' }
    assert.match(withAdvice(error.message, error), /^Cannot connect to API: bad port\. Check the network/)
    assert.match(withAdvice('It is down.', error), /^It is down\. Check/)
    assert.equal(withAdvice('It broke', { name: 'Error', message: 'It broke' }), 'It broke')
    assert.equal(withAdvice('It broke', undefined), 'It broke')
  })

  test('is not given for unknown errors, nor for our own, which end with a hint', () => {
    assert.equal(adviceOn({ name: 'Error', message: 'It broke.' }), undefined)
    assert.equal(adviceOn({ name: 'InspanError', message: 'No API key. Set it.' }), undefined)
  })
})
