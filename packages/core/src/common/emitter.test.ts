import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Emitter } from './emitter.ts'

test('a listener that throws harms nobody, and its failure is reported', () => {
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

test('a listener that fails later is reported as well', async () => {
  const failed = Promise.withResolvers<unknown>()
  const emitter = new Emitter<number>(failed.resolve)
  emitter.subscribe(async () => {
    throw new Error('later')
  })
  emitter.emit(1)
  assert.equal(((await failed.promise) as Error).message, 'later')
})

test('a listener that unsubscribes itself while being called makes nobody miss the event', () => {
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

test('a listener added while an event is dispatched receives the next one', () => {
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

test('a listener that emits while it is called: everybody receives everything, in one order', () => {
  const heard: string[] = []
  const emitter = new Emitter<number>(fail)
  emitter.subscribe((value) => {
    heard.push(`first ${value}`)
    if (value < 3) emitter.emit(value + 1)
  })
  emitter.subscribe((value) => heard.push(`second ${value}`))
  emitter.emit(1)
  assert.deepEqual(heard, ['first 1', 'second 1', 'first 2', 'second 2', 'first 3', 'second 3'])
})

test('one that throws while others have emitted loses nothing of what comes after it', () => {
  const heard: number[] = []
  const emitter = new Emitter<number>(() => undefined)
  emitter.subscribe((value) => {
    if (value === 1) emitter.emit(2)
    throw new Error('broken')
  })
  emitter.subscribe((value) => heard.push(value))
  emitter.emit(1)
  emitter.emit(3)
  assert.deepEqual(heard, [1, 2, 3])
})

test('a slow listener is not waited for, and keeps nobody from the next event', async () => {
  const heard: string[] = []
  const slow = Promise.withResolvers<void>()
  const emitter = new Emitter<string>(fail)
  emitter.subscribe(async (value) => {
    await slow.promise
    heard.push(`slow ${value}`)
  })
  emitter.subscribe((value) => heard.push(`quick ${value}`))
  emitter.emit('a')
  emitter.emit('b')
  assert.deepEqual(heard, ['quick a', 'quick b'])
  slow.resolve()
  await slow.promise
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(heard, ['quick a', 'quick b', 'slow a', 'slow b'])
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
