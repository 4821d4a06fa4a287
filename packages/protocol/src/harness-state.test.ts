import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { arbitraryForkedLog, arbitraryLog, arbitraryRecordBody } from '@inspan/testing/arbitraries'
import fc from 'fast-check'
import type { RunOutcome } from './control-record.ts'
import type { ErrorData } from './error-data.ts'
import { toHarnessState, type HarnessState } from './harness-state.ts'
import { NO_RULES } from './permission.ts'
import type { LogRecord, RecordBody } from './record.ts'
import { emptyState, reduce } from './reduce/reduce.ts'
import { applyFrame, emptyView, type ThreadView } from './view.ts'
import type { WaitKind } from './wait.ts'
import type { HarnessToolCall } from './wire-calls.ts'

/** The view of a client that saw every record of the log. */
function viewOf(records: readonly LogRecord[], stream = 'main'): ThreadView {
  let state = emptyState(stream)
  let view = emptyView(stream)
  for (const record of records) {
    const reduced = reduce(state, record)
    state = reduced.state
    view = applyFrame(view, { type: 'delta', seq: record.seq, operations: reduced.ops })
  }
  return view
}

function stateAfter(...bodies: readonly RecordBody[]): HarnessState {
  return toHarnessState(
    viewOf(bodies.map((body, index) => ({ v: 1, stream: 'main', seq: index + 1, at: 1_000, body }))),
  )
}

const asked: RecordBody = {
  type: 'message.added',
  messageId: 'm1',
  role: 'user',
  parts: [{ id: '0', type: 'text', text: 'Look' }],
}
const runs: RecordBody = { type: 'run.started', runId: 'r1', agentId: 'a', rules: NO_RULES }
const speaks: RecordBody = { type: 'message.started', messageId: 'm2', role: 'assistant' }
const calls: RecordBody = {
  type: 'tool-call',
  messageId: 'm2',
  partId: '0',
  toolCallId: 'c1',
  toolName: 'bash',
  args: { command: 'ls' },
}
const call = { messageId: 'm2', partId: '0' }

function ends(outcome: RunOutcome, error?: ErrorData): RecordBody {
  return { type: 'run.ended', runId: 'r1', outcome, ...(error === undefined ? {} : { error }) }
}

function asks(kind: WaitKind, id = 'w1'): RecordBody {
  const subject = { toolCallId: 'c1', toolName: 'bash', args: { command: 'ls' } }
  return { type: 'wait.opened', wait: { id, kind, subject, description: 'Run ls?' }, call }
}

suite('the status', () => {
  test('is idle at first, running in a run and idle after it', () => {
    assert.deepEqual(stateAfter(), { status: 'idle', messages: [], sessionId: 'main' })
    assert.equal(stateAfter(runs).status, 'running')
    assert.equal(stateAfter(runs, ends('complete')).status, 'idle')
    assert.equal(stateAfter(runs, ends('aborted')).status, 'idle')
  })

  test('is error when the last run failed, and explains why, until the next one', () => {
    const failed = ends('error', { name: 'Error', message: 'overloaded' })
    const state = stateAfter(runs, failed)
    assert.equal(state.status, 'error')
    assert.equal(state.error, 'overloaded')
    assert.equal(stateAfter(runs, ends('interrupted')).error, 'The run was interrupted.')
    assert.equal(stateAfter(runs, ends('error')).error, 'The run failed.')
    assert.equal(stateAfter(runs, failed, runs).error, undefined)
    assert.equal(stateAfter(runs, failed, runs).status, 'running')
  })

  test('is awaiting approval while anything waits for a person, also after the run has ended', () => {
    for (const kind of ['approval', 'question', 'plan', 'access'] as const) {
      assert.equal(stateAfter(runs, speaks, calls, asks(kind)).status, 'awaiting-approval')
    }
    assert.equal(stateAfter(runs, speaks, calls, asks('approval'), ends('interrupted')).status, 'awaiting-approval')
    assert.equal(stateAfter(runs, speaks, calls, asks('tool')).status, 'running')
    const answered: RecordBody = { type: 'wait.answered', waitId: 'w1', answer: { decision: 'approve' } }
    assert.equal(stateAfter(runs, speaks, calls, asks('approval'), answered).status, 'running')
  })
})

