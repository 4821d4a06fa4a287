import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { kiloCodeDialect } from './mapper.ts'

interface Mapped extends Omit<MappedRun, 'activity'> {
  readonly activity: readonly object[]
}

function map(lines: readonly unknown[], options?: RunOptions): Mapped {
  const mapped = mapRun(kiloCodeDialect, lines, options)
  return { ...mapped, activity: unstamped(mapped.activity) }
}

function record(type: string, part: JsonObject): JsonObject {
  return { type, timestamp: 1, sessionID: 'ses_k', part: { sessionID: 'ses_k', messageID: 'msg_k', ...part } }
}

const failed = (error: JsonObject | string): JsonObject => ({ type: 'error', timestamp: 1, sessionID: 'ses_k', error })

function endOf(events: MappedRun['events']): string | undefined {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.finishReason : undefined
}

describe('Kilo Code: records', () => {
  it('are those of OpenCode, under the name of Kilo Code', () => {
    const { events, mapper } = map([
      record('step_start', { id: '1' }),
      record('reasoning', { id: '2', text: 'Hm.' }),
      record('text', { id: '3', text: 'Hello.' }),
      record('step_finish', {
        id: '4',
        reason: 'stop',
        tokens: { total: 1050, input: 800, output: 40, reasoning: 10, cache: { read: 200, write: 0 } },
        cost: 0,
        metrics: { generation: 1, source: 'x' },
        time: { start: 1, end: 2, elapsed: 1 },
      }),
    ])
    assert.equal(mapper.id, 'kilo-code')
    assert.equal(mapper.sessionId, 'ses_k')
    const said = events.find((event) => event.type === 'text-delta')
    assert.equal(said?.activity?.mapper, 'kilo-code')
    const finish = events.find((event) => event.type === 'finish')
    assert.equal(finish?.finishReason, 'stop')
    assert.deepEqual(finish?.usage, {
      inputTokens: 800,
      outputTokens: 50,
      totalTokens: 1050,
      reasoningTokens: 10,
      cachedInputTokens: 200,
      cacheWriteInputTokens: 0,
      costUsd: 0,
      source: 'reported',
      scope: 'own',
    })
  })

  it('a refused permission ends the run with a readable error', () => {
    const sentence = 'run ended with an auto-rejected permission; pass --auto for autonomous use'
    const { activity } = map(
      [
        record('step_start', {}),
        record('tool_use', {
          tool: 'bash',
          callID: 'c',
          state: { status: 'error', input: { command: 'make' }, error: 'Rejected.' },
        }),
        record('step_finish', { reason: 'tool-calls' }),
        failed(sentence),
      ],
      { stderr: ['\u001b[91m\u001b[1mError: \u001b[0mrejected'], end: { exitCode: 1 } },
    )
    assert.deepEqual(activity, [
      { type: 'warning', message: 'Error: rejected' },
      { type: 'command', command: 'make', isSuccess: false },
      { type: 'error', message: sentence },
    ])
  })

  it('two error records of one failure become one error, the one with more detail', () => {
    const { activity } = map(
      [failed({ name: 'UnknownError', data: { message: 'Unexpected.' } }), failed('Model not found: a/b')],
      { end: { exitCode: 1 } },
    )
    assert.deepEqual(activity, [{ type: 'error', message: 'Model not found: a/b' }])
  })

  it('a stream that was cut is an error, followed by the half that had arrived', () => {
    const { activity, events } = map(
      [
        record('step_start', {}),
        failed({ name: 'APIError', data: { message: 'Reset.', metadata: { code: 'ECONNRESET' } } }),
        record('text', { id: 't', text: 'This is ha' }),
      ],
      { end: { exitCode: 1 } },
    )
    assert.deepEqual(activity, [
      { type: 'error', message: 'Reset.', code: 'APIError' },
      { type: 'agent', message: 'This is ha' },
    ])
    assert.equal(events.find((event) => event.type === 'text-delta')?.meta?.interrupted, true)
    assert.equal(endOf(events), 'error')
  })

  it('the last of two error records counts, not the longest', () => {
    const first = failed({
      name: 'APIError',
      data: { message: 'Unauthorized: the request was refused by the server.' },
    })
    const { activity, events } = map([first, failed('No key.')], { end: { exitCode: 1 } })
    assert.deepEqual(activity, [{ type: 'error', message: 'No key.' }])
    assert.equal(endOf(events), 'error')
  })
})
