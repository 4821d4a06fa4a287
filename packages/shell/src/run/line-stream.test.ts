import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LineStream } from './line-stream.ts'

async function readAll(stream: LineStream): Promise<string[]> {
  const texts: string[] = []
  for await (const line of stream) texts.push(line.text)
  return texts
}

/** A source of endless numbered lines that counts how many were taken. */
function endlessSource(lineBytes: number): { source: Readable; taken: () => number } {
  let taken = 0
  const line = `${'x'.repeat(lineBytes - 1)}\n`
  const source = new Readable({
    highWaterMark: lineBytes,
    read() {
      taken += 1
      setImmediate(() => this.push(line))
    },
  })
  return { source, taken: () => taken }
}

async function settle(turns = 200): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
}

describe('LineStream', () => {
  it('gives all lines, the half line at the end too', async () => {
    const source = Readable.from([Buffer.from('a\nb'), Buffer.from('c\n\nlast')])
    assert.deepEqual(await readAll(new LineStream(source)), ['a', 'bc', '', 'last'])
  })

  it('waits for lines that come later', async () => {
    const source = new PassThrough()
    const lines = new LineStream(source)[Symbol.asyncIterator]()
    const first = lines.next()
    await nextTurn()
    source.write('late\n')
    assert.equal((await first).value?.text, 'late')
    source.end()
    assert.equal((await lines.next()).done, true)
  })

  it('gives lines that came together at once', async () => {
    const source = new PassThrough()
    const batches = new LineStream(source).batches()
    const texts = async (): Promise<string[] | undefined> => {
      const next = await batches.next()
      return next.done === true ? undefined : next.value.map((line) => line.text)
    }
    const first = texts()
    source.write('a\nb\nhal')
    assert.deepEqual(await first, ['a', 'b'])
    source.write('f\n')
    await nextTurn()
    source.end('c\nlast')
    await settle()
    assert.deepEqual(await texts(), ['half', 'c', 'last'])
    assert.equal(await texts(), undefined)
  })

  it('delivers lines in the moment in which they arrive, those before it and the half line at the end too', async () => {
    const source = new PassThrough()
    const stream = new LineStream(source)
    source.write('early\n')
    await nextTurn()
    const got: string[][] = []
    const delivering = stream.deliver((lines) => void got.push(lines.map(({ text }) => text)))
    assert.deepEqual(got, [['early']])
    source.on('data', () => got.push(['the chunk was read']))
    source.end('a\nb\nhal')
    await delivering
    assert.deepEqual(got, [['early'], ['a', 'b'], ['the chunk was read'], ['hal']])
  })

  it('holds the source while a delivery is busy, keeps the order, and fails as the source does', async () => {
    const { source, taken } = endlessSource(1000)
    const stream = new LineStream(source, { highWaterBytes: 10_000 })
    let read = 0
    let busy = 0
    const delivering = stream.deliver(async (lines) => {
      busy += 1
      assert.equal(busy, 1, 'one delivery at a time')
      read += lines.length
      await settle(20)
      assert.ok(taken() - read <= 3, `${taken() - read} lines wait`)
      busy -= 1
      if (read >= 50) source.destroy(new Error('broken'))
    })
    await assert.rejects(delivering, /broken/)
    assert.ok(read >= 50)
  })

  it('reads a faster source in batches within bounds, and fails as it does', async () => {
    const { source, taken } = endlessSource(1000)
    const stream = new LineStream(source, { highWaterBytes: 10_000 })
    await settle()
    let read = 0
    const reading = async (): Promise<void> => {
      for await (const batch of stream.batches()) {
        read += batch.length
        await settle(20)
        assert.ok(taken() - read <= 15, `${taken() - read} lines wait`)
        if (read >= 100) source.destroy(new Error('broken'))
      }
    }
    await assert.rejects(reading(), /broken/)
    assert.ok(read >= 100)
  })

  it('pauses a source that is faster than its reader and loses nothing', async () => {
    const { source, taken } = endlessSource(1000)
    const stream = new LineStream(source, { highWaterBytes: 10_000 })
    await settle()
    const takenUnread = taken()
    assert.ok(takenUnread <= 15, `${takenUnread} lines were taken without a reader`)
    assert.equal(stream.paused, true)

    let read = 0
    for await (const line of stream) {
      assert.equal(line.text.length, 999)
      read += 1
      if (read === 500) break
    }
    assert.ok(taken() >= 500)
    source.destroy()
  })

  it('bounds a flood of empty lines as well', async () => {
    const source = new Readable({
      read() {
        setImmediate(() => this.push('\n'.repeat(100)))
      },
    })
    const stream = new LineStream(source, { highWaterBytes: 1_000_000 })
    await settle(400)
    assert.equal(stream.paused, true)
    source.destroy()
    await stream.ended
  })

  it('reads on and drops the rest when the reader leaves the loop', async () => {
    const source = Readable.from(Array.from({ length: 1000 }, (_, n) => Buffer.from(`${n} ${'x'.repeat(1000)}\n`)))
    const stream = new LineStream(source, { highWaterBytes: 5000 })
    for await (const line of stream) {
      if (line.text.startsWith('3 ')) break
    }
    await stream.ended
  })

  it('ends without a reader when it discards', async () => {
    const source = Readable.from(Array.from({ length: 1000 }, () => Buffer.from(`${'x'.repeat(1000)}\n`)))
    const stream = new LineStream(source, { highWaterBytes: 5000 })
    stream.discard()
    await stream.ended
    assert.deepEqual(await readAll(stream), [])
  })

  it('keeps everything for a later reader when it reads to the end', async () => {
    const source = Readable.from(Array.from({ length: 100 }, () => Buffer.from(`${'x'.repeat(1000)}\n`)))
    const stream = new LineStream(source, { highWaterBytes: 5000 })
    stream.readToEnd()
    await stream.ended
    assert.equal((await readAll(stream)).length, 100)
  })

  it('shows every line to the tap, discarded ones too, and holds the source while the tap is busy', async () => {
    const { source, taken } = endlessSource(100)
    let finishTap = (): void => undefined
    let tapped = 0
    const stream = new LineStream(source, {
      tap: () => {
        tapped += 1
        return new Promise((resolve) => {
          finishTap = resolve
        })
      },
    })
    stream.discard()
    await settle()
    assert.equal(tapped, 1)
    assert.equal(stream.paused, true)
    assert.ok(taken() <= 3)
    finishTap()
    await settle()
    assert.equal(tapped, 2)
    source.destroy()
    finishTap()
    await stream.ended
  })

  it('has one reader', async () => {
    const stream = new LineStream(Readable.from([Buffer.from('a\n')]))
    await readAll(stream)
    assert.throws(() => stream[Symbol.asyncIterator](), /one reader/)
  })

  it('gives the lines before an error of the source, then the error', async () => {
    const source = new PassThrough()
    const stream = new LineStream(source)
    source.write('before\nhalf')
    await settle()
    source.destroy(new Error('pipe broke'))
    await stream.ended
    const texts: string[] = []
    await assert.rejects(async () => {
      for await (const line of stream) texts.push(line.text)
    }, /pipe broke/)
    assert.deepEqual(texts, ['before', 'half'])
  })
})

describe('a source that ends without being closed, as standard input from a file does', () => {
  it('ends the lines as well', async () => {
    const source = new PassThrough({ emitClose: false, autoDestroy: false })
    source.end('one\ntwo')
    assert.deepEqual(await readAll(new LineStream(source)), ['one', 'two'])
  })
})
