import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Line } from './line.ts'
import { LineSplitter } from './line-splitter.ts'
import type { LineSplitterOptions } from './line-splitter.ts'

function split(chunks: readonly Uint8Array[], options: LineSplitterOptions = {}): Line[] {
  const lines: Line[] = []
  const splitter = new LineSplitter((line) => lines.push(line), options)
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return lines
}

const splitText = (text: string, options?: LineSplitterOptions): Line[] => split([Buffer.from(text)], options)
const texts = (lines: readonly Line[]): string[] => lines.map((line) => line.text)
const everything = (lines: readonly Line[]): Buffer => Buffer.concat(lines.map((line) => line.raw))

function seen(line: Line): object {
  const { ending, partial, piece, hasBom, complete, text } = line
  return {
    bytes: line.bytes.toString('hex'),
    raw: line.raw.toString('hex'),
    ending,
    partial,
    piece,
    hasBom,
    complete,
    text,
  }
}

/** Bytes with many line ends, CRs, byte order marks, NULs and multi-byte characters. */
const stream: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('\n', '\r\n', '\r', '\r\r\n', '\u2028', '\u2029', '\0', '\uFEFF') },
      { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
      { weight: 1, arbitrary: fc.constantFrom('x'.repeat(33), '😀'.repeat(9), 'é'.repeat(17)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
    ),
    { maxLength: 24 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))))

function cutInto(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)
  return [...places, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : places[index - 1], end))
}

