import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryCommand, arbitraryRecordBody } from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import type { z } from 'zod'
import { isSafeSegment } from '../op.ts'
import { safeSegment } from './fields.ts'
import { schemas, type SchemaName } from './schemas.ts'
import { LIMITS } from './untrusted.ts'

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success
}

/** Asserts that a value is plain data throughout, without an own `__proto__`. */
function assertClean(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  assert.ok(!Object.hasOwn(value, '__proto__'))
  const prototype: unknown = Object.getPrototypeOf(value)
  assert.ok(prototype === Object.prototype || prototype === Array.prototype || prototype === null)
  for (const item of Object.values(value)) assertClean(item)
}

/** Returns the value parsed from the same JSON text with `"__proto__": {"polluted": true}` in every object. */
function poison(value: object): object {
  const text = JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) ? { ...item, '@poison@': 1 } : item,
  )
  return JSON.parse(text.replaceAll('"@poison@":1', '"__proto__":{"polluted":true}')) as object
}

suite('unknown keys', () => {
  test('stay in what we keep: an older version hands on what a newer one wrote', () => {
    fc.assert(
      fc.property(arbitraryRecordBody, (body) => {
        const newer = { ...body, addedLater: { deep: [1] } }
        assert.deepEqual(schemas.RecordBody.parse(newer), newer)
      }),
    )
    const nested = { type: 'binding.changed', binding: { agentId: 'a', nativeId: 'n', syncedTo: 0, later: true } }
    assert.deepEqual(schemas.RecordBody.parse(nested), nested)
  })

  test('are dropped from what a client sends', () => {
    fc.assert(
      fc.property(arbitraryCommand, (command) => {
        assert.deepEqual(schemas.Command.parse({ ...command, admin: true }), command)
      }),
    )
  })
})

suite('__proto__', () => {
  test('as a key never reaches what was parsed, at any depth, and pollutes nothing', () => {
    const bodies = fc.oneof(
      fc.tuple(fc.constant<SchemaName>('RecordBody'), arbitraryRecordBody),
      fc.tuple(fc.constant<SchemaName>('Command'), arbitraryCommand),
    )
    fc.assert(
      fc.property(bodies, ([name, value]) => {
        const schema: z.ZodType = schemas[name]
        const poisoned = poison(value)
        assert.ok(Object.hasOwn(poisoned, '__proto__'))
        const parsed = schema.parse(poisoned)
        assertClean(parsed)
        assert.deepEqual(parsed, value)
      }),
    )
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })

  test('as an id of a client is refused, like every name that reaches a prototype', () => {
    for (const id of ['__proto__', 'constructor', 'prototype', '']) {
      assert.ok(!accepts(schemas.Command, { type: 'approve', toolCallId: id }))
      assert.ok(!accepts(schemas.Command, { type: 'cancel', id }))
      assert.ok(!accepts(schemas.Command, { type: 'cancel', thread: id }))
      assert.ok(!accepts(schemas.Command, { type: 'cancel', expect: { runId: id } }))
      assert.ok(!accepts(schemas.Command, { type: 'rewind', messageId: id }))
      assert.ok(!accepts(schemas.Command, { type: 'resume', prompt: 'x', sessionId: id }))
      assert.ok(!accepts(schemas.Command, { type: 'configure', config: { mode: id } }))
      const hello = JSON.parse(`{"type":"hello","protocol":1,"clientId":"c","threads":{"${id}":1}}`) as unknown
      assert.ok(!accepts(schemas.ClientMessage, hello))
      assert.ok(!accepts(schemas.ClientMessage, { type: 'hello', protocol: 1, clientId: id }))
      assert.ok(!accepts(schemas.Op, { type: 'remove', path: ['head', id] }))
    }
    assert.ok(accepts(schemas.ClientMessage, { type: 'hello', protocol: 1, clientId: 'c', threads: { t: 1, u: null } }))
  })

  test('the pattern of the schemas and the function of the reducer agree on what is safe', () => {
    const segments = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', '', '__proto__\n'))
    fc.assert(fc.property(segments, (segment) => accepts(safeSegment, segment) === isSafeSegment(segment)))
  })
})