suite('pending approvals', () => {
  test('show what waits and how to name it in an answer, the oldest first', () => {
    const question: RecordBody = {
      type: 'wait.opened',
      wait: {
        id: '2',
        kind: 'question',
        subject: {},
        description: 'Which one?',
        payload: { question: 'Which one?' },
        answerSchema: '{"type":"string"}',
      },
    }
    assert.deepEqual(stateAfter(runs, speaks, calls, asks('approval', '10'), question).pendingApprovals, [
      {
        toolCallId: 'c1',
        toolName: 'bash',
        description: 'Run ls?',
        waitId: '10',
        kind: 'approval',
        input: { command: 'ls' },
      },
      {
        toolCallId: '2',
        toolName: 'question',
        description: 'Which one?',
        waitId: '2',
        kind: 'question',
        payload: { question: 'Which one?' },
        answerSchema: '{"type":"string"}',
      },
    ])
  })

  test('are absent when nothing waits', () => {
    assert.equal('pendingApprovals' in stateAfter(runs), false)
  })
})

suite('messages', () => {
  test('have their text as one, and their reasoning and attachments apart', () => {
    const state = stateAfter(
      {
        ...asked,
        parts: [
          { id: '0', type: 'text', text: 'Look' },
          { id: '1', type: 'text', text: 'here' },
          { id: '2', type: 'image', mimeType: 'image/png', data: 'AAAA', fileName: 'a.png' },
          { id: '3', type: 'signal', kind: 'system_reminder', text: 'not for people', data: {} },
        ],
      },
      runs,
      speaks,
      { type: 'reasoning-delta', messageId: 'm2', partId: '0', text: 'hm' },
      { type: 'batch', event: { type: 'text-delta', messageId: 'm2', partId: '1', text: 'I s' } },
      { type: 'batch', event: { type: 'text-delta', messageId: 'm2', partId: '1', text: 'ee' } },
    )
    assert.deepEqual(state.messages, [
      {
        id: 'm1',
        role: 'user',
        content: 'Look\n\nhere',
        status: 'complete',
        attachments: [{ mimeType: 'image/png', data: 'AAAA', fileName: 'a.png' }],
        createdAt: 1_000,
      },
      { id: 'm2', role: 'assistant', content: 'I see', status: 'streaming', reasoning: 'hm', createdAt: 1_000 },
    ])
  })

  test('have the address of a file of which only that is known', () => {
    const url = 'https://example.org/a.png'
    const made = { type: 'file', messageId: 'm2', partId: '0', mimeType: 'image/png', data: '', url } as const
    const { messages } = stateAfter(asked, runs, speaks, made)
    assert.deepEqual(messages.at(-1)?.attachments, [{ mimeType: 'image/png', data: '', url }])
  })

  test('messages that were cut off or failed are marked', () => {
    const text: RecordBody = { type: 'text-delta', messageId: 'm2', partId: '0', text: 'half' }
    const error = { name: 'Error', message: 'x' }
    const ended: RecordBody = { type: 'message.ended', messageId: 'm2', outcome: 'done' }
    assert.equal(stateAfter(runs, speaks, text, ended).messages[0]?.status, 'complete')
    assert.equal(stateAfter(runs, speaks, text, ends('aborted')).messages[0]?.status, 'error')
    assert.equal(stateAfter(runs, speaks, text, { ...ended, error }).messages[0]?.status, 'error')
  })

  test('name a compaction where it happened', () => {
    const { messages } = stateAfter(asked, {
      type: 'message.added',
      messageId: 'm3',
      role: 'system',
      parts: [
        {
          id: '0',
          type: 'signal',
          kind: 'compaction',
          text: '',
          data: { messages: 12, tokensBefore: 34_000, tokensAfter: 2100 },
        },
      ],
    })
    const { content, role } = messages.at(-1) ?? {}
    assert.equal(role, 'system')
    assert.equal(content, '12 earlier messages were summarised for the agent: 34,000 tokens became 2,100.')
  })

  test('with nothing to show are left out', () => {
    const signal: RecordBody = {
      type: 'message.added',
      messageId: 'm3',
      role: 'system',
      parts: [{ id: '0', type: 'signal', kind: 'state_signal', text: 'x', data: {} }],
    }
    const silent: RecordBody = { type: 'message.ended', messageId: 'm2', outcome: 'done' }
    assert.deepEqual(stateAfter(runs, signal, speaks, silent).messages, [])
    assert.equal(stateAfter(runs, speaks).messages.length, 1)
  })
})

