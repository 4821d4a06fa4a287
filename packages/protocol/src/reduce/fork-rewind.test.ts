import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Binding } from '../binding.ts'
import type { ForkRecord } from '../control-record.ts'
import { emptyHead } from '../head.ts'
import { lineageUpTo } from '../lineage.ts'
import { NO_GRANTS } from '../permission.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import { NO_USAGE } from '../usage.ts'
import type { ThreadState } from './draft.ts'
import { emptyState, reduce } from './reduce.ts'

const RULES = { categories: { execute: 'deny' as const }, tools: {}, patterns: [] }
const BINDING: Binding = { agentId: 'codex', nativeId: 'native-1', syncedTo: 5, anchor: 'turn-3' }
const TASK = { id: 't1', content: 'Write', status: 'pending' as const, activeForm: 'Writing' }
const OM = { generation: 1, coversTo: 2, blob: 'b' }

function play(stream: string, bodies: readonly RecordBody[], from?: ThreadState): ThreadState {
  let state = from ?? emptyState(stream)
  for (const body of bodies) {
    const record: LogRecord = { v: 1, stream, seq: state.head.seq + 1, at: 1000 + state.head.seq, body }
    state = reduce(state, record).state
  }
  return state
}

/** A thread with everything a fork or rewind has to decide about. */
function busyThread(): ThreadState {
  return play('parent', [
    { type: 'config.changed', mode: 'plan', model: 'm/1', title: 'Title', rules: RULES, yolo: true },
    { type: 'config.changed', grants: { categories: ['edit'], tools: [] }, settings: { effort: 'high' } },
    { type: 'message.added', messageId: 'm1', role: 'user', parts: [] },
    { type: 'tasks.changed', tasks: [TASK] },
    { type: 'om.committed', om: OM, replaces: 0 },
    { type: 'binding.changed', binding: BINDING },
    { type: 'run.started', runId: 'r1', agentId: 'codex', rules: RULES },
    {
      type: 'step.ended',
      stepIndex: 0,
      finishReason: 'stop',
      usage: { inputTokens: 10, source: 'reported', scope: 'own' },
    },
    { type: 'queue.added', item: { id: 'q1', lane: 'follow-up', parts: [] } },
    { type: 'wait.opened', wait: { id: 'w1', kind: 'approval', subject: {}, description: 'Run it?' } },
  ])
}

function forkOf(parent: ThreadState, at: number): ForkRecord {
  const { head } = parent
  return {
    type: 'fork',
    parent: head.stream,
    at,
    lineage: lineageUpTo(head.lineage, at),
    keep: {
      mode: head.mode,
      model: head.model,
      agentId: head.agentId,
      rules: head.rules,
      yolo: false,
      settings: head.settings.toJSON(),
      tasks: head.tasks,
      om: head.om,
      grants: NO_GRANTS,
      origins: { codex: { ...BINDING, origin: true } },
    },
  }
}

