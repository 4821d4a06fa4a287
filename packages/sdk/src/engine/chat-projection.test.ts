import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChatTurn } from '../chat-turn.ts'
import type { LogRecord } from '@inspan/protocol/log'
import type { ChatEvent } from '../index.ts'
import { ChatProjection } from './chat-projection.ts'

type ToolResult = Extract<LogRecord['body'], { type: 'tool-result' }>

type StepEnded = Extract<LogRecord['body'], { type: 'step.ended' }>

const FIRST = { v: 1, stream: 't', seq: 1, at: 0 }

function project(): { readonly projection: ChatProjection; readonly events: readonly ChatEvent[] } {
  const turn = new ChatTurn()
  const events: ChatEvent[] = []
  turn.onEvent((event) => events.push(event))
  const projection = new ChatProjection({
    turn,
    approval: undefined,
    holdsErrors: false,
    isForeign: true,
    isConsumerTool: () => false,
    originOf: () => ({}),
    isWanted: () => true,
  })
  return { projection, events }
}

test('a failed result has an error, made of its text if there is no other, and none if it is empty', () => {
  const { events, projection } = project()
  const tell = (told: Pick<ToolResult, 'result' | 'isError' | 'error'>): void => {
    const body = { type: 'tool-result', messageId: 'm', partId: '0', toolCallId: 'c', toolName: 't', ...told } as const
    projection.record({ ...FIRST, body })
  }
  for (const result of ['No.', '', { a: 1 }]) tell({ result, isError: true })
  tell({ result: 'No.', isError: true, error: { name: 'TypeError', message: 'Told.' } })
  tell({ result: 'Yes.' })
  const errors = events.flatMap((event) => (event.type === 'tool-result' ? [event.error?.message] : []))
  assert.deepEqual(errors, ['No.', undefined, undefined, 'Told.', undefined])
})

test('usage is reported until a count of it was estimated, and has its cost', () => {
  const { projection } = project()
  const step = (counted: Omit<NonNullable<StepEnded['usage']>, 'scope'>): void => {
    const usage = { ...counted, scope: 'own' } as const
    projection.record({ ...FIRST, body: { type: 'step.ended', stepIndex: 0, finishReason: 'stop', usage } })
  }
  assert.equal(projection.usage, undefined)
  step({ inputTokens: 3, source: 'reported', costUsd: 0.5 })
  assert.deepEqual(projection.usage, { inputTokens: 3, costUsd: 0.5, source: 'reported' })
  step({ inputTokens: 4, source: 'estimated', costUsd: 0.25, estimatedUsd: 0.25 })
  const estimated = { estimatedUsd: 0.25, source: 'estimated' }
  assert.deepEqual(projection.usage, { inputTokens: 7, costUsd: 0.75, ...estimated })
})

test('progress has the call, its tool, what there is to show, and the call that it belongs to', () => {
  const { events, projection } = project()
  const part = { messageId: 'm', partId: '0' }
  const call = { toolCallId: 'c', toolName: 'build' }
  projection.delta({ type: 'tool-progress', ...part, ...call, output: 'half' })
  projection.delta({ type: 'tool-progress', ...part, ...call, parentToolCallId: 'p' })
  // What a subagent says is the progress of the call that started it.
  projection.delta({ type: 'text-delta', ...part, partId: '1', text: 'Looking.', parentToolCallId: 'p' })
  assert.deepEqual(events, [
    { type: 'start' },
    { type: 'tool-progress', ...call, output: 'half' },
    { type: 'tool-progress', ...call, parentToolCallId: 'p' },
    { type: 'tool-progress', toolCallId: 'p', toolName: 'subagent', output: 'Looking.', parentToolCallId: 'p' },
  ])
})
