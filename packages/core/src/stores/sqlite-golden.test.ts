import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  emptyState,
  NO_USAGE,
  reduce,
  REDUCER_VERSION,
  restingState,
  reviveHead,
  storedHead,
  storedMessage,
  type LogRecord,
  type Store,
  type ThreadState,
} from '@evener/protocol'
import { inTempDir } from '../../test/stores/temp-dir.ts'
import { SqliteStore } from './sqlite-store.ts'

/** Written once by the release with this layout, and never again. */
const GOLDEN_V1 = fileURLToPath(new URL('fixtures/golden-v1.db', import.meta.url))

const TYPES_V1 =
  'batch binding.changed binding.removed call.started checkpoint.made config.changed erased error fork ' +
  'message.added message.ended message.started note om.committed queue.added queue.held queue.removed ' +
  'reasoning-delta rewind run.cancelled run.ended run.parked run.resumed run.started step.ended step.started ' +
  'tasks.changed text-delta tool-call tool-result turn.ended turn.process turn.started wait.answered wait.cancelled wait.opened ' +
  'wait.superseded'

const RULES = { categories: { edit: 'ask' }, tools: { rm: 'deny' }, patterns: [] } as const
const TASKS = [{ id: 'task-1', content: 'List files', status: 'completed', activeForm: 'Listing files' }] as const
const BLOB = '7da82a8846b48c8637f8ceb6bae06d3a9a26f6856a6cede39797ce4dec9ff600'
const OM = { generation: 1, coversTo: 20, blob: BLOB }
const BINDING = { agentId: 'coder', nativeId: 'native', syncedTo: 20, anchor: 'native-2' }

// What these threads were. Later versions may know more about them, but nothing different.
const MAIN_HEAD = {
  stream: 'main',
  seq: 47,
  lineage: [{ stream: 'main', from: 1, to: null }],
  title: 'Golden',
  mode: 'plan',
  model: 'provider/model',
  agentId: 'coder',
  rules: RULES,
  grants: { categories: ['read'], tools: ['ls'] },
  yolo: false,
  settings: { theme: 'dark' },
  state: { count: 1 },
  goal: { objective: 'Keep old threads readable', status: 'active', runsUsed: 1, startedAt: 10, updatedAt: 20 },
  queue: {
    'queued-2': {
      id: 'queued-2',
      lane: 'steer',
      parts: [{ id: '0', type: 'text', text: 'Shorter!' }],
      by: 'user-1',
      addedAt: 27,
    },
  },
  queueHeld: true,
  waits: {},
  tasks: TASKS,
  tasksAt: 21,
  usage: {
    own: { ...NO_USAGE, inputTokens: 10, outputTokens: 5, totalTokens: 15, costUsd: 0.5 },
    subagents: { ...NO_USAGE, inputTokens: 3, outputTokens: 1, totalTokens: 4 },
    lastStep: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  },
  bindings: { coder: BINDING },
  om: OM,
  run: {
    runId: 'run-3',
    agentId: 'coder',
    status: 'running',
    attempt: 1,
    startedAt: 1_000_044,
    startedSeq: 44,
    turnId: null,
    step: null,
    isStepOpen: false,
    processes: { 47: { runTag: 'tag', pid: 4711, startTime: '1', bootId: 'boot' } },
    rules: RULES,
  },
  lastRun: { runId: 'run-2', outcome: 'aborted', endedAt: 1_000_040 },
}

const FORK_HEAD = {
  stream: 'fork',
  seq: 37,
  lineage: [
    { stream: 'main', from: 1, to: 2 },
    { stream: 'fork', from: 36, to: null },
  ],
  title: null,
  mode: 'build',
  model: 'provider/model',
  agentId: 'coder',
  rules: RULES,
  grants: { categories: [], tools: [] },
  yolo: false,
  settings: { theme: 'dark' },
  state: {},
  goal: null,
  queue: {},
  queueHeld: false,
  waits: {},
  tasks: [],
  tasksAt: 36,
  usage: { own: NO_USAGE, subagents: NO_USAGE, lastStep: {} },
  bindings: { coder: { ...BINDING, origin: true, stale: 'rewound' } },
  om: null,
  run: null,
  lastRun: null,
}

const M1 = {
  id: 'm1',
  role: 'user',
  order: 2,
  at: 1_000_002,
  state: 'done',
  by: 'user-1',
  parts: [{ id: '0', type: 'text', text: 'Say hello 👋 and list the files.' }],
}
const M2 = {
  id: 'm2',
  role: 'assistant',
  order: 6,
  at: 1_000_006,
  state: 'done',
  run: 'run-1',
  step: 0,
  by: 'coder',
  finishReason: 'stop',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  parts: [
    { id: '0', type: 'text', text: 'Hello' },
    { id: '1', type: 'reasoning', text: 'Now the files.' },
    {
      id: '2',
      type: 'tool-call',
      toolCallId: 'call-1',
      toolName: 'list_files',
      args: { path: '.' },
      call: {
        stage: 'ended',
        outcome: 'ok',
        attempt: 1,
        idempotencyKey: 'run-1:call-1',
        waitId: 'wait-1',
      },
    },
    { id: '3', type: 'tool-result', toolCallId: 'call-1', toolName: 'list_files', result: ['a.txt', 'b.txt'] },
  ],
}
const M4 = {
  id: 'm4',
  role: 'assistant',
  order: 45,
  at: 1_000_045,
  state: 'open',
  parts: [{ id: '0', type: 'text', text: 'Half a se', state: 'open' }],
}
const F2 = {
  id: 'f2',
  role: 'user',
  order: 37,
  at: 1_000_037,
  state: 'done',
  parts: [{ id: '0', type: 'text', text: 'From the start.' }],
}

