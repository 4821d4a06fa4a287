import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agentEventsByType, arbitraryLog, arbitraryStoredMessage } from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import { z } from 'zod'
import { jsonSchemaFile, jsonSchemaOf, PUBLISHED } from './json-schema.ts'
import type { SchemaName } from './schemas.ts'

const generator = fileURLToPath(new URL('../../scripts/generate-schemas.ts', import.meta.url))

/** Reads the JSON Schema back from its text alone, with code that did not write it. */
async function published(name: SchemaName): Promise<z.ZodType> {
  const file = new URL(`../../schemas/${jsonSchemaFile(name)}`, import.meta.url)
  return z.fromJSONSchema(JSON.parse(await readFile(file, 'utf8')) as Parameters<typeof z.fromJSONSchema>[0])
}

suite('the published JSON Schema files', () => {
  test('are what the generator writes', async () => {
    await promisify(execFile)(process.execPath, [generator, '--check'])
  })

  test('can be imported from the package by name', async () => {
    const file = new URL(import.meta.resolve('@inspan/protocol/schemas/log-record.json'))
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), jsonSchemaOf('LogRecord'))
  })

  test('have a readable name each', () => {
    assert.equal(jsonSchemaFile('LogRecord'), 'log-record.json')
    assert.equal(new Set(PUBLISHED.map(jsonSchemaFile)).size, PUBLISHED.length)
  })

  test('are complete: every reference is answered within the file', () => {
    for (const name of PUBLISHED) {
      const schema = jsonSchemaOf(name)
      const defs = schema['$defs']
      assert.ok(typeof defs === 'object' && defs !== null)
      for (const [, target] of JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
        assert.ok(target !== undefined && target in defs, `${name} refers to ${target}`)
      }
    }
  })

  test('accept what we write', async () => {
    const [event, message, record] = [
      await published('AgentEvent'),
      await published('StoredMessage'),
      await published('LogRecord'),
    ]
    fc.assert(fc.property(fc.oneof(...Object.values(agentEventsByType)), (value) => event.safeParse(value).success))
    fc.assert(fc.property(arbitraryStoredMessage, (value) => message.safeParse(value).success))
    fc.assert(
      fc.property(arbitraryLog(), (records) => records.every((value) => record.safeParse(value).success)),
      { numRuns: 30 },
    )
  })

  test('refuse what we do not', async () => {
    const event = await published('AgentEvent')
    assert.equal(event.safeParse({ type: 'text-delta', text: 'hi' }).success, true)
    assert.equal(event.safeParse({ type: 'text-delta' }).success, false)
    assert.equal(event.safeParse({ type: 'text-delta', text: 1 }).success, false)
    assert.equal(event.safeParse({ type: 'no-such-event', text: 'hi' }).success, false)
    const frame = await published('DeltaFrame')
    const op = (path: readonly string[]): unknown => ({ type: 'delta', seq: 1, operations: [{ type: 'remove', path }] })
    assert.equal(frame.safeParse(op(['messages', 'm1'])).success, true)
    assert.equal(frame.safeParse(op(['__proto__', 'm1'])).success, false)
  })
})
