import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MessageText } from './message-text.ts'

function read(pieces: readonly string[], othersInPieces = false): string {
  const text = new MessageText()
  for (const piece of pieces) text.add(piece)
  return text.whole(othersInPieces)
}

describe('Goose: a text in several records', () => {
  it('pieces are joined', () => {
    assert.equal(read(['Hel', 'lo ', 'there.']), 'Hello there.')
    assert.equal(read(['Hel']), 'Hel')
    assert.equal(read([]), '')
  })

  it('a record that restates the text replaces it', () => {
    assert.equal(read(['Hel', 'Hello', 'Hello there.']), 'Hello there.')
    assert.equal(read(['Hello', 'Hello']), 'Hello')
  })

  it('text that follows a restatement without repeating it is appended', () => {
    assert.equal(
      read(['A long beginning.', 'A long beginning. And more', ', at last.']),
      'A long beginning. And more, at last.',
    )
    assert.equal(read(['Hel', 'Hello', ' there', '.']), 'Hello there.')
    assert.equal(read(['Hel', 'Hello', ' there', 'Hello there, you']), 'Hello there, you')
  })

  it('a piece that begins like the text is no restatement if the next one shows it', () => {
    assert.equal(read(['1', '10', '.5']), '110.5')
    assert.equal(read(['ha', 'ha', '!']), 'haha!')
  })

  it('where other texts came in pieces, so did one whose pieces are alike by chance', () => {
    assert.equal(read(['1', '10'], true), '110')
    assert.equal(read(['Hello', 'Hello there'], true), 'Hello there')
  })

  it('text that was certain once stays certain', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 })), (pieces) => {
        const text = new MessageText()
        let before = ''
        for (const piece of pieces) {
          text.add(piece)
          before += text.takeCertain()
        }
        assert.ok(text.whole(false).startsWith(before))
        assert.ok(text.whole(true).startsWith(before))
      }),
      { seed: 5, numRuns: 500 },
    )
  })

  it('any text that is restated from its beginning on comes out whole', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(fc.nat(), { maxLength: 6 }), (whole, cuts) => {
        const lengths = cuts.map((cut) => 1 + (cut % whole.length)).toSorted((a, b) => a - b)
        assert.equal(read([...lengths.map((length) => whole.slice(0, length)), whole]), whole)
      }),
      { seed: 6, numRuns: 500 },
    )
  })

  it('any text whose first pieces differ comes out whole, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 2 }), (rest) => {
        const pieces = ['<', '>', ...rest]
        assert.equal(read(pieces), pieces.join(''))
      }),
      { seed: 7, numRuns: 300 },
    )
  })
})
