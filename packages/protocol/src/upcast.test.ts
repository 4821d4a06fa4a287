import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InspanError } from './errors.ts'
import { RECORD_FORMAT, storedTypes, upcast, type RecordFormat, type StoredRecord } from './upcast.ts'

const stored: StoredRecord = { v: 1, stream: 's', seq: 7, at: 0, body: { type: 'note', kind: 'info', words: 'old' } }

/** Older notes had `words`, then a text without its mark. Until version 3 remarks were called notes. */
const format: RecordFormat = {
  versions: { remark: 4 },
  upcasters: {
    note: [
      ({ words = '', ...rest }) => ({ ...rest, text: words }),
      ({ kind: _kind, ...rest }) => ({ ...rest, type: 'remark' }),
    ],
    remark: [
      fails,
      fails,
      (body) => {
        if (typeof body['text'] !== 'string') throw new Error('no text')
        return { ...body, text: `${body['text']}!` }
      },
    ],
  },
  renamed: { note: 'remark', jotting: 'note' },
}

function fails(): never {
  throw new Error('A remark never had this version.')
}

test('a record of an older version is lifted step by step to the current one, also when its type was renamed', () => {
  const lifted = upcast(stored, format)
  assert.equal(lifted.v, 4)
  assert.deepEqual(lifted.body, { type: 'remark', text: 'old!' })
  assert.deepEqual(stored.body, { type: 'note', kind: 'info', words: 'old' })
  assert.deepEqual(upcast({ ...stored, v: 2, body: { type: 'note', kind: 'info', text: 'x' } }, format).body, {
    type: 'remark',
    text: 'x!',
  })
})

test('a record of an older name and a version it never had is of a newer release', () => {
  assert.throws(
    () => upcast({ ...stored, v: 3 }, format),
    (error) => InspanError.is(error, 'newer-version') && /"note" version 3/.test(error.message),
  )
})

test('a record that cannot be lifted is damaged, and reports which it is', () => {
  assert.throws(
    () => upcast({ ...stored, v: 3, body: { type: 'remark' } }, format),
    (error) => InspanError.is(error, 'corrupt') && /Record 7 of s .*"remark" version 3/.test(error.message),
  )
})

test('looking for a type also finds records under its former names', () => {
  assert.deepEqual(storedTypes('remark', format), ['remark', 'note', 'jotting'])
  assert.deepEqual(storedTypes('other', format), ['other'])
})

test('every older version of every type of this release can be lifted', () => {
  const { renamed, upcasters, versions } = RECORD_FORMAT
  for (const [type, version] of Object.entries(versions)) {
    const since = Object.values(renamed).includes(type) ? 0 : version - 1
    assert.ok((upcasters[type]?.length ?? 0) >= since, type)
  }
  for (const [before, now] of Object.entries(renamed)) {
    assert.ok(
      (upcasters[before]?.length ?? 0) > 0 && (Object.hasOwn(versions, now) || Object.hasOwn(renamed, now)),
      before,
    )
  }
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
  test(`${what} is an error that says to use a newer Inspan`, () => {
    assert.throws(
      () => upcast(record),
      (error) =>
        InspanError.is(error, 'newer-version') &&
        error.message.includes(`version ${record.v}`) &&
        error.details?.['seq'] === 7 &&
        /Upgrade/.test(error.hint ?? ''),
    )
  })
}

for (const v of [0, -1, 0.5, NaN]) {
  test(`version ${v} is one that nothing was ever written in: the record is damaged`, () => {
    assert.throws(
      () => upcast({ ...stored, v }),
      (error) => InspanError.is(error, 'corrupt') && error.message.includes('7'),
    )
  })
}
