import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { checkAgainst, schemaProblems } from './json-schema-check.ts'

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

suite('a value checked against a JSON Schema', () => {
  test('a value that fits has nothing wrong with it', () => {
    const value = { name: 'Ann', age: 7, tags: ['a'], id: 3, kind: 'person', nick: null }
    assert.equal(checkAgainst(person, value), undefined)
    assert.equal(checkAgainst({}, [1, 'x', null]), undefined)
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

  test('allOf: every schema must match', () => {
    const both = { allOf: [{ required: ['a'] }, { required: ['b'] }] }
    assert.equal(checkAgainst(both, { a: 1 }), 'missing b')
    assert.equal(checkAgainst(both, { a: 1, b: 2 }), undefined)
  })
})

const tree: JsonObject = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: {
        name: { $ref: '#/definitions/na~1me' },
        children: { type: 'array', items: { $ref: '#/$defs/node' } },
      },
      required: ['name'],
    },
    byName: { $anchor: 'anchored', type: 'boolean' },
  },
  definitions: { 'na/me': { type: 'string', minLength: 1 } },
}

suite('a reference within a schema', () => {
  test('is followed, also to the place it is in', () => {
    assert.equal(checkAgainst(tree, { name: 'a', children: [{ name: 'b', children: [] }] }), undefined)
    assert.equal(
      checkAgainst(tree, { name: 'a', children: [{ name: 'b' }, { name: '' }] }),
      'children[1].name: expected at least 1 characters',
    )
    assert.equal(checkAgainst(tree, { children: [] }), 'missing name')
    assert.equal(checkAgainst({ ...tree, $ref: '#anchored' }, 'x'), 'expected boolean, received string')
    assert.equal(
      checkAgainst({ properties: { next: { $ref: '#' } }, additionalProperties: false }, { next: { other: 1 } }),
      'next: unknown property other',
    )
  })

  test('a reference within a schema that leads nowhere, or round in a circle, lets nothing pass', () => {
    assert.equal(checkAgainst({ $ref: '#/$defs/gone' }, 1), 'cannot be checked: there is no #/$defs/gone')
    assert.equal(
      checkAgainst({ $ref: 'https://example.com/schema.json' }, 1),
      'cannot be checked: there is no https://example.com/schema.json',
    )
    assert.equal(checkAgainst({ $ref: '#' }, 1), 'nested too deeply to be checked')
    assert.equal(checkAgainst({ $ref: '#/__proto__/x' }, 1), 'cannot be checked: there is no #/__proto__/x')
  })
})

const CONDITION: JsonObject = JSON.parse(
  '{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}',
)

