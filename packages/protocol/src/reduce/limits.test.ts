import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ThreadState } from './draft.ts'
import { NO_RULES } from '../permission.ts'
import type { RecordBody } from '../record.ts'
import { emptyState, reduce } from './reduce.ts'

function fold(bodies: readonly RecordBody[], start: ThreadState = emptyState('t')): ThreadState {
  return bodies.reduce(
    (state, body) => reduce(state, { v: 1, stream: 't', seq: state.head.seq + 1, at: 0, body }).state,
    start,
  )
}

const OPEN: readonly RecordBody[] = [
  { type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES },
  { type: 'message.started', messageId: 'm', role: 'assistant' },
]
const CALL = { messageId: 'm', partId: '0', toolCallId: 'c', toolName: 'run' } as const

suite('what the fold does not let grow or go back', () => {
  test('live output is a window: of much only the last 64 KB stay', () => {
    const piece = 'x'.repeat(1024)
    const progress: RecordBody = { type: 'batch', event: { type: 'tool-progress', ...CALL, output: piece } }
    let state = fold(OPEN)
    for (let i = 0; i < 1000; i++) {
      state = fold([progress], state)
      const part = state.messages.at(0)?.parts.at(0)
      assert.ok(part?.type === 'tool-result' && (part.output ?? '').length <= 128 * 1024)
    }
    const end: RecordBody = { type: 'batch', event: { type: 'tool-progress', ...CALL, output: 'the end' } }
    const part = fold([end], state).messages.at(0)?.parts.at(0)
    assert.ok(part?.type === 'tool-result' && part.output?.endsWith('xthe end'))
  })

  test('a call that has ended does not begin again', () => {
    const started: RecordBody = { type: 'call.started', ...CALL, attempt: 1, idempotencyKey: 'r:c' }
    const state = fold([
      ...OPEN,
      { type: 'tool-call', ...CALL, args: {} },
      started,
      { type: 'tool-result', ...CALL, partId: '1', result: 'done', call: { messageId: 'm', partId: '0' } },
    ])
    const late = fold([started], state)
    const part = late.messages.at(0)?.parts.at(0)
    assert.equal(part?.type === 'tool-call' && part.call.stage, 'ended')
  })

  test('all that a call was judged as is in doubt with it, and no longer when somebody approves it', () => {
    const address = { messageId: 'm', partId: '0' }
    const doubtful = fold([
      ...OPEN,
      { type: 'tool-call', ...CALL, args: {} },
      { type: 'call.started', ...CALL, attempt: 1, idempotencyKey: 'r:c', hash: 'whole', judgedAs: ['a', 'b'] },
      { type: 'tool-result', ...CALL, partId: '1', result: '?', call: address, outcome: 'in-doubt' },
    ])
    assert.deepEqual(doubtful.head.inDoubt, ['a', 'b', 'whole'])
    const wait = {
      id: 'w',
      kind: 'approval',
      description: '',
      subject: { hash: 'other', judgedAs: ['a', 'whole'] },
    } as const
    const asked = fold([{ type: 'wait.opened', wait }], doubtful)
    assert.equal(asked.head.inDoubt.length, 3)
    const answer = (decision: 'approve' | 'decline'): RecordBody => ({
      type: 'wait.answered',
      waitId: 'w',
      answer: { decision },
    })
    assert.deepEqual(fold([answer('decline')], asked).head.inDoubt, ['a', 'b', 'whole'])
    assert.deepEqual(fold([answer('approve')], asked).head.inDoubt, ['b'])
  })

  test('the first of two memories that replace the same one counts', () => {
    const om = (generation: number, blob: string): RecordBody => ({
      type: 'om.committed',
      om: { generation, coversTo: 1, blob },
      replaces: generation - 1,
    })
    const state = fold([om(1, 'first'), om(1, 'second'), om(2, 'next'), om(2, 'late')])
    assert.equal(state.head.om?.blob, 'next')
    assert.equal(fold([om(1, 'first'), om(1, 'second')]).head.om?.blob, 'first')
  })
})