describe('LineSplitter', () => {
  it('gives the same lines wherever the chunks are cut', () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.integer({ min: 16, max: 80 }),
        (bytes, cuts, max) => {
          const whole = split([bytes], { maxLineBytes: max }).map(seen)
          assert.deepEqual(split(cutInto(bytes, cuts), { maxLineBytes: max }).map(seen), whole)
          const oneByOne = Array.from(bytes, (byte) => Buffer.of(byte))
          assert.deepEqual(split(oneByOne, { maxLineBytes: max }).map(seen), whole)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('loses no byte: the raw bytes of all lines are the input', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 16, max: 80 }), (bytes, max) => {
        const lines = split([bytes], { maxLineBytes: max })
        assert.deepEqual(everything(lines), bytes)
        const bom = (line: Line): Buffer => Buffer.from(line.hasBom ? '\uFEFF' : '')
        assert.deepEqual(Buffer.concat(lines.flatMap((l) => [bom(l), l.bytes, Buffer.from(l.ending)])), bytes)
      }),
      { numRuns: 500 },
    )
  })

  it('reads random bytes of any kind as the reference does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const latin1 = Buffer.from(bytes).toString('latin1')
        const expected = latin1.split('\n')
        const half = expected.pop() ?? ''
        const contents = expected.map((line) => line.replace(/\r$/, ''))
        if (half !== '') contents.push(half)
        if (contents[0]?.startsWith('\xEF\xBB\xBF')) contents[0] = contents[0].slice(3)
        assert.deepEqual(
          split([bytes]).map((line) => line.bytes.toString('latin1')),
          contents,
        )
      }),
      { numRuns: 300 },
    )
  })

  it('joins a character that is split over chunks', () => {
    const bytes = Buffer.from('{"a":"😀é"}\n')
    for (let cut = 1; cut < bytes.length; cut += 1) {
      assert.deepEqual(texts(split([bytes.subarray(0, cut), bytes.subarray(cut)])), ['{"a":"😀é"}'])
    }
  })

  it('strips one CR before the line feed and leaves every other CR', () => {
    assert.deepEqual(texts(splitText('a\r\nb\r\r\nc\rd\n\r\n')), ['a', 'b\r', 'c\rd', ''])
    assert.deepEqual(
      splitText('a\r\nb\nc').map((line) => line.ending),
      ['\r\n', '\n', ''],
    )
  })

  it('strips a byte order mark at the start of the stream and nowhere else', () => {
    const lines = splitText('\uFEFFa\n\uFEFFb\n')
    assert.deepEqual(texts(lines), ['a', '\uFEFFb'])
    assert.deepEqual(
      lines.map((line) => line.hasBom),
      [true, false],
    )
  })

  it('keeps NUL, U+2028, U+2029, form feed and vertical tab inside a line', () => {
    assert.deepEqual(texts(splitText('a\0b\u2028c\u2029d\f\v\u0085e\n')), ['a\0b\u2028c\u2029d\f\v\u0085e'])
  })

  it('does not throw on bytes that are not UTF-8 and keeps them', () => {
    const surrogate = Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22, 0x0a])
    const [line] = split([surrogate])
    assert.equal(line?.isUtf8, false)
    assert.equal(line?.text, '"\uFFFD\uFFFD\uFFFD"')
    assert.deepEqual(line?.raw, surrogate)
  })

  it('flags a half line at the end of the stream', () => {
    const lines = splitText('{"done":1}\n{"cut":"he')
    assert.deepEqual(
      lines.map((line) => [line.text, line.complete, line.partial]),
      [
        ['{"done":1}', true, false],
        ['{"cut":"he', false, false],
      ],
    )
  })

  it('delivers empty lines and nothing for an empty stream', () => {
    assert.deepEqual(texts(splitText('\n\n\r\na\n\n')), ['', '', '', 'a', ''])
    assert.deepEqual(split([Buffer.alloc(0)]), [])
  })

  it('joins a 50 MB line that arrives in small chunks', () => {
    const chunk = Buffer.alloc(4096, 'x')
    const lines: Line[] = []
    const splitter = new LineSplitter((line) => lines.push(line))
    const chunks = Math.ceil((50 * 1024 * 1024) / chunk.length)
    for (let n = 0; n < chunks; n += 1) splitter.push(chunk)
    splitter.push(Buffer.from('\nnext\n'))
    splitter.end()
    assert.deepEqual(
      lines.map((line) => [line.rawLength, line.partial, line.complete]),
      [
        [chunks * chunk.length + 1, false, true],
        [5, false, true],
      ],
    )
  })

  it('delivers a line above the limit in marked pieces and continues with the next line', () => {
    const lines = splitText(`short\n${'a'.repeat(40)}\r\nnext\n`, { maxLineBytes: 16 })
    assert.deepEqual(
      lines.map((line) => [line.text, line.partial, line.piece, line.complete]),
      [
        ['short', false, 0, true],
        ['a'.repeat(16), true, 0, false],
        ['a'.repeat(16), true, 1, false],
        ['a'.repeat(8), true, 2, true],
        ['next', false, 0, true],
      ],
    )
  })

  it('delivers a line of exactly the limit whole, with either ending, also when the CR arrives first', () => {
    const content = Buffer.from('a'.repeat(16))
    for (const rest of [['\n'], ['\r\n'], ['\r', '\n'], []]) {
      const lines = split([content, ...rest.map((part) => Buffer.from(part))], { maxLineBytes: 16 })
      assert.deepEqual(
        lines.map((line) => [line.text, line.partial]),
        [['a'.repeat(16), false]],
      )
    }
  })

  it('cuts pieces between characters, so that their texts join to the text of the line', () => {
    const text = '😀é'.repeat(30)
    const lines = splitText(text, { maxLineBytes: 17 })
    assert.ok(lines.length > 5)
    assert.ok(lines.every((line) => line.partial && line.isUtf8 && line.bytes.length <= 17))
    assert.equal(texts(lines).join(''), text)
  })

  it('holds no more than the limit while an endless line arrives', () => {
    let delivered = 0
    const splitter = new LineSplitter((line) => (delivered += line.rawLength), { maxLineBytes: 1000 })
    const chunk = Buffer.alloc(300, 'x')
    for (let pushed = chunk.length; pushed <= 300_000; pushed += chunk.length) {
      splitter.push(chunk)
      assert.ok(pushed - delivered <= 1001, `${pushed - delivered} bytes are held`)
    }
  })

  it('accepts a plain Uint8Array that is a view into a larger buffer', () => {
    const large = new TextEncoder().encode('xxxone\ntwoxxx')
    assert.deepEqual(texts(split([large.subarray(3, 10)])), ['one', 'two'])
  })

  it('refuses a limit that it could not keep', () => {
    for (const maxLineBytes of [0, 15, 16.5, Number.NaN, Infinity, -1]) {
      assert.throws(() => new LineSplitter(() => undefined, { maxLineBytes }), RangeError)
    }
  })
})
