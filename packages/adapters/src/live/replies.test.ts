import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { Replies } from './replies.ts'

const isError = (code: string, text: RegExp) => (error: unknown) =>
  InspanError.is(error) && error.code === code && text.test(error.message)

describe('what a program was asked', () => {
  it('is answered by its id', async () => {
    const replies = new Replies('Stand-in')
    const first = replies.expect('1', 'start')
    const second = replies.expect('2', 'go on')
    assert.equal(replies.areOpen, true)
    assert.equal(replies.resolve('2', { n: 2 }), true)
    assert.equal(replies.resolve('1', { n: 1 }), true)
    assert.deepEqual([await first, await second], [{ n: 1 }, { n: 2 }])
    assert.equal(replies.areOpen, false)
  })

  it('may be refused, with what and why', async () => {
    const replies = new Replies('Stand-in')
    const asked = replies.expect('1', 'start')
    replies.reject('1', { message: 'too early' })
    await assert.rejects(asked, isError('unsupported', /Stand-in refused to start: too early/))
  })

  it('is not answered twice, nor when nobody asked', () => {
    const replies = new Replies('Stand-in')
    assert.equal(replies.resolve('1', {}), false)
    assert.equal(replies.reject('1', { message: 'x' }), false)
  })

  it('is never answered by a program that is gone', async () => {
    const replies = new Replies('Stand-in')
    const before = replies.expect('1', 'start')
    replies.end('it has ended')
    await assert.rejects(before, isError('closed', /cannot start: it has ended/))
    await assert.rejects(replies.expect('2', 'go on'), isError('closed', /cannot go on/))
  })
})
