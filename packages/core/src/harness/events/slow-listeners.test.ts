import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { HarnessBench } from '../harness.fixture.ts'

const WORDS = Array.from({ length: 200 }, (_, index) => `word ${index} `)

suite('a listener of a harness', () => {
  test('a listener of a harness that is slow or takes itself away delays, reorders and loses nothing for the others', async () => {
    await using bench = new HarnessBench([{ text: WORDS }])
    const gate = Promise.withResolvers<void>()
    const slow: string[] = []
    const late: string[] = []
    const work: Promise<void>[] = []
    const once: string[] = []
    bench.harness.subscribe((event) => {
      slow.push(event.type)
      const done = gate.promise.then(() => void late.push(event.type))
      work.push(done)
      return done
    })
    const stop = bench.harness.subscribe((event) => {
      once.push(event.type)
      stop()
    })
    const last: string[] = []
    bench.harness.subscribe((event) => void last.push(event.type))
    // Resolves although the slow listener has not finished a single call.
    await bench.harness.sendMessage({ content: 'Speak.' })
    assert.deepEqual(late, [])
    const first = bench.events.map(({ type }) => type)
    gate.resolve()
    await Promise.all(work)
    assert.equal(once.length, 1)
    for (const heard of [slow, last, late]) assert.deepEqual(heard.slice(0, first.length), first)
    assert.ok(first.filter((type) => type === 'message_update').length >= WORDS.length)
  })
})
