import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { BLOB_THRESHOLD, NO_GRANTS, NO_RULES, type JsonObject, type StoredMessage, type Wait } from '@inspan/protocol'
import type { LogRecord, RecordBody, RecordType } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { filesHolding } from '../test/files.ts'
import { inTempDir } from '../test/temp-dir.ts'
import { recordOf, startThread } from '../test/threads.ts'
import { MemoryStore } from './memory-store.ts'
import { SqliteStore } from './sqlite-store.ts'

const SECRET = 'only-said-at-length'
/** Half an emoji, a byte order mark and quotes: what a careless conversion to bytes would lose. */
const LONG = `\uFEFF"${SECRET}" \uD83D ${'é'.repeat(BLOB_THRESHOLD)}`
const MANY: JsonObject = {
  ['__proto__']: LONG,
  list: Array.from({ length: 2_000 }, (_, index) => `${SECRET} ${index}`),
  '0': { $blobs: [{ path: ['a'], blob: 'b', mime: 'c' }], deep: [LONG, { text: LONG }] },
}
const AT = { messageId: 'm', partId: '0' }
const ERROR = { name: 'Error', message: LONG }
const TASKS = [{ id: 't', content: LONG, status: 'pending', activeForm: LONG }] as const
const LINEAGE = [{ stream: 'thread', from: 1, to: 1 }]
const WAIT = {
  id: 'w',
  kind: 'plan',
  description: LONG,
  subject: { toolName: 'submit_plan', args: MANY },
  payload: { plan: LONG },
  answerSchema: LONG,
} as const

/**
 * A body of each type, as large as it can become; `null` where every field is an id, a number or one of a few words.
 */
const LARGE: { readonly [Type in RecordType]: Extract<RecordBody, { type: Type }> | null } = {
  'text-delta': { type: 'text-delta', ...AT, text: LONG, meta: { provider: MANY } },
  'reasoning-delta': { type: 'reasoning-delta', ...AT, text: LONG },
  file: { type: 'file', ...AT, mimeType: 'image/png', data: `data:image/png;base64,${'A'.repeat(BLOB_THRESHOLD)}` },
  'tool-call': { type: 'tool-call', ...AT, toolCallId: 'c', toolName: 'write_file', args: MANY },
  'tool-result': { type: 'tool-result', ...AT, toolCallId: 'c', toolName: 'read_file', result: MANY, error: ERROR },
  error: { type: 'error', error: ERROR },
  // Replaced, with all its content, when the part is sealed.
  batch: null,
  'message.added': {
    type: 'message.added',
    messageId: 'm',
    role: 'user',
    parts: [
      { id: '0', type: 'text', text: LONG },
      { id: '1', type: 'image', mimeType: 'image/png', data: `data:image/png;base64,${'A'.repeat(BLOB_THRESHOLD)}` },
      { id: '2', type: 'reasoning', text: LONG },
      { id: '3', type: 'signal', kind: 'notification', text: LONG, data: MANY },
    ],
  },
  'message.started': null,
  'message.ended': { type: 'message.ended', messageId: 'm', outcome: 'done', error: ERROR },
  'run.started': {
    type: 'run.started',
    runId: 'r',
    agentId: 'a',
    rules: NO_RULES,
    requestContext: MANY,
    turn: { instructions: LONG },
  },
  'run.resumed': null,
  'run.parked': null,
  'run.cancelled': null,
  'run.ended': { type: 'run.ended', runId: 'r', outcome: 'complete', output: MANY, error: ERROR },
  'turn.started': null,
  'turn.process': null,
  'turn.ended': null,
  // Its request is kept apart, whatever its size.
  'step.started': null,
  'step.ended': { type: 'step.ended', stepIndex: 0, finishReason: 'error', error: ERROR },
  'call.started': null,
  'wait.opened': { type: 'wait.opened', wait: WAIT },
  'wait.answered': { type: 'wait.answered', waitId: 'w', answer: { decision: 'answer', value: MANY, reason: LONG } },
  'wait.cancelled': null,
  'wait.superseded': null,
  'queue.added': {
    type: 'queue.added',
    item: { id: 'q', lane: 'steer', parts: [{ id: '0', type: 'text', text: LONG }], requestContext: MANY },
  },
  'queue.removed': null,
  'queue.held': null,
  'config.changed': { type: 'config.changed', title: LONG, settings: MANY, state: MANY },
  'tasks.changed': { type: 'tasks.changed', tasks: TASKS },
  'checkpoint.made': { type: 'checkpoint.made', checkpointId: 'c', root: LONG, files: [] },
  'binding.changed': {
    type: 'binding.changed',
    binding: { agentId: 'a', nativeId: 'n', syncedTo: 1, extra: MANY },
  },
  'binding.removed': null,
  fork: {
    type: 'fork',
    parent: 'thread',
    at: 1,
    lineage: LINEAGE,
    keep: {
      mode: null,
      model: null,
      agentId: null,
      rules: NO_RULES,
      yolo: false,
      settings: MANY,
      tasks: TASKS,
      om: null,
      grants: NO_GRANTS,
      origins: {},
    },
  },
  rewind: { type: 'rewind', to: 1, lineage: LINEAGE, tasks: TASKS, om: null },
  erased: { type: 'erased', from: 1, to: 1, reason: LONG },
  'om.committed': null,
  'context.cut': null,
  compaction: null,
  'child.started': null,
  'child.ended': null,
  note: { type: 'note', kind: 'handover', text: LONG, data: MANY },
}

