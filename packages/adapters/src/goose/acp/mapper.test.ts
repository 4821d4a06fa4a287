import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mapRun, unstamped } from '../../../test/support.ts'
import { gooseAcpDialect } from './mapper.ts'

const update = (fields: object): object => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's1', update: fields },
})
const opened = { jsonrpc: '2.0', id: 1, result: { sessionId: 's1' } }
const answered = { jsonrpc: '2.0', id: 2, result: { stopReason: 'end_turn' } }
const map = (...updates: readonly object[]): readonly object[] =>
  unstamped(mapRun(gooseAcpDialect, [opened, ...updates.map(update), answered], { end: { exitCode: null } }).activity)

describe('Goose over ACP: no answer', () => {
  it('no answer of the model is an error, reported in the agent’s place', () => {
    const text = 'The model returned an empty response. Please resend your message to continue.'
    assert.deepEqual(map({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }), [
      { type: 'error', message: text },
    ])
  })

  it('no answer of a subagent is its failure, reported in its result', () => {
    const text =
      'Ran into this error: Bad request.\n\nPlease retry if you think this is a transient or recoverable error.'
    const toolCallId = 'c1'
    const goose = { toolCall: { toolName: 'delegate', extensionName: 'summon' } }
    const rawInput = { source: 'reviewer' }
    assert.deepEqual(
      map(
        { sessionUpdate: 'tool_call', toolCallId, title: 'delegate', rawInput, _meta: { goose } },
        {
          sessionUpdate: 'tool_call_update',
          toolCallId,
          status: 'completed',
          content: [{ type: 'content', content: { type: 'text', text } }],
        },
      ),
      [{ type: 'orchestration', action: 'subagent_failed', subagentName: 'reviewer', isSuccess: false }],
    )
  })
})
