import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { decodeSignal, encodeSignal, SignalSender } from './signals.ts'

suite('signals between processes', () => {
  test('carry any ids, in payloads that Postgres accepts', () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 })
    const signals = fc.record({ changed: fc.array(fc.tuple(id, fc.nat())), wanted: fc.array(id) })
    fc.assert(
      fc.property(signals, (signal) => {
        const payloads = encodeSignal(signal)
        const read = payloads.map(decodeSignal)
        assert.deepEqual(
          read.flatMap(({ changed }) => changed),
          signal.changed,
        )
        assert.deepEqual(
          read.flatMap(({ wanted }) => wanted),
          signal.wanted,
        )
        assert.ok(payloads.every((payload) => Buffer.byteLength(payload) < 8000))
      }),
    )
  })

  test('leave out an id that does not fit, and keep the rest', () => {
    const payloads = encodeSignal({
      changed: [
        ['a', 1],
        ['x'.repeat(9000), 2],
        ['b', 3],
      ],
      wanted: [],
    })
    assert.deepEqual(
      payloads.flatMap((payload) => decodeSignal(payload).changed),
      [
        ['a', 1],
        ['b', 3],
      ],
    )
  })

  test('skip what they do not understand', () => {
    assert.deepEqual(decodeSignal('{"new":1}\nnonsense\n["t",5]\n["t"]'), { changed: [['t', 5]], wanted: [] })
  })

  test('of many changes are merged: one notification at a time, the next one 20 ms later', async () => {
    const sent: { readonly payload: string; readonly at: number; readonly done: () => void }[] = []
    const next = async (count: number): Promise<void> => {
      while (sent.length < count) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const sender = new SignalSender((payload) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      sent.push({ payload, at: performance.now(), done: resolve })
      return promise
    })
    for (let seq = 1; seq <= 100; seq++) sender.changed('t', seq)
    await next(1)
    // While that one is on its way, however long it takes.
    for (let seq = 101; seq <= 200; seq++) sender.changed('t', seq)
    await new Promise((resolve) => setTimeout(resolve, 60))
    assert.deepEqual(
      sent.map(({ payload }) => payload),
      ['["t",100]'],
    )
    sent[0]?.done()
    await next(2)
    sent[1]?.done()
    sender.changed('t', 201)
    await next(3)
    sent[2]?.done()
    await sender.close()
    assert.deepEqual(
      sent.map(({ payload }) => payload),
      ['["t",100]', '["t",200]', '["t",201]'],
    )
    const [, second = { at: 0 }, third = { at: 0 }] = sent
    assert.ok(third.at - second.at >= 19, `after ${third.at - second.at} ms`)
  })

  test('are not sent after the end', async () => {
    const sent: string[] = []
    const sender = new SignalSender(async (payload) => void sent.push(payload))
    sender.changed('t', 1)
    await sender.close()
    await new Promise((resolve) => setTimeout(resolve, 40))
    assert.deepEqual(sent, [])
  })
})
