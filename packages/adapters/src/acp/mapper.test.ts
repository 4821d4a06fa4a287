import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brief } from '../../test/brief.ts'
import { mapRun } from '../../test/support.ts'
import { acpDialect } from './mapper.ts'

const making = {
  method: 'session/update',
  params: {
    sessionId: 's',
    update: { sessionUpdate: 'tool_call', toolCallId: 'c', kind: 'execute', rawInput: { command: 'make' } },
  },
}

describe('ACP: the failure of a turn is the last one reported', () => {
  it('when the agent answers with an error', () => {
    const answer = { id: 3, error: { code: -32603, message: 'No key' } }
    assert.deepEqual(brief(mapRun(acpDialect, [making, answer]).activity), ['command make ✗', 'error [-32603]: No key'])
  })

  it('when it does not answer', () => {
    assert.deepEqual(brief(mapRun(acpDialect, [making]).activity), [
      'command make ✗',
      'error [no-answer]: The agent ended before it had answered.',
    ])
  })
})

it('notifications of a vendor are counted and not shown', () => {
  const ticks = Array.from({ length: 300 }, (_, n) => ({ jsonrpc: '2.0', method: '_x.ai/tick', params: { n } }))
  const { activity, sums } = mapRun(acpDialect, [...ticks, { jsonrpc: '2.0', method: 'session/surprise' }])
  assert.deepEqual([sums.reasons['vendor'], sums.unknown], [300, 1])
  assert.equal(brief(activity).filter((line) => line.startsWith('unknown')).length, 1)
})

it('a rejected call whose command is a list is unknown; one that ran is a command', () => {
  const call = (fields: object): object => ({
    method: 'session/update',
    params: {
      sessionId: 's',
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'c',
        kind: 'execute',
        rawInput: { command: ['make', 'all'] },
        ...fields,
      },
    },
  })
  const answer = { id: 3, result: { stopReason: 'end_turn' } }
  const shown = (fields: object): readonly string[] => brief(mapRun(acpDialect, [call(fields), answer]).activity)
  assert.match(shown({ status: 'failed' }).join(), /^unknown/)
  assert.match(shown({ status: 'completed' }).join(), /^command make all/)
})

it('an answer cut off at the output limit ends with length and a warning', () => {
  const { activity, events } = mapRun(acpDialect, [{ id: 3, result: { stopReason: 'max_tokens' } }])
  assert.deepEqual(brief(activity), ['warning [output-limit]: The answer was cut off at the output limit.'])
  assert.equal(events.find((event) => event.type === 'finish')?.finishReason, 'length')
})
