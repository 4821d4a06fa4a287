import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  agentEventsByType,
  arbitraryActivityEvent,
  arbitraryActivityNote,
  arbitraryAgentEvent,
  arbitraryAnswer,
  arbitraryBinding,
  arbitraryBlobRef,
  arbitraryCapabilities,
  arbitraryCommand,
  arbitraryCommandRow,
  arbitraryDeltaFrame,
  arbitraryErrorData,
  arbitraryEventMeta,
  arbitraryGoal,
  arbitraryGrants,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryLineage,
  arbitraryNativeRef,
  arbitraryOp,
  arbitraryOwner,
  arbitraryPart,
  arbitraryRecordBody,
  arbitraryRules,
  arbitraryStoredMessage,
  arbitraryThreadInfo,
  arbitraryTurn,
  arbitraryUsage,
  arbitraryUsageIncrement,
  arbitraryUsageTotals,
  arbitraryWaitRequest,
  arbitraryWaitRow,
  commandsByType,
  partsByType,
  recordBodiesByType,
} from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import type { z } from 'zod'
import { schemas, type SchemaName } from './schemas.ts'

const ARBITRARIES: { readonly [Name in SchemaName]?: fc.Arbitrary<unknown> } = {
  JsonValue: arbitraryJsonValue,
  JsonObject: arbitraryJsonObject,
  ErrorData: arbitraryErrorData,
  BlobRef: arbitraryBlobRef,
  UsageMetadata: arbitraryUsage,
  UsageIncrement: arbitraryUsageIncrement,
  UsageTotals: arbitraryUsageTotals,
  ActivityEvent: arbitraryActivityEvent,
  ActivityNote: arbitraryActivityNote,
  NativeRef: arbitraryNativeRef,
  EventMeta: arbitraryEventMeta,
  AgentEvent: arbitraryAgentEvent,
  Part: arbitraryPart,
  StoredMessage: arbitraryStoredMessage,
  WaitRequest: arbitraryWaitRequest,
  Answer: arbitraryAnswer,
  PermissionRules: arbitraryRules,
  Grants: arbitraryGrants,
  Goal: arbitraryGoal,
  Binding: arbitraryBinding,
  StoredLineage: arbitraryLineage,
  RecordBody: arbitraryRecordBody,
  Op: arbitraryOp,
  DeltaFrame: arbitraryDeltaFrame,
  ThreadInfo: arbitraryThreadInfo,
  CommandRow: arbitraryCommandRow,
  WaitRow: arbitraryWaitRow,
  Owner: arbitraryOwner,
  Capabilities: arbitraryCapabilities,
  Turn: arbitraryTurn,
  Command: arbitraryCommand,
}

/** Unions by `type`, with an arbitrary for each variant. */
const UNIONS: { readonly [Name in SchemaName]?: Readonly<Record<string, fc.Arbitrary<object>>> } = {
  AgentEvent: agentEventsByType,
  Part: partsByType,
  RecordBody: recordBodiesByType,
  Command: commandsByType,
}

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success
}

suite('whatever we write can be read', () => {
  for (const [name, arbitrary] of Object.entries(ARBITRARIES)) {
    const schema: z.ZodType = schemas[name as SchemaName]
    test(`${name}: every value passes and comes through JSON unchanged`, () => {
      fc.assert(
        fc.property(arbitrary, (value) => {
          assert.deepEqual(schema.parse(value), value)
          assert.deepEqual(schema.parse(JSON.parse(JSON.stringify(value))), value)
        }),
      )
    })
  }
})

suite('what we did not write is refused', () => {
  for (const [name, variants] of Object.entries(UNIONS)) {
    const schema: z.ZodType = schemas[name as SchemaName]
    for (const [type, arbitrary] of Object.entries(variants)) {
      test(`${name} "${type}" under a name that nobody knows, or under none`, () => {
        fc.assert(
          fc.property(arbitrary, fc.string(), (value, other) => {
            assert.ok(accepts(schema, { ...value, type }))
            assert.ok(other in variants || !accepts(schema, { ...value, type: other }))
            assert.ok(!accepts(schema, { ...value, type: undefined }))
            assert.ok(!accepts(schema, { ...value, type: [type] }))
          }),
          { numRuns: 20 },
        )
      })
    }
  }

  test('a value of one variant is none of another', () => {
    for (const [name, schema] of Object.entries(schemas) as [SchemaName, z.ZodType][]) {
      const tags: unknown = schema._zod.propValues?.['type']
      if (!(tags instanceof Set) || tags.size !== 1) continue
      const [tag] = [...tags].map(String)
      for (const variants of Object.values(UNIONS)) {
        for (const [type, arbitrary] of Object.entries(variants)) {
          if (type === tag) continue
          for (const value of fc.sample(arbitrary, { numRuns: 2, seed: 1 })) {
            assert.ok(!accepts(schema, value), `${name} takes a value of type ${type}`)
          }
        }
      }
    }
  })

  test('refuses values that are not JSON', () => {
    for (const value of [undefined, Number.NaN, Infinity, 1n, new Date(), new Map(), () => 1, Symbol('x')]) {
      assert.ok(!accepts(schemas.JsonValue, value))
      assert.ok(!accepts(schemas.JsonValue, [value]))
      assert.ok(!accepts(schemas.JsonObject, { value }))
    }
    for (const value of [null, [], 'text', 1]) assert.ok(!accepts(schemas.JsonObject, value))
  })

  test('an optional field that is there but undefined', () => {
    assert.ok(accepts(schemas.ErrorData, { name: 'Error', message: '' }))
    assert.ok(!accepts(schemas.ErrorData, { name: 'Error', message: '', code: undefined }))
  })
})