suite('a word of JSON Schema', () => {
  for (const [schema, good, bad, problem] of [
    [{ exclusiveMinimum: 1 }, 1.1, 1, 'expected more than 1'],
    [{ exclusiveMaximum: 1 }, 0.9, 1, 'expected less than 1'],
    [{ multipleOf: 0.1 }, 0.3, 0.35, 'expected a multiple of 0.1'],
    [{ pattern: '^a+$' }, 'aa', 'ab', 'expected to match ^a+$'],
    [{ maxLength: 1 }, '🙂', 'ab', 'expected at most 1 characters'],
    [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 0, 3, 'expected to fit one of several, fits 2'],
    [{ not: { type: 'null' } }, 1, null, 'is what it must not be'],
    [CONDITION, { a: 1, b: 1 }, { a: 1 }, 'missing b'],
    [CONDITION, { c: 1 }, {}, 'missing c'],
    [
      { uniqueItems: true },
      [{ a: 1, b: 2 }, { a: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'expected no item twice',
    ],
    [
      { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      ['a', 1],
      ['a', 'b'],
      '[1]: expected number, received string',
    ],
    [{ items: [{ type: 'string' }], additionalItems: false }, ['a'], ['a', 'b'], '[1]: nothing is allowed here'],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1], 'expected at most 1 fitting items'],
    [{ contains: { const: 1 } }, [1], [2], 'expected at least 1 fitting items'],
    [{ minProperties: 1 }, { a: 1 }, {}, 'expected at least 1 properties'],
    [{ maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }, 'expected at most 1 properties'],
    [
      { propertyNames: { maxLength: 1 } },
      { a: 1 },
      { ab: 1 },
      'the name of property ab: expected at most 1 characters',
    ],
    [
      { patternProperties: { '^n': { type: 'number' } }, additionalProperties: false },
      { n1: 1 },
      { n1: 'x' },
      'n1: expected number, received string',
    ],
    [
      { patternProperties: { '^n': { type: 'number' } }, additionalProperties: false },
      {},
      { x: 1 },
      'unknown property x',
    ],
    [{ dependentRequired: { a: ['b'] } }, { b: 1 }, { a: 1 }, 'missing b, which a needs'],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { b: 1 }, { a: 1 }, 'missing b'],
    [{ dependencies: { a: ['b'], c: { required: ['d'] } } }, { b: 1 }, { c: 1 }, 'missing d'],
    [{ enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, { a: 1 }, 'expected one of [{"a":1,"b":2}]'],
    [{ properties: { a: false } }, {}, { a: 1 }, 'unknown property a'],
    [
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1 },
      { a: 1, b: 1 },
      'unknown property b',
    ],
    [
      { anyOf: [{ properties: { a: false } }, false, { required: ['b'] }] },
      { a: 1, b: 1 },
      { a: 1 },
      'unknown property a, or missing b',
    ],
    [{ anyOf: [false, false] }, undefined, 1, 'nothing is allowed here'],
    [
      { properties: { 'a/b#%c': { items: { $ref: '#' } } }, type: 'object' },
      { 'a/b#%c': [{}] },
      { 'a/b#%c': [1] },
      'a/b#%c[0]: expected object, received number',
    ],
  ] as [JsonObject, unknown, unknown, string][]) {
    test(`${JSON.stringify(schema)}: ${JSON.stringify(good)}, not ${JSON.stringify(bad)}`, () => {
      assert.equal(checkAgainst(schema, good), undefined)
      assert.equal(checkAgainst(schema, bad), problem)
      assert.deepEqual(schemaProblems(schema), { unchecked: [], broken: [] })
    })
  }

  for (const [format, good, bad] of [
    ['date', ['2024-02-29', '2026-12-31'], ['2026-02-29', '2026-13-01', '2026-1-1', '2026-04-31']],
    ['time', ['23:59:59', '00:00:00.5Z', '12:00:00+02:00'], ['24:00:00', '12:00', '12:00:00+25:00']],
    [
      'date-time',
      ['2026-01-01T00:00:00Z', '2026-01-01t00:00:00.123-05:30'],
      ['2026-01-01T00:00:00', '2026-01-01', '2026-02-30T00:00:00Z'],
    ],
    ['duration', ['P1D', 'PT1.5S', 'P2W', 'P1Y2M3DT4H5M6S'], ['P', 'PT', '1D', 'P1DT']],
    ['email', ['a@b.example', 'a.b+c@d'], ['a', '@b', 'a@', 'a b@c', 'a@b@c']],
    ['hostname', ['example', 'a-b.example'], ['-a', 'a..b', 'a_b', '']],
    ['ipv4', ['127.0.0.1'], ['256.0.0.1', '1.2.3', '::1']],
    ['ipv6', ['::1', 'fe80::1'], ['1.2.3.4', ':::']],
    ['uri', ['https://a.example/b?c#d', 'urn:isbn:1'], ['a', '/b', 'https://a b']],
    ['uri-reference', ['/b', '#d', 'https://a'], ['a b']],
    ['uuid', ['01890a5d-ac96-774b-bcce-b302099a8057'], ['01890a5d', '01890a5d-ac96-774b-bcce-b302099a805g']],
    ['json-pointer', ['', '/a/b~1c'], ['a', '/~2']],
    ['regex', ['^a+$'], ['(']],
  ] as const) {
    test(`format ${format}`, () => {
      const schema = { type: 'string', format }
      for (const each of good) assert.equal(checkAgainst(schema, each), undefined, each)
      for (const each of bad) assert.equal(checkAgainst(schema, each), `expected ${format}`, each)
      assert.deepEqual(schemaProblems(schema).unchecked, [])
    })
  }
})

