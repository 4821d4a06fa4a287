import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseRecord, splitLine } from './json-line.ts'

describe('a line that is not one record', () => {
  it('keeps text glued before, between and after records', () => {
    assert.deepEqual(splitLine('careful: {"a":1}and{"b":"}{"} end'), [
      { kind: 'text', text: 'careful: ' },
      { kind: 'record', record: { a: 1 } },
      { kind: 'text', text: 'and' },
      { kind: 'record', record: { b: '}{' } },
      { kind: 'text', text: ' end' },
    ])
  })

  it('distinguishes JSON that is not a record from text', () => {
    assert.deepEqual(splitLine('[1]'), [{ kind: 'value', value: [1] }])
    assert.deepEqual(splitLine('"x"'), [{ kind: 'value', value: 'x' }])
    assert.deepEqual(splitLine('x'), [{ kind: 'text', text: 'x' }])
    assert.deepEqual(splitLine(' {"a":1}'), [{ kind: 'record', record: { a: 1 } }])
    assert.deepEqual(splitLine('  '), [])
  })

  it('takes a list of records for the records, and any other list for what it is', () => {
    assert.deepEqual(splitLine('[{"type":"a"},{"type":"b","n":1}]'), [
      { kind: 'record', record: { type: 'a' } },
      { kind: 'record', record: { type: 'b', n: 1 } },
    ])
    assert.deepEqual(splitLine('[{"type":"a"},1]'), [{ kind: 'value', value: [{ type: 'a' }, 1] }])
    assert.deepEqual(splitLine('[{"id":"a"}]'), [{ kind: 'value', value: [{ id: 'a' }] }])
    assert.deepEqual(splitLine('[]'), [{ kind: 'value', value: [] }])
  })

  it('keeps half a record as text, with the whole ones around it', () => {
    assert.deepEqual(splitLine('{"a":{"b":"c'), [{ kind: 'text', text: '{"a":{"b":"c' }])
    assert.deepEqual(splitLine('{"a": oops {"b":2}'), [
      { kind: 'text', text: '{"a": oops ' },
      { kind: 'record', record: { b: 2 } },
    ])
  })

  it('reads escaped quotes and backslashes inside strings', () => {
    const record = { text: 'a "quoted" \\ brace } {' }
    assert.deepEqual(splitLine(`x${JSON.stringify(record)}`), [
      { kind: 'text', text: 'x' },
      { kind: 'record', record },
    ])
  })

  it('gives up in time on a line made of openings', () => {
    const text = '{"'.repeat(200_000)
    assert.deepEqual(splitLine(text), [{ kind: 'text', text }])
  })

  it('never loses a character that is not white space', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join('')
        const kept = splitLine(text).map((part) =>
          part.kind === 'text' ? part.text : JSON.stringify(part.kind === 'record' ? part.record : part.value),
        )
        assert.equal(bare(kept.join('')).length > 0, bare(text).length > 0)
        if (parseRecord(text) === undefined && kept.length === 1) assert.equal(bare(kept[0] ?? ''), bare(text))
      }),
      { seed: 3, numRuns: 200 },
    )
  })
})

function bare(text: string): string {
  return text.replaceAll(/\s/g, '')
}
