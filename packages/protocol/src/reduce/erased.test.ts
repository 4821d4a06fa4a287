import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NOTIFICATION_SETTING } from '../content-settings.ts'
import { eraseBody } from '../record-definition.ts'
import type { Head } from '../head.ts'
import type { LogRecord, RecordBody } from '../record.ts'
import { emptyState, reduce } from './reduce.ts'

const NOTE = `${NOTIFICATION_SETTING}n1`

function logOf(bodies: readonly RecordBody[]): LogRecord[] {
  return bodies.map((body, index) => ({ v: 1, stream: 't', seq: index + 1, at: 1000 + index, body }))
}

/** Returns the head after the range was erased. A live fold and a fold of the erased records have to agree. */
function headAfter(bodies: readonly RecordBody[], range: { from: number; to: number }): Head {
  const erased: RecordBody = { type: 'erased', ...range }
  const live = logOf([...bodies, erased])
  const left = live.map((record) =>
    record.seq >= range.from && record.seq <= range.to ? { ...record, body: eraseBody(record.body) } : record,
  )
  const [head, again] = [live, left].map(
    (records) => records.reduce((state, record) => reduce(state, record).state, emptyState('t')).head,
  )
  assert.deepEqual(again, head)
  return head as Head
}

suite('the place of the last rewind or erasure', () => {
  test('is in the head, so that whoever reads messages by page notices', () => {
    const said: RecordBody = { type: 'message.added', messageId: 'm', role: 'user', parts: [] }
    assert.equal(headAfter([said, said], { from: 1, to: 1 }).rewrittenAt, 3)
    const rewind: RecordBody = { type: 'rewind', to: 1, tasks: [], om: null }
    const states = logOf([said, said, rewind, said]).reduce(
      (all, record) => [...all, reduce(all.at(-1) ?? emptyState('t'), record).state],
      [emptyState('t')],
    )
    assert.deepEqual(
      states.map(({ head }) => head.rewrittenAt),
      [0, 0, 0, 3, 3],
    )
  })
})

suite('what was set in an erased range', () => {
  test('is gone from the state of the user, also where something older was set before', () => {
    const head = headAfter(
      [
        { type: 'config.changed', state: { note: 'before', theme: 'dark' } },
        { type: 'config.changed', state: { note: 'erased', draft: 'erased' } },
        { type: 'config.changed', state: { later: 1 } },
      ],
      { from: 2, to: 2 },
    )
    assert.deepEqual(head.state.toJSON(), { theme: 'dark', later: 1 })
    assert.deepEqual(head.stateAt.toJSON(), { theme: 1, later: 3 })
  })

  test('stays where it was set once more', () => {
    const head = headAfter(
      [
        { type: 'config.changed', state: { note: 'erased' } },
        { type: 'config.changed', state: { note: 'said again' } },
      ],
      { from: 1, to: 1 },
    )
    assert.deepEqual(head.state.toJSON(), { note: 'said again' })
  })

  test('is gone from the notifications, while settings and rules stay', () => {
    const rules = { categories: { execute: 'deny' as const }, tools: {}, patterns: [] }
    const head = headAfter(
      [{ type: 'config.changed', settings: { [NOTE]: { summary: 'words' }, effort: 'high' }, rules }],
      { from: 1, to: 1 },
    )
    assert.deepEqual(head.settings.toJSON(), { effort: 'high' })
    assert.equal(head.settingsAt.size, 0)
    assert.deepEqual(head.rules, rules)
  })

  test('takes the memory along that was made of it, and no other', () => {
    const om = { generation: 1, coversTo: 2, blob: 'b' }
    const said: RecordBody = { type: 'message.added', messageId: 'm', role: 'user', parts: [] }
    const bodies: RecordBody[] = [said, said, { type: 'om.committed', om, replaces: 0 }, said]
    assert.equal(headAfter(bodies, { from: 2, to: 2 }).om, null)
    assert.deepEqual(headAfter(bodies, { from: 4, to: 4 }).om, om)
  })

  test('stays known to a native session also when the thread is rewound: that session is not resumed', () => {
    const binding = { agentId: 'codex', nativeId: 'n', syncedTo: 2, anchor: 'turn-1' }
    const said: RecordBody = { type: 'message.added', messageId: 'm', role: 'user', parts: [] }
    const bodies: RecordBody[] = [
      said,
      said,
      { type: 'binding.changed', binding },
      { type: 'erased', from: 1, to: 1 },
      { type: 'rewind', to: 1, lineage: [{ stream: 't', from: 1, to: 1 }], tasks: [], om: null },
    ]
    const { head } = logOf(bodies).reduce((state, record) => reduce(state, record).state, emptyState('t'))
    assert.deepEqual(head.bindings.toJSON(), { codex: { ...binding, stale: 'erased' } })
  })

  test('makes the origin of a fork that received it stale', () => {
    const origin = { agentId: 'codex', nativeId: 'n', syncedTo: 5, origin: true as const }
    const fork: RecordBody = {
      type: 'fork',
      parent: 'p',
      at: 0,
      lineage: [],
      keep: {
        mode: null,
        model: null,
        agentId: null,
        rules: { categories: {}, tools: {}, patterns: [] },
        yolo: false,
        settings: { [NOTE]: { summary: 'words' }, effort: 'high' },
        tasks: [{ id: '1', content: 'words', status: 'pending', activeForm: 'words' }],
        om: null,
        grants: { categories: [], tools: [] },
        origins: { codex: origin },
      },
    }
    const head = headAfter([fork], { from: 1, to: 1 })
    assert.deepEqual(head.bindings.toJSON(), { codex: { ...origin, stale: 'erased' } })
    assert.deepEqual(head.tasks, [])
    assert.deepEqual(head.settings.toJSON(), { effort: 'high' })
  })
})
