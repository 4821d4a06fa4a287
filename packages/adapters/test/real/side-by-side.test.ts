import assert from 'node:assert/strict'
import { it } from 'node:test'
import { idly, inTurn } from './side-by-side.ts'

/** Work that begins when it is its turn and ends when the test says so. */
function work(name: string, log: string[]): { readonly finish: () => void; readonly done: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = inTurn(async () => {
    log.push(`${name} begins`)
    await promise
    log.push(`${name} ends`)
  })
  return { finish: resolve, done }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('two suites run, the third waits for its turn, and one that fails gives up its place', async () => {
  const log: string[] = []
  const [a, b, c] = ['a', 'b', 'c'].map((name) => work(name, log))
  assert.ok(a !== undefined && b !== undefined && c !== undefined)
  await settled()
  assert.deepEqual(log, ['a begins', 'b begins'])
  a.finish()
  await a.done
  await settled()
  assert.deepEqual(log.slice(2), ['a ends', 'c begins'])
  b.finish()
  c.finish()
  await Promise.all([b.done, c.done])
  await assert.rejects(inTurn(() => Promise.reject(new Error('broken'))))
  await Promise.all([inTurn(settled), inTurn(settled)])
})

it('a suite that only waits lets another one run, and continues when it is its turn again', async () => {
  const log: string[] = []
  const waited = Promise.withResolvers<void>()
  const first = inTurn(async () => {
    await idly(() => waited.promise)
    log.push('first goes on')
  })
  const others = ['b', 'c'].map((name) => work(name, log))
  await settled()
  assert.deepEqual(log, ['b begins', 'c begins'])
  waited.resolve()
  await settled()
  assert.equal(log.includes('first goes on'), false)
  for (const { finish } of others) finish()
  await first
  await Promise.all(others.map(({ done }) => done))
  assert.ok(log.indexOf('first goes on') > log.indexOf('b ends'))
})
