import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvenerError } from './errors.ts'
import { upcast, type StoredRecord } from './upcast.ts'

const stored: StoredRecord = { v: 1, stream: 's', seq: 7, at: 0, body: { type: 'note', kind: 'info', words: 'old' } }

test('a record of an older version is lifted step by step to the current one', () => {
  const lifted = upcast(
    stored,
    {
      note: [
        ({ words, ...rest }) => ({ ...rest, text: words ?? '' }),
        (body) => ({ ...body, text: typeof body['text'] === 'string' ? `${body['text']}!` : '' }),
      ],
    },
    { note: 3 },
  )
  assert.equal(lifted.v, 3)
  assert.deepEqual(lifted.body, { type: 'note', kind: 'info', text: 'old!' })
  assert.deepEqual(stored.body, { type: 'note', kind: 'info', words: 'old' })
})

test('a record of the current version is read as it is', () => {
  assert.deepEqual(upcast({ ...stored, body: { type: 'note', kind: 'info', text: 'x' } }).body, {
    type: 'note',
    kind: 'info',
    text: 'x',
  })
})

for (const [what, record] of [
  ['a newer version', { ...stored, v: 9 }],
  ['an unknown type', { ...stored, body: { type: 'hologram' } }],
  ['no type at all', { ...stored, body: {} }],
  ['a type that is a name of Object.prototype', { ...stored, body: { type: 'toString' } }],
] as const) {
  test(`${what} is an error that says to use a newer Evener`, () => {
    assert.throws(
      () => upcast(record),
      (error) => EvenerError.is(error, 'newer-version') && error.message.includes('newer'),
    )
  })
}

for (const v of [0, -1, 0.5, NaN]) {
  test(`version ${v} is one that nothing was ever written in: the record is damaged`, () => {
    assert.throws(
      () => upcast({ ...stored, v }),
      (error) => EvenerError.is(error, 'corrupt') && error.message.includes('7'),
    )
  })
}
