import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Emitter } from './emitter.ts'

test('C4-46 a listener that throws harms nobody, and its failure is told', () => {
  const failures: unknown[] = []
  const heard: number[] = []
  const emitter = new Emitter<number>((error) => failures.push(error))
  emitter.subscribe(() => {
    throw new Error('broken')
  })
  emitter.subscribe((value) => heard.push(value))
  emitter.emit(1)
  assert.deepEqual(heard, [1])
  assert.equal((failures[0] as Error).message, 'broken')
})

test('C4-46 a listener that fails later is told as well', async () => {
  const failed = Promise.withResolvers<unknown>()
  const emitter = new Emitter<number>(failed.resolve)
  emitter.subscribe(async () => {
    throw new Error('later')
  })
  emitter.emit(1)
  assert.equal(((await failed.promise) as Error).message, 'later')
})

test('C4-46 a listener that unsubscribes itself while being called makes nobody miss the event', () => {
  const heard: string[] = []
  const emitter = new Emitter<string>(fail)
  const stop = emitter.subscribe((value) => {
    heard.push(`first ${value}`)
    stop()
  })
  emitter.subscribe((value) => heard.push(`second ${value}`))
  emitter.emit('a')
  emitter.emit('b')
  assert.deepEqual(heard, ['first a', 'second a', 'second b'])
})

test('C4-46 a listener added while an event is dispatched hears the next one', () => {
  const heard: string[] = []
  const emitter = new Emitter<string>(fail)
  let isAdded = false
  emitter.subscribe((value) => {
    heard.push(`old ${value}`)
    if (!isAdded) emitter.subscribe((later) => heard.push(`new ${later}`))
    isAdded = true
  })
  emitter.emit('a')
  emitter.emit('b')
  assert.deepEqual(heard, ['old a', 'old b', 'new b'])
})

test('the same function may be subscribed twice and taken away once', () => {
  let calls = 0
  const emitter = new Emitter<null>(fail)
  const listener = (): void => void calls++
  emitter.subscribe(listener)
  const stop = emitter.subscribe(listener)
  emitter.emit(null)
  stop()
  stop()
  emitter.emit(null)
  assert.equal(calls, 3)
  assert.equal(emitter.size, 1)
})

function fail(error: unknown): never {
  assert.fail(String(error))
}
