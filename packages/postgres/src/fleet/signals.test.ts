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

  test('many changes of a thread are sent as one signal', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const sent: string[] = []
    const sender = new SignalSender(async (payload) => void sent.push(payload))
    for (let seq = 1; seq <= 100; seq++) sender.changed('t', seq)
    t.mock.timers.tick(20)
    await sender.close()
    assert.deepEqual(sent, ['["t",100]'])
  })
})
