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

  test('of many changes are merged: one notification at a time, the next one 20 ms later', async (t) => {
    let now = 1000
    t.mock.method(performance, 'now', () => now)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const pass = async (ms: number): Promise<void> => {
      now += ms
      t.mock.timers.tick(ms)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const sent: { readonly payload: string; readonly done: () => void }[] = []
    const payloads = (): string[] => sent.map(({ payload }) => payload)
    const sender = new SignalSender((payload) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      sent.push({ payload, done: resolve })
      return promise
    })
    for (let seq = 1; seq <= 100; seq++) sender.changed('t', seq)
    await pass(1)
    assert.deepEqual(payloads(), ['["t",100]'])
    // While that one is on its way, however long it takes.
    for (let seq = 101; seq <= 200; seq++) sender.changed('t', seq)
    await pass(60)
    assert.deepEqual(payloads(), ['["t",100]'])
    sent[0]?.done()
    await pass(0)
    await pass(1)
    assert.deepEqual(payloads(), ['["t",100]', '["t",200]'])
    sent[1]?.done()
    sender.changed('t', 201)
    await pass(18)
    assert.equal(sent.length, 2)
    await pass(2)
    assert.deepEqual(payloads(), ['["t",100]', '["t",200]', '["t",201]'])
    sent[2]?.done()
    await sender.close()
  })

  test('wait out their 20 ms when a timer fires early', async (t) => {
    let now = 1000
    t.mock.method(performance, 'now', () => now)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const sent: string[] = []
    const sender = new SignalSender(async (payload) => void sent.push(payload))
    const pass = async (ms: number, by: number): Promise<void> => {
      now += by
      t.mock.timers.tick(ms)
      await new Promise((resolve) => setImmediate(resolve))
    }
    sender.changed('t', 1)
    await pass(1, 1)
    sender.changed('t', 2)
    await pass(20, 17)
    assert.deepEqual(sent, ['["t",1]'])
    await pass(3, 3)
    assert.deepEqual(sent, ['["t",1]', '["t",2]'])
    await sender.close()
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
