import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE_EVENTS } from '../test/harness-event-samples.ts'
import { holds, type Equal, type IsUnion } from '../test/type-check.ts'
import type { ErrorData } from './error-data.ts'
import {
  HARNESS_EVENT_TYPES,
  toWireEvent,
  type HarnessEvent,
  type HarnessEventType,
  type WireEvent,
} from './harness-event.ts'
import type { JsonValue } from './json.ts'

test('the list of types is complete and names each once', () => {
  holds(true satisfies Equal<(typeof HARNESS_EVENT_TYPES)[number], HarnessEventType>)
  assert.equal(new Set(HARNESS_EVENT_TYPES).size, HARNESS_EVENT_TYPES.length)
  assert.deepEqual([...HARNESS_EVENT_TYPES].sort(), Object.keys(SAMPLE_EVENTS).sort())
})

test('no two variants share a type, so that `event.type` decides', () => {
  type Ambiguous = {
    [Type in HarnessEventType]: IsUnion<Extract<HarnessEvent, { type: Type }>> extends false ? never : Type
  }[HarnessEventType]
  holds(true satisfies Equal<Ambiguous, never>)
})

test('every event has a JSON form', () => {
  for (const event of Object.values(SAMPLE_EVENTS)) {
    const wire = toWireEvent(event)
    assert.equal(wire.type, event.type)
    assert.deepEqual(JSON.parse(JSON.stringify(wire)), wire)
  }
})

test('whatever a tool takes and returns, its events can be sent', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true })
  fc.assert(
    fc.property(anything, anything, (args, result) => {
      const events: HarnessEvent[] = [
        { type: 'tool_start', toolCallId: 'c', toolName: 't', args },
        { type: 'tool_end', toolCallId: 'c', toolName: 't', result, isError: false },
        { type: 'tool_suspended', toolCallId: 'c', toolName: 't', args, suspendPayload: result },
      ]
      for (const event of events) {
        const wire = toWireEvent(event)
        assert.deepEqual(JSON.parse(JSON.stringify(wire)), wire)
      }
    }),
  )
})

test('dates, errors and maps of an event become text, data and records', () => {
  const update = toWireEvent(SAMPLE_EVENTS.message_update)
  assert(update.type === 'message_update')
  assert.equal(update.message.createdAt, '2026-03-01T12:00:00.000Z')

  assert.deepEqual(toWireEvent(SAMPLE_EVENTS.error), {
    type: 'error',
    error: { name: 'Error', message: 'broken', cause: { name: 'TypeError', message: 'deeper' } },
    retryable: true,
  })

  const display = toWireEvent(SAMPLE_EVENTS.display_state_changed)
  assert(display.type === 'display_state_changed')
  assert.deepEqual(display.displayState.activeTools, {
    c1: { name: 'read_file', args: { path: 'a.txt' }, status: 'running' },
  })
  assert.deepEqual(display.displayState.modifiedFiles, {
    'a.txt': { operations: ['write'], firstModified: '2026-03-01T12:00:00.000Z' },
  })
})

test('the wire type has the same events with JSON in them', () => {
  holds(true satisfies Equal<WireEvent['type'], HarnessEventType>)
  holds(true satisfies Equal<Extract<WireEvent, { type: 'error' }>['error'], ErrorData>)
  holds(true satisfies Equal<Extract<WireEvent, { type: 'tool_end' }>['result'], JsonValue>)
  holds(true satisfies Equal<Extract<WireEvent, { type: 'message_end' }>['message']['createdAt'], string>)
})