suite('the size of what a client sends', () => {
  const submit = (fields: object): unknown => ({ type: 'submit', prompt: 'x', ...fields })
  const attachment = (data: string): object => ({ mimeType: 'image/png', data })

  test('is limited in every field that can grow', () => {
    assert.ok(accepts(schemas.Command, submit({ prompt: 'x'.repeat(LIMITS.text) })))
    assert.ok(!accepts(schemas.Command, submit({ prompt: 'x'.repeat(LIMITS.text + 1) })))
    assert.ok(accepts(schemas.Command, submit({ id: 'x'.repeat(LIMITS.id) })))
    assert.ok(!accepts(schemas.Command, submit({ id: 'x'.repeat(LIMITS.id + 1) })))
    assert.ok(!accepts(schemas.Command, { type: 'configure', config: { model: 'x'.repeat(LIMITS.name + 1) } }))
    assert.ok(!accepts(schemas.Command, { type: 'deny', toolCallId: 'c', reason: 'x'.repeat(LIMITS.text + 1) }))
    const many = Array.from({ length: LIMITS.attachments + 1 }, () => attachment('AAAA'))
    assert.ok(accepts(schemas.Command, submit({ attachments: many.slice(1) })))
    assert.ok(!accepts(schemas.Command, submit({ attachments: many })))
    const commands = Array.from({ length: LIMITS.commands + 1 }, () => ({ type: 'cancel' }))
    assert.ok(accepts(schemas.ClientMessage, { type: 'commands', commands: commands.slice(1) }))
    assert.ok(!accepts(schemas.ClientMessage, { type: 'commands', commands }))
    const threads = Object.fromEntries(Array.from({ length: LIMITS.threads + 1 }, (_none, at) => [`t${at}`, at]))
    assert.ok(!accepts(schemas.ClientMessage, { type: 'hello', protocol: 1, clientId: 'c', threads }))
  })

  test('is limited for attachments, which are base64 and nothing else', () => {
    assert.ok(accepts(schemas.Command, submit({ attachments: [attachment('A'.repeat(LIMITS.attachmentData))] })))
    for (const data of ['', 'A', 'AAA', 'AA=A', 'AAA!', 'data:image/png;base64,AAAA', 'AAAA\n']) {
      assert.ok(!accepts(schemas.Command, submit({ attachments: [attachment(data)] })), data)
    }
    assert.ok(!accepts(schemas.Command, submit({ attachments: [attachment('A'.repeat(LIMITS.attachmentData + 4))] })))
    assert.ok(!accepts(schemas.Command, submit({ attachments: [{ mimeType: 'no type', data: 'AAAA' }] })))
  })

  test('is limited in depth: an answer that would overflow a recursive reader is refused', () => {
    const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    assert.ok(accepts(schemas.Command, { type: 'approve', toolCallId: 'c', answer: nested(LIMITS.jsonDepth) }))
    assert.ok(!accepts(schemas.Command, { type: 'approve', toolCallId: 'c', answer: nested(LIMITS.jsonDepth + 2) }))
    assert.ok(!accepts(schemas.Command, { type: 'approve', toolCallId: 'c', answer: nested(200_000) }))
    assert.ok(accepts(schemas.JsonValue, nested(200_000)), 'what a tool returned may be deeper')
  })

  test('every input gets yes or no, and never throws', () => {
    const types = fc.constantFrom('hello', 'commands', 'submit', 'approve', 'configure', 'nonsense')
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), types, fc.anything(), (fields, type, commands) => {
        schemas.ClientMessage.safeParse({ ...fields, type, commands })
        schemas.ClientMessage.safeParse({ type: 'commands', commands: [{ ...fields, type }] })
        schemas.ClientMessage.safeParse(commands)
      }),
    )
  })
})