suite('a tool call', () => {
  function callAfter(...bodies: readonly RecordBody[]): HarnessToolCall | undefined {
    return stateAfter(runs, speaks, ...bodies).messages[0]?.toolCalls?.[0]
  }
  const started: RecordBody = { type: 'call.started', ...call, toolCallId: 'c1', attempt: 1, idempotencyKey: 'k' }
  const result = {
    type: 'tool-result',
    messageId: 'm2',
    partId: '1',
    toolCallId: 'c1',
    toolName: 'bash',
    call,
  } as const
  const shown = { id: 'c1', name: 'bash', input: { command: 'ls' } }

  test('has no input while that streams in', () => {
    const event = {
      type: 'tool-call-delta',
      ...call,
      toolCallId: 'c1',
      toolName: 'bash',
      argsTextDelta: '{"c',
    } as const
    assert.deepEqual(callAfter({ type: 'batch', event }), { id: 'c1', name: 'bash', status: 'running' })
  })

  test('runs from its order to its result, and shows what it prints', () => {
    assert.deepEqual(callAfter(calls), { ...shown, status: 'running' })
    const event = { type: 'tool-progress', messageId: 'm2', partId: '1', toolCallId: 'c1', toolName: 'bash' } as const
    assert.deepEqual(callAfter(calls, started, { type: 'batch', event: { ...event, output: 'a.txt\n' } }), {
      ...shown,
      status: 'running',
      output: 'a.txt\n',
    })
  })

  test('waits for a person, and runs when it was answered', () => {
    assert.equal(callAfter(calls, asks('approval'))?.status, 'awaiting-approval')
    assert.equal(callAfter(calls, asks('tool'))?.status, 'running')
    const answered: RecordBody = { type: 'wait.answered', waitId: 'w1', answer: { decision: 'approve' } }
    assert.equal(callAfter(calls, asks('approval'), answered)?.status, 'running')
  })

  test('ends complete, denied or in error', () => {
    assert.deepEqual(callAfter(calls, { ...result, result: 'a.txt' }), {
      ...shown,
      status: 'complete',
      output: 'a.txt',
    })
    assert.deepEqual(callAfter(calls, { ...result, result: { files: 2 } })?.output, '{"files":2}')
    assert.equal(callAfter(calls, { ...result, result: null })?.output, undefined)
    const denied = callAfter(calls, { ...result, result: 'no', isError: true, outcome: 'denied' })
    assert.deepEqual(denied, { ...shown, status: 'denied', output: 'no' })
    for (const outcome of ['error', 'aborted', 'in-doubt'] as const) {
      assert.equal(callAfter(calls, { ...result, result: null, outcome })?.status, 'error')
    }
    const failed = callAfter(calls, { ...result, result: null, isError: true, error: { name: 'E', message: 'bad' } })
    assert.deepEqual(failed, { ...shown, status: 'error', output: 'bad' })
  })

  test('a tool call that nobody carries out any more is in error', () => {
    assert.equal(callAfter(calls, started, ends('interrupted'))?.status, 'error')
    const done: RecordBody = { type: 'message.ended', messageId: 'm2', outcome: 'done' }
    assert.equal(callAfter(calls, done)?.status, 'running')
    assert.equal(callAfter(calls, done, ends('aborted'))?.status, 'error')
    const cut: RecordBody = { type: 'message.ended', messageId: 'm2', outcome: 'interrupted' }
    assert.equal(callAfter(calls, cut)?.status, 'error')
  })

  test('finds its result in a later message, which then shows nothing of its own', () => {
    const later: RecordBody = { type: 'message.started', messageId: 'm3', role: 'tool' }
    const state = stateAfter(
      runs,
      speaks,
      calls,
      { type: 'message.ended', messageId: 'm2', outcome: 'done' },
      later,
      { ...result, messageId: 'm3', partId: '0', result: 'a.txt' },
      { type: 'message.ended', messageId: 'm3', outcome: 'done' },
    )
    assert.equal(state.messages.length, 1)
    assert.deepEqual(state.messages[0]?.toolCalls, [{ ...shown, status: 'complete', output: 'a.txt' }])
  })

  test('has its activity, with the exit code of a command, and the subagent it belongs to', () => {
    const timestamp = '2026-01-01T00:00:00.000Z'
    const activity = {
      mapper: 'x',
      version: 1,
      events: [{ type: 'command', timestamp, command: 'ls', exitCode: 2 }],
    } as const
    const state = stateAfter(runs, speaks, { ...calls, parentToolCallId: 'p1' }, { ...result, result: 'x', activity })
    const [shown] = state.messages[0]?.toolCalls ?? []
    assert.deepEqual(shown?.activity, activity.events)
    assert.equal(shown.parentToolCallId, 'p1')
  })

  test('is known by its result alone when it is before the window', () => {
    assert.deepEqual(callAfter({ ...result, partId: '0', result: 'a.txt' }), {
      id: 'c1',
      name: 'bash',
      status: 'complete',
      output: 'a.txt',
    })
  })

  test('a tool call whose id was used before keeps the result of its own time', () => {
    const again: RecordBody = { ...calls, partId: '2' }
    const state = stateAfter(runs, speaks, calls, { ...result, result: 'first' }, again, {
      ...result,
      partId: '3',
      call: { messageId: 'm2', partId: '2' },
      result: 'second',
    })
    assert.deepEqual(
      state.messages[0]?.toolCalls?.map((one) => one.output),
      ['first', 'second'],
    )
  })
})