suite('what a schema contains beyond what is checked', () => {
  test('is named wherever it is, except in remarks', () => {
    const schema: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'A thing',
      'x-order': 1,
      properties: {
        colour: { type: 'string', format: 'colour', description: 'of it', default: 'red' },
        old: { minimum: 1, exclusiveMinimum: true },
        any: { items: { anyOf: [{ $dynamicRef: '#x' }] } },
        // Property names are not keywords.
        nullable: { nullable: true },
      },
      $defs: { deep: { contentEncoding: 'base64' } },
    }
    assert.deepEqual(schemaProblems(schema), {
      unchecked: [
        'format: "colour"',
        'exclusiveMinimum: true',
        '$dynamicRef: "#x"',
        'nullable: true',
        'contentEncoding: "base64"',
      ],
      broken: [],
    })
  })

  test('a schema that nobody could check is refused as broken', () => {
    const schema = { items: { $ref: '#/$defs/gone' }, pattern: '(', patternProperties: { '[': {} } }
    assert.deepEqual(schemaProblems(schema).broken, ['pattern: "("', 'pattern: "["', '$ref: "#/$defs/gone"'])
  })
})

suite('a schema from elsewhere', () => {
  test('is checked without what has the form of an older draft', () => {
    const schema: JsonObject = {
      id: 'https://example.com/thing',
      required: true,
      anyOf: [],
      enum: 'any',
      properties: {
        size: { $ref: '#/definitions/size', required: true },
        sizes: { items: 3, minItems: '1', allOf: [null] },
      },
      definitions: {
        size: { id: 'size', minimum: 1, exclusiveMinimum: true, $ref: '#/definitions/number' },
        number: { type: 'number' },
      },
    }
    assert.equal(checkAgainst(schema, { size: 1, sizes: [] }), undefined)
    assert.equal(checkAgainst(schema, { size: 0 }), 'size: expected at least 1')
    assert.equal(checkAgainst(schema, { size: 'x' }), 'size: expected number, received string')
    assert.deepEqual(schemaProblems(schema).broken, [])
  })

  test('may be frozen, and stays as it is', () => {
    const schema = Object.freeze({
      items: Object.freeze({ $ref: '#/$defs/a' }),
      $defs: Object.freeze({ a: { type: 'string' } }),
    })
    const before = JSON.stringify(schema)
    assert.equal(checkAgainst(schema, [1]), '[0]: expected string, received number')
    assert.equal(JSON.stringify(schema), before)
    assert.deepEqual(Object.getOwnPropertyNames(schema), ['items', '$defs'])
  })

  test('with a reference that is no address is broken, and does not throw', () => {
    const schema = { $ref: 'http://[' }
    assert.deepEqual(schemaProblems(schema).broken, ['$ref: "http://["'])
    assert.match(checkAgainst(schema, 1) ?? '', /^cannot be checked: /)
  })

  test('cannot be fooled by names that every object has', () => {
    const schema: JsonObject = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}')
    assert.equal(checkAgainst(schema, JSON.parse('{"__proto__":1}')), '__proto__: expected string, received number')
    assert.equal(checkAgainst(schema, { constructor: 1 }), 'unknown property constructor')
    assert.equal(checkAgainst({ required: ['toString'] }, {}), 'missing toString')
    assert.deepEqual(schemaProblems({ format: 'constructor' }).unchecked, ['format: "constructor"'])
  })

  test('with a pattern that backtracks without end cannot be checked, which is known soon', () => {
    const texts = { text: `${'a'.repeat(40)}!` }
    const checked = checkAgainst({ properties: { text: { pattern: '^(a+)+$' } } }, texts)
    assert.equal(checked, 'cannot be checked: it takes longer than 1000 ms')
    assert.equal(checkAgainst({ properties: { text: { pattern: '^a+!$' } } }, texts), undefined)
    assert.match(
      checkAgainst({ patternProperties: { '(e|e)xt$': { type: 'number' } } }, texts) ?? '',
      /^text: expected/,
    )
  })

  test('undefined is no value', () => {
    assert.equal(checkAgainst({ type: ['object', 'null'] }, undefined), 'expected object or null, received undefined')
    assert.match(checkAgainst({ properties: { a: {} } }, { a: undefined }) ?? '', /^cannot be checked: .*undefined/)
  })

  test('is checked where code generation is forbidden', () => {
    const file = new URL('json-schema-check.ts', import.meta.url).href
    const script = `import { checkAgainst } from ${JSON.stringify(file)}; console.log(checkAgainst({ type: 'string' }, 1))`
    const args = ['--disallow-code-generation-from-strings', '--input-type=module', '-e', script]
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), 'expected string, received number\n')
  })
})
