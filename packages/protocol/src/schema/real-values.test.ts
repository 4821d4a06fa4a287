import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryForkedLog, arbitraryLog } from '@inspan/testing/arbitraries'
import * as fc from 'fast-check'
import { SAMPLE_EVENTS } from '../../test/harness-event-samples.ts'
import { agentEventsOf } from '../replay.ts'
import { applyFrame, emptyView } from '../view.ts'
import { emptyState, reduce } from '../reduce/reduce.ts'
import { eraseBody } from '../record-definition.ts'
import { storedHead } from '../stored-head.ts'
import { storedMessage } from '../reduce/draft.ts'
import { toChatEvent } from '../chat-event.ts'
import { toChatMessage } from '../chat-message.ts'
import { toHarnessMessage } from '../harness-message.ts'
import { toHarnessState } from '../harness-state.ts'
import { toWire } from '../wire-form.ts'
import { toWireEvent } from '../harness-event.ts'
import type { LogRecord } from '../record.ts'
import { schemas } from './schemas.ts'

/** The values come from folding a generated log: none of them was made up to fit a schema. */
const runs = { numRuns: 40 }

function fold(records: readonly LogRecord[], each: (step: ReturnType<typeof reduce>, record: LogRecord) => void): void {
  let state = emptyState(records[0]?.stream ?? 'main')
  for (const record of records) {
    const step = reduce(state, record)
    each(step, record)
    state = step.state
  }
}

suite('what the protocol makes of a log passes its schemas', () => {
  test('the records themselves, also after their content was erased', () => {
    fc.assert(
      fc.property(arbitraryForkedLog({ maxMoves: 40 }), ({ parent, fork }) => {
        for (const record of [...parent, ...fork]) {
          assert.deepEqual(schemas.LogRecord.parse(record), record)
          const erased = { ...record, body: eraseBody(record.body) }
          assert.deepEqual(schemas.LogRecord.parse(erased), erased)
        }
      }),
      runs,
    )
  })

  test('the head, the view rows and the ops of every step', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        fold(records, ({ state, ops, written }) => {
          const head = storedHead(state.head)
          assert.deepEqual(schemas.StoredHead.parse(head), head)
          for (const op of ops) assert.deepEqual(schemas.Op.parse(op), op)
          for (const row of written.map(storedMessage)) assert.deepEqual(schemas.StoredMessage.parse(row), row)
        })
      }),
      runs,
    )
  })

  test('messages to clients and client states pass their schemas', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        let view = emptyView('main')
        fold(records, ({ ops }, { seq }) => {
          const delta = { type: 'delta', seq, operations: ops, thread: 'main' } as const
          assert.deepEqual(schemas.ServerMessage.parse(JSON.parse(JSON.stringify(delta))), delta)
          view = applyFrame(view, delta)
        })
        const state = toHarnessState(view)
        assert.deepEqual(schemas.HarnessState.parse(state), state)
        const snapshot = {
          seq: view.seq,
          head: storedHead(view.head),
          messages: view.messages.toArray().map(storedMessage),
        }
        assert.deepEqual(schemas.ViewSnapshot.parse(JSON.parse(JSON.stringify(snapshot))), snapshot)
      }),
      runs,
    )
  })

  test('the events and messages of the three surfaces', () => {
    fc.assert(
      fc.property(arbitraryLog(), (records) => {
        fold(records, ({ written }, record) => {
          for (const event of agentEventsOf(record)) {
            assert.deepEqual(schemas.AgentEvent.parse(event), event)
            const chatEvent = toChatEvent(event)
            // A chat shows files in its messages and has no event for them.
            assert.equal(chatEvent === undefined, event.type === 'file')
            if (chatEvent === undefined) continue
            const wire = toWire(chatEvent)
            assert.deepEqual(schemas.ChatEvent.parse(wire), wire)
          }
          for (const message of written) {
            const chat = toWire(toChatMessage(message))
            assert.deepEqual(schemas.ChatMessage.parse(chat), chat)
            const harness = toWire(toHarnessMessage(message))
            assert.deepEqual(schemas.HarnessMessage.parse(harness), harness)
          }
        })
      }),
      runs,
    )
  })
})

suite('harness events', () => {
  for (const [type, event] of Object.entries(SAMPLE_EVENTS)) {
    test(`${type} passes in its wire form, and under no other name`, () => {
      const wire = toWireEvent(event)
      assert.deepEqual(schemas.WireEvent.parse(wire), wire)
      assert.ok(!schemas.WireEvent.safeParse({ ...wire, type: `${type}_` }).success)
    })
  }
})