suite('of any thread', () => {
  function check(view: ThreadView): void {
    const state = toHarnessState(view)
    assert.deepEqual(JSON.parse(JSON.stringify(state)), state)
    assert.equal(state.status === 'awaiting-approval', (state.pendingApprovals?.length ?? 0) > 0)
    assert.equal(state.status === 'error', state.error !== undefined)
    assert(state.messages.length <= view.messages.length)
    if (state.status === 'idle' || state.status === 'error') {
      const open = state.messages
        .flatMap((message) => message.toolCalls ?? [])
        .filter((one) => one.status === 'running')
      assert.deepEqual(open, [])
    }
  }

  test('the state is JSON, its fields agree, and nothing runs in a thread without a run', () => {
    fc.assert(fc.property(arbitraryLog({ maxMoves: 60 }), (log) => check(viewOf(log))))
    fc.assert(fc.property(arbitraryForkedLog({ maxMoves: 20 }), ({ fork }) => check(viewOf(fork, 'main-fork'))))
  })

  test('the state can be computed from an inconsistent log, too', () => {
    fc.assert(
      fc.property(fc.array(arbitraryRecordBody, { maxLength: 30 }), (bodies) => {
        check(viewOf(bodies.map((body, index) => ({ v: 1, stream: 'main', seq: index + 1, at: 0, run: 'r', body }))))
      }),
    )
  })
})
