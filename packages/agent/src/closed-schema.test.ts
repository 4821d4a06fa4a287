import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
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

  test('stays as it is where it says what else there may be, and where it is put together', () => {
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
})
