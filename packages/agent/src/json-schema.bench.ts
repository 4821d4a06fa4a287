/**
 * What the input of a tool costs to check, relative to Ajv, which compiles each schema to code first. A program meets most
 * schemas few times, and may run where code must not be generated.
 */
import type { JsonObject } from '@inspan/protocol'
import { compare, report } from '@inspan/testing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkAgainst } from './json-schema-check.ts'

const SCHEMAS = 50
const CHECKS = 100
const VALUE = { path: 'src/a.ts', edits: [{ old_string: 'a', new_string: 'b' }], mode: 'exact', limit: 3 }

/** A schema that was never seen before. */
function toolSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1 },
      edits: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { old_string: { type: 'string' }, new_string: { type: 'string' } },
          required: ['old_string', 'new_string'],
          additionalProperties: false,
        },
      },
      mode: { enum: ['exact', 'lines'] },
      limit: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }] },
    },
    required: ['path', 'edits'],
    additionalProperties: false,
  }
}

function assertFits(fits: boolean): void {
  if (!fits) throw new Error('The value was refused.')
}

report(
  await compare({
    name: 'checking the first input of a tool, relative to Ajv with its compilation',
    limit: 1,
    clock: 'cpu',
    floor: () => {
      for (let n = 0; n < SCHEMAS; n++) assertFits(new Ajv2020().compile(toolSchema())(VALUE))
      return SCHEMAS
    },
    ours: () => {
      for (let n = 0; n < SCHEMAS; n++) assertFits(checkAgainst(toolSchema(), VALUE) === undefined)
      return SCHEMAS
    },
  }),
)

/** Compiled code is faster per check, so it wins for a tool that is called often enough. */
report(
  await compare({
    name: 'checking 100 inputs of a tool, relative to Ajv with its compilation',
    limit: 1,
    clock: 'cpu',
    floor: () => {
      const check = new Ajv2020().compile(toolSchema())
      for (let n = 0; n < CHECKS; n++) assertFits(check(VALUE))
      return CHECKS
    },
    ours: () => {
      const schema = toolSchema()
      for (let n = 0; n < CHECKS; n++) assertFits(checkAgainst(schema, VALUE) === undefined)
      return CHECKS
    },
  }),
)