suite('a fork', () => {
  const parent = busyThread()
  const fork = play('fork', [forkOf(parent, 5)], {
    ...emptyState('fork'),
    head: { ...emptyState('fork').head, seq: 5 },
  })

  test('keeps mode, model, rules, settings, tasks and the memory pointer', () => {
    assert.equal(fork.head.mode, 'plan')
    assert.equal(fork.head.model, 'm/1')
    assert.deepEqual(fork.head.rules, RULES)
    assert.deepEqual(fork.head.settings.toJSON(), { effort: 'high' })
    assert.deepEqual(fork.head.tasks, [TASK])
    assert.deepEqual(fork.head.om, OM)
  })

  test('resets waits, queue, run, grants, usage, title and whatever else is not kept', () => {
    const { mode, model, agentId, rules, settings, tasks, om, bindings } = fork.head
    assert.deepEqual(fork.head, {
      ...emptyHead('fork'),
      seq: 6,
      lineage: fork.head.lineage,
      tasksAt: 6,
      mode,
      model,
      agentId,
      rules,
      settings,
      tasks,
      om,
      bindings,
    })
    assert.deepEqual([fork.head.waits.size, fork.head.queue.size, fork.head.run, fork.head.title], [0, 0, null, null])
    assert.deepEqual([fork.head.grants, fork.head.yolo, fork.head.usage.own], [NO_GRANTS, false, NO_USAGE])
    assert.equal(fork.messages.length, 0)
  })

  test('keeps a native session only as the origin of a native fork', () => {
    assert.deepEqual(fork.head.bindings.toJSON(), { codex: { ...BINDING, origin: true } })
  })

  test('continues with the next seq and names its ranges', () => {
    assert.equal(fork.head.seq, 6)
    assert.deepEqual(fork.head.lineage.toArray(), [
      { stream: 'parent', from: 1, to: 5 },
      { stream: 'fork', from: 6, to: null },
    ])
  })

  test('a fork of a fork names all three streams', () => {
    const second = play('fork', [{ type: 'message.added', messageId: 'm2', role: 'user', parts: [] }], fork)
    const third = play('third', [forkOf(second, 7)], {
      ...emptyState('third'),
      head: { ...emptyState('third').head, seq: 7 },
    })
    assert.deepEqual(third.head.lineage.toArray(), [
      { stream: 'parent', from: 1, to: 5 },
      { stream: 'fork', from: 6, to: 7 },
      { stream: 'third', from: 8, to: null },
    ])
  })
})

suite('a rewind', () => {
  const before = busyThread()
  const rewound = play(
    'parent',
    [{ type: 'rewind', to: 3, lineage: lineageUpTo(before.head.lineage, 3), tasks: [], om: null }],
    before,
  )

  test('moves the conversation, the tasks and the memory pointer', () => {
    assert.deepEqual(rewound.head.lineage.toArray(), [
      { stream: 'parent', from: 1, to: 3 },
      { stream: 'parent', from: 11, to: null },
    ])
    assert.deepEqual(rewound.head.tasks, [])
    assert.equal(rewound.head.om, null)
    assert.equal(rewound.head.run, null)
  })

  test('never rolls back rules, grants or usage', () => {
    assert.deepEqual(rewound.head.rules, RULES)
    assert.equal(rewound.head.yolo, true)
    assert.deepEqual(rewound.head.grants, { categories: ['edit'], tools: [] })
    assert.equal(rewound.head.usage.own.inputTokens, 10)
  })

  test('cancels the waits of what it dropped and marks bindings for re-anchoring', () => {
    assert.equal(rewound.head.waits.size, 0)
    assert.equal(rewound.head.bindings.get('codex')?.stale, 'rewound')
  })

  test('leaves a wait and a binding from before its point alone', () => {
    const late = play(
      'parent',
      [{ type: 'rewind', to: 10, lineage: lineageUpTo(before.head.lineage, 10), tasks: [TASK], om: OM }],
      before,
    )
    assert.deepEqual([...late.head.waits.keys()], ['w1'])
    assert.equal(late.head.bindings.get('codex')?.stale, undefined)
  })

  test('can be withdrawn by another rewind, and the client is asked to read its window anew', () => {
    const record: LogRecord = {
      v: 1,
      stream: 'parent',
      seq: 12,
      at: 0,
      body: { type: 'rewind', to: 10, lineage: lineageUpTo(before.head.lineage, 10), tasks: [TASK], om: OM },
    }
    const { state, ops } = reduce(rewound, record)
    assert.deepEqual(state.head.lineage.toArray(), [
      { stream: 'parent', from: 1, to: 10 },
      { stream: 'parent', from: 12, to: null },
    ])
    assert.deepEqual(ops.at(-1), { type: 'remove', path: ['messages'] })
  })

  test('a rewind to the start, or to a place before it that only a damaged record names, leaves nothing of what was', () => {
    for (const to of [0, -1]) {
      const cleared = play('parent', [{ type: 'rewind', to, tasks: [], om: null }], before)
      assert.deepEqual(cleared.head.lineage.toArray(), [{ stream: 'parent', from: 11, to: null }])
    }
  })
})
