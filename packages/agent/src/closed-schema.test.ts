import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { z } from 'zod'
import { closedSchema } from './closed-schema.ts'
import { jsonSchemaOf } from './schema.ts'

suite('a closed schema', () => {
  test('has no properties but those it names, however deep', () => {
    const leaf = z.object({ text: z.string() })
    const schema = z.object({
      one: leaf,
      many: z.array(leaf),
      either: z.union([leaf, z.string()]),
      none: leaf.nullable(),
      pair: z.tuple([leaf, leaf]),
      byName: z.record(z.string(), leaf),
    })
    const closed = JSON.stringify(closedSchema(jsonSchemaOf(schema, 'the test')))
    const objects = closed.split('"properties":').length - 1
    assert.equal(objects, 8)
    assert.equal(closed.split('"additionalProperties":false').length - 1, objects)
  })

  test('stays as it is where it allows further properties, and where it is composed', () => {
    const loose = { type: 'object', properties: { a: {} }, additionalProperties: true } as const
    assert.deepEqual(closedSchema(loose), loose)
    const joined = {
      allOf: [
        { type: 'object', properties: { a: {} } },
        { type: 'object', properties: { b: {} } },
      ],
    }
    assert.deepEqual(closedSchema(joined), joined)
    const any = { type: 'object' }
    assert.deepEqual(closedSchema(any), any)
  })

  test('stays open where it is put together of what has a name, and a name alone opens nothing', () => {
    const named = z.object({ a: z.string() }).meta({ id: 'Named' })
    const joined = z.object({ both: z.intersection(named, z.object({ b: z.string() })) })
    const { definitions } = closedSchema(jsonSchemaOf(joined, 'the test')) as { definitions: { Named: JsonObject } }
    assert.equal(definitions.Named['additionalProperties'], undefined)
    const alone = closedSchema(jsonSchemaOf(z.object({ one: named, two: named }), 'the test'))
    assert.equal((alone as { definitions: { Named: JsonObject } }).definitions.Named['additionalProperties'], false)
  })
})