const BODIES: readonly RecordBody[] = Object.values(LARGE).filter((body) => body !== null)

function messageOf(order: number): StoredMessage {
  return {
    id: 'm',
    role: 'assistant',
    order,
    at: 1,
    state: 'done',
    parts: [
      { id: '0', type: 'text', text: LONG, meta: { provider: MANY } },
      { id: '1', type: 'tool-call', toolCallId: 'c', toolName: 'x', args: MANY, call: { stage: 'ordered' } },
    ],
  }
}

/** Writes every body as a record, and the view rows that repeat them. */
async function writeAll(store: Store): Promise<{ records: LogRecord[]; message: StoredMessage; wait: Wait }> {
  const fence = await startThread(store, 'thread')
  const records = BODIES.map((body, index) => recordOf('thread', index + 1, body))
  const openedAt = 1 + BODIES.findIndex(({ type }) => type === 'wait.opened')
  const message = messageOf(1)
  const wait: Wait = { ...WAIT, openedAt, at: 1 }
  await store.append({
    stream: 'thread',
    fence,
    records,
    messages: [message],
    waits: [{ stream: 'thread', wait, state: 'pending' }],
  })
  return { records, message, wait }
}

function rowsAbove(path: string, limit: number): unknown[] {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return ['records.body', 'messages.json', 'waits.wait']
      .flatMap((name) => {
        const [table, column] = name.split('.') as [string, string]
        return db.prepare(`SELECT '${name}' AS name, length(${column}) AS size FROM ${table}`).all()
      })
      .filter((row) => Number(row['size']) > limit)
  } finally {
    db.close()
  }
}

describe('a body above 32 KB', () => {
  for (const body of BODIES) {
    it(
      `leaves a record of type ${body.type} and comes back with it`,
      inTempDir(async (directory) => {
        const path = join(directory, 'data.db')
        const file = await SqliteStore.open({ url: path })
        const memory = new MemoryStore()
        for (const store of [memory, file]) {
          const fence = await startThread(store, 'thread')
          const record = recordOf('thread', 1, body)
          await store.append({ stream: 'thread', fence, records: [record] })
          // Compared as text: a diff of values of this size would take minutes.
          const [read] = (await store.readRecords('thread', { after: 0 })).items
          assert.ok(JSON.stringify(read) === JSON.stringify(record), `${store.constructor.name} gave another body`)
          const latest = await store.latestRecord([{ stream: 'thread', from: 1, to: null }], body.type, 1)
          assert.ok(JSON.stringify(latest) === JSON.stringify(record))
        }
        assert.deepEqual(rowsAbove(path, BLOB_THRESHOLD), [])
        await file.close()
      }),
    )
  }

  it(
    'leaves the views as well, which share it with their records',
    inTempDir(async (directory) => {
      const path = join(directory, 'data.db')
      const store = await SqliteStore.open({ url: path })
      const { message, wait } = await writeAll(store)
      const lineage = [{ stream: 'thread', from: 1, to: null }]
      const listed = (await store.listMessages(lineage, { order: 'newest' })).items
      for (const found of [listed[0], await store.getMessage(lineage, 'm')]) {
        assert.ok(JSON.stringify(found) === JSON.stringify(message))
      }
      const waits = (await store.listWaits({ stream: 'thread' })).items
      for (const found of [waits[0], await store.getWait('thread', 'w')]) {
        assert.ok(JSON.stringify(found?.wait) === JSON.stringify(wait))
      }
      assert.deepEqual(rowsAbove(path, BLOB_THRESHOLD), [])
      await store.close()
    }),
  )

  it(
    'stays in a view that no record repeats: nothing else would keep it',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      const other = await startThread(store, 'other')
      const said: RecordBody = { type: 'text-delta', ...AT, text: LONG }
      await store.append({ stream: 'other', fence: other, records: [recordOf('other', 1, said)] })
      const fence = await startThread(store, 'thread')
      await store.append({ stream: 'thread', fence, records: [], messages: [messageOf(1)] })
      assert.equal((await store.deleteThread('other', other)).deleted, true)
      const message = await store.getMessage([{ stream: 'thread', from: 1, to: null }], 'm')
      assert.ok(JSON.stringify(message) === JSON.stringify(messageOf(1)))
      await store.close()
    }),
  )

  it(
    'is gone from the file when it is erased, and what configures the thread is not',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      const said = BODIES.filter(({ type }) => !KEEPS_ITS_CONTENT.has(type))
      const fence = await startThread(store, 'thread')
      const config: RecordBody = { type: 'config.changed', settings: { large: 'kept '.repeat(BLOB_THRESHOLD) } }
      const bodies = [...said, config]
      await store.append({
        stream: 'thread',
        fence,
        records: bodies.map((body, index) => recordOf('thread', index + 1, body)),
        messages: [messageOf(1)],
      })
      await store.erase('thread', fence, { from: 1, to: bodies.length })
      assert.deepEqual(await filesHolding(directory, SECRET), [])
      const left = (await store.readRecords('thread', { after: 0, limit: 100 })).items.at(-1)
      assert.ok(JSON.stringify(left?.body) === JSON.stringify(config))
      await store.close()
    }),
  )
})

/** Types that `eraseBody` leaves as they are: settings, lineages and bindings are no content. */
const KEEPS_ITS_CONTENT: ReadonlySet<RecordType> = new Set<RecordType>([
  'config.changed',
  'binding.changed',
  'fork',
  'erased',
])
