import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '@evener/protocol'
import { checkAgainst } from './json-schema-check.ts'

const person: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 5 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1, maxItems: 2 },
    id: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    kind: { const: 'person' },
    nick: { type: ['string', 'null'] },
  },
  required: ['name'],
  additionalProperties: false,
}

suite('a value held against a JSON Schema', () => {
  test('that fits has nothing wrong with it', () => {
    const value = { name: 'Ann', age: 7, tags: ['a'], id: 3, kind: 'person', nick: null }
    assert.equal(checkAgainst(person, value), undefined)
    assert.equal(checkAgainst({}, [1, 'x', null]), undefined)
    assert.equal(checkAgainst({ $ref: '#/unknown', format: 'email' }, 'x'), undefined)
  })

  for (const [value, problem] of [
    ['Ann', 'expected object, received string'],
    [[], 'expected object, received array'],
    [null, 'expected object, received null'],
    [{}, 'missing name'],
    [{ name: '' }, 'name: expected at least 1 characters'],
    [{ name: 'Annabel' }, 'name: expected at most 5 characters'],
    [{ name: 'Ann', age: 1.5 }, 'age: expected integer, received number'],
    [{ name: 'Ann', age: -1 }, 'age: expected at least 0'],
    [{ name: 'Ann', age: 151 }, 'age: expected at most 150'],
    [{ name: 'Ann', tags: [] }, 'tags: expected at least 1 items'],
    [{ name: 'Ann', tags: ['a', 'b', 'a'] }, 'tags: expected at most 2 items'],
    [{ name: 'Ann', tags: ['a', 'c'] }, 'tags[1]: expected one of ["a","b"]'],
    [{ name: 'Ann', kind: 'dog' }, 'kind: expected one of ["person"]'],
    [{ name: 'Ann', id: true }, 'id: expected string, received boolean, or id: expected number, received boolean'],
    [{ name: 'Ann', nick: 5 }, 'nick: expected string or null, received number'],
    [{ name: 'Ann', more: 1 }, 'unknown property more'],
  ] as const) {
    test(`${JSON.stringify(value)}: ${problem}`, () => {
      assert.equal(checkAgainst(person, value), problem)
    })
  }

  test('has to fit all of several', () => {
    const both = { allOf: [{ required: ['a'] }, { required: ['b'] }] }
    assert.equal(checkAgainst(both, { a: 1 }), 'missing b')
    assert.equal(checkAgainst(both, { a: 1, b: 2 }), undefined)
  })
})
