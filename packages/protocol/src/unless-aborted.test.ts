import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { suite, test } from 'node:test'
import { InspanError } from './errors.ts'
import { unlessAborted } from './unless-aborted.ts'

const isCancelled = (error: unknown): boolean => InspanError.is(error, 'closed')

suite('work that may be cancelled', () => {
  test('gives what it comes to, and leaves one listener on the signal however often it is done', async () => {
    const { signal } = new AbortController()
    for (let i = 0; i < 20; i++) assert.equal(await unlessAborted(signal, Promise.resolve(i)), i)
    await assert.rejects(unlessAborted(signal, Promise.reject(new Error('broken'))), /broken/)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
  })

  test('is left when it is cancelled, and may fail later without anybody noticing', async () => {
    const abort = new AbortController()
    const work = Promise.withResolvers<never>()
    const given = unlessAborted(abort.signal, work.promise)
    abort.abort()
    await assert.rejects(given, isCancelled)
    work.reject(new Error('too late'))
    await new Promise((resolve) => setImmediate(resolve))
  })

  test('is not waited for when it was cancelled before', async () => {
    await assert.rejects(unlessAborted(AbortSignal.abort(), Promise.reject(new Error('late'))), isCancelled)
    await assert.rejects(unlessAborted(AbortSignal.abort(), new Promise(() => undefined)), isCancelled)
  })
})