async function recordsOf(store: Store, stream: string): Promise<readonly LogRecord[]> {
  return (await store.readRecords(stream, { limit: 1000 })).items
}

function fold(state: ThreadState, records: readonly LogRecord[]): ThreadState {
  return records.reduce((folded, record) => reduce(folded, record).state, state)
}

describe('C4-42 a database of layout 1', () => {
  const withGolden = (test: (store: Store) => Promise<void>): (() => Promise<void>) =>
    inTempDir(async (directory) => {
      const url = join(directory, 'golden.db')
      await copyFile(GOLDEN_V1, url)
      const store = await SqliteStore.open({ url })
      await test(store)
      await store.close()
    })

  it(
    'gives every type of record that existed then',
    withGolden(async (store) => {
      const records = [...(await recordsOf(store, 'main')), ...(await recordsOf(store, 'fork'))]
      const types = new Set(records.map(({ body }) => body.type))
      assert.deepEqual([...types].sort(), TYPES_V1.split(' '))
    }),
  )

  it(
    'folds to the heads and open messages it had',
    withGolden(async (store) => {
      const main = fold(emptyState('main'), await recordsOf(store, 'main'))
      assert.partialDeepStrictEqual(storedHead(main.head), MAIN_HEAD)
      assert.equal(main.messages.length, 1)
      assert.partialDeepStrictEqual([...main.messages].map(storedMessage), [M4])
      const fork = fold(emptyState('fork'), await recordsOf(store, 'fork'))
      assert.partialDeepStrictEqual(storedHead(fork.head), FORK_HEAD)
      assert.equal(fork.messages.length, 0)
    }),
  )

  it(
    'opens from its stored heads, or is folded anew where the reducer has changed',
    withGolden(async (store) => {
      for (const [stream, expected] of [
        ['main', MAIN_HEAD],
        ['fork', FORK_HEAD],
      ] as const) {
        const head = await store.readHead(stream, REDUCER_VERSION)
        const state = head === null ? emptyState(stream) : restingState(reviveHead(head))
        const { items } = await store.readRecords(stream, { after: state.head.seq, limit: 1000 })
        assert.partialDeepStrictEqual(storedHead(fold(state, items).head), expected)
      }
    }),
  )

  it(
    'shows the messages of its threads',
    withGolden(async (store) => {
      const main = await store.listMessages(MAIN_HEAD.lineage, { order: 'oldest' })
      assert.equal(main.items.length, 2)
      assert.partialDeepStrictEqual(main.items, [M1, M2])
      const fork = await store.listMessages(FORK_HEAD.lineage, { order: 'oldest' })
      assert.equal(fork.items.length, 2)
      assert.partialDeepStrictEqual(fork.items, [M1, F2])
    }),
  )

  it(
    'has kept threads, waits, commands, owners and blobs, and can be written',
    withGolden(async (store) => {
      const { items } = await store.listThreads({ resourceId: 'golden' })
      assert.deepEqual(items, [
        {
          id: 'main',
          resourceId: 'golden',
          title: 'Golden',
          createdAt: 1_000_000,
          updatedAt: 1_000_047,
          hidden: false,
          metadata: { made: 'by hand' },
        },
        {
          id: 'fork',
          resourceId: 'golden',
          title: null,
          createdAt: 1_000_000,
          updatedAt: 1_000_037,
          hidden: false,
          forkedFrom: { thread: 'main', at: 33 },
          metadata: { made: 'by hand' },
        },
      ])
      const waits = await store.listWaits({ stream: 'main' })
      assert.deepEqual(
        waits.items.map((row) => [row.wait.id, row.state]),
        [
          ['wait-1', 'answered'],
          ['wait-2', 'superseded'],
          ['wait-3', 'cancelled'],
        ],
      )
      const pending = await store.listCommands({ target: 'main', state: 'accepted' })
      assert.deepEqual(
        pending.items.map((row) => row.body),
        [{ type: 'submit' }],
      )
      assert.equal((await store.getOwner('maker'))?.host, 'host')
      assert.equal(Buffer.from((await store.readBlob(BLOB))?.bytes ?? []).toString(), 'The user likes short answers.')
      assert.equal((await store.claim('main', 'me')).status, 'owned')
      const result = await store.deleteThread('main', { owner: 'me', epoch: 2 })
      assert.deepEqual(result.retained, [{ stream: 'main', from: 1, to: 33, neededBy: ['fork'] }])
    }),
  )
})
