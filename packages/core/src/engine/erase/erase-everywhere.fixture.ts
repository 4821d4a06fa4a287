import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { NO_RULES, type Goal, type StoredMessage, type TaskItem } from '@inspan/protocol'
import { emptyState, reduce, REDUCER_VERSION, storedMessage, type RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { openSpool, type SpoolFolder } from '@inspan/shell/run'
import { Inbox } from '../../harness/signals/inbox.ts'
import { ThreadPort } from '../../harness/signals/thread-port.ts'
import { blobOf } from '../log/blobs.ts'
import { recordsAfter } from '../log/load-state.ts'
import { feedbackNote, scoreNote } from '../runs/opinions.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { TurnRecorder } from '../turns/turn-recorder.ts'

/** Occurs in every place that a user's words can get to, and nowhere else. */
export const WORD = 'Xylotheque-of-Marrakesh-1887'
export const COMMAND = '0193d5e0-0000-7000-8000-000000000001'

export const text = (id: string, words: string): RecordBody & { type: 'message.added' } => ({
  type: 'message.added',
  messageId: id,
  role: 'user',
  parts: [{ id: '0', type: 'text', text: words }],
})

export const task = (id: string, words: string): TaskItem => ({
  id,
  content: words,
  status: 'pending',
  activeForm: `Doing: ${words}`,
})

const goal = (runsUsed: number, words: string): Goal => ({
  objective: words,
  prompt: `Judge ${words}`,
  status: 'active',
  runsUsed,
  startedAt: 1,
  updatedAt: 1,
})

/** Records a run with the word in everything; returns the range of its records. */
export async function sayEverywhere(
  store: Store,
  log: ThreadLog,
  spool: SpoolFolder,
): Promise<{ from: number; to: number }> {
  const long = `${WORD} `.repeat(3000)
  const from = log.state.head.seq + 1
  const key = { principal: 'p', clientId: 'c', commandId: COMMAND }
  const at = Number.parseInt(COMMAND.replaceAll('-', '').slice(0, 12), 16)
  await store.admitCommand({ key, bodyHash: 'h', target: log.stream, body: { text: WORD }, at })
  await log.commit(
    [
      {
        type: 'run.started',
        runId: 'run',
        agentId: 'a',
        rules: NO_RULES,
        requestContext: { who: WORD },
        turn: { instructions: WORD },
      },
      text('asked', long),
      { type: 'turn.started', turnId: 'turn', agentId: 'a' },
    ],
    { run: 'run' },
    { outcomes: [{ key, outcome: 'ok' }] },
  )
  const recorder = new TurnRecorder({ log, runId: 'run', turnId: 'turn', agentId: 'a' })
  const request = { system: `Be kind. ${WORD}`, tools: [{ name: 't', description: WORD }] }
  await recorder.record({ type: 'step-start', stepIndex: 0, meta: { request } })
  await recorder.record({ type: 'reasoning-delta', text: `I think of ${WORD}` })
  await recorder.record({ type: 'text-delta', text: `This is ${WORD}` })
  const files = { small: WORD, large: `${WORD} `.repeat(10_000) }
  for (const [name, text] of Object.entries(files)) {
    const file = { mimeType: 'text/plain', data: Buffer.from(text).toString('base64'), fileName: `${WORD} ${name}` }
    await recorder.record({ type: 'file', ...file, meta: { of: WORD } })
  }
  await recorder.record({ type: 'file', mimeType: 'image/png', data: '', url: `https://example.org/${WORD}.png` })
  await recorder.record({ type: 'tool-call', toolCallId: 'c', toolName: 'ask_user', args: { question: WORD } })
  await log.commit(
    [
      {
        type: 'wait.opened',
        wait: {
          id: 'question',
          kind: 'question',
          subject: { toolName: 'ask_user', args: { question: WORD } },
          description: WORD,
          payload: { options: [WORD] },
          preconditions: { file: WORD },
        },
      },
      {
        type: 'wait.opened',
        wait: { id: 'plan', kind: 'plan', subject: {}, description: WORD, payload: { plan: long } },
      },
      { type: 'queue.added', item: { id: 'steer', lane: 'steer', parts: [{ id: '0', type: 'text', text: WORD }] } },
      {
        type: 'queue.added',
        item: {
          id: 'later',
          lane: 'follow-up',
          parts: [{ id: '0', type: 'text', text: `Then ${WORD}` }],
          requestContext: { who: WORD },
          turn: { instructions: WORD },
        },
      },
      { type: 'tasks.changed', tasks: [task('1', WORD)] },
      {
        type: 'message.added',
        messageId: 'signal',
        role: 'user',
        parts: [{ id: '0', type: 'signal', kind: 'system_reminder', text: WORD, data: { words: WORD } }],
      },
      {
        type: 'message.added',
        messageId: 'file',
        role: 'user',
        parts: [{ id: '0', type: 'file', mimeType: 'text/plain', data: btoa(WORD), fileName: `${WORD}.txt` }],
      },
      { type: 'config.changed', title: WORD, goal: goal(0, WORD), state: { draft: WORD } },
      {
        type: 'checkpoint.made',
        checkpointId: 'checkpoint',
        root: `/${WORD}`,
        files: [{ path: WORD, change: 'added' }],
      },
      { type: 'note', kind: 'info', text: WORD, data: { words: WORD } },
    ],
    { run: 'run' },
  )
  await log.commit([
    { type: 'wait.answered', waitId: 'question', answer: { decision: 'answer', value: WORD, reason: WORD } },
    { type: 'wait.cancelled', waitId: 'plan', reason: 'abort' },
  ])
  await recorder.record({ type: 'tool-progress', toolCallId: 'c', toolName: 'ask_user', output: WORD })
  await recorder.record({ type: 'tool-result', toolCallId: 'c', toolName: 'ask_user', result: long })
  await recorder.record({ type: 'error', error: { name: 'Error', message: WORD } })
  await recorder.record({ type: 'step-finish', stepIndex: 0, finishReason: 'stop' })
  await inboxOf(store, log).put({
    id: 'n',
    threadId: log.stream,
    source: 'mail',
    kind: 'letter',
    summary: WORD,
    payload: { words: WORD },
    priority: 'low',
    status: 'pending',
    coalescedCount: 1,
    createdAt: 1,
    updatedAt: 1,
  })
  await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'run', outcome }])
  await spoolRun(spool, log.stream, 'run')
  return { from, to: log.state.head.seq }
}

/** Records what the engine itself repeats afterwards, outside the range. */
export async function sayAgain(store: Store, log: ThreadLog, spool: SpoolFolder): Promise<void> {
  const origin = { run: 'run' }
  const { ref, blob } = blobOf(Buffer.from(`They spoke of ${WORD}.`), 'text/plain')
  await log.commit([{ type: 'queue.removed', itemId: 'steer', reason: 'heard' }, text('heard', WORD)])
  await log.commit([{ type: 'tasks.changed', tasks: [task('1', WORD), task('2', 'Something else')] }])
  await log.commit([{ type: 'config.changed', title: `${WORD}…` }], origin)
  await log.commit([{ type: 'config.changed', goal: goal(1, WORD) }])
  await log.commit([scoreNote({ name: 'truth', value: 1, reason: WORD, source: 'judge' })], origin)
  await log.commit([feedbackNote({ text: WORD, source: 'user' })], origin)
  await inboxOf(store, log).setStatus('n', 'seen', 2)
  await log.commit(
    [
      {
        type: 'om.committed',
        om: { generation: 1, coversTo: log.state.head.seq, blob: ref.blob },
        replaces: 0,
      },
    ],
    {},
    { blobs: [blob] },
  )
  await log.commit([
    { type: 'run.started', runId: 'next', agentId: 'a', rules: NO_RULES },
    { type: 'run.ended', runId: 'next', outcome: 'complete' },
  ])
  await spoolRun(spool, log.stream, 'next')
}

function inboxOf(store: Store, log: ThreadLog): Inbox {
  const runtime = {
    get state() {
      return log.state
    },
    record: async (facts: readonly RecordBody[]) => void (await log.commit(facts)),
    steer: () => Promise.reject(new Error('Nothing is submitted here.')),
  }
  return new Inbox(new ThreadPort(runtime, store, { agentId: () => 'a' }))
}

export async function spoolRun(spool: SpoolFolder, threadId: string, runId: string): Promise<void> {
  const opened = await openSpool({ dir: spool.dirOf({ threadId, runId, turnId: 't' }) })
  opened.note({ said: WORD })
  await opened.close()
}

/** Returns every place where the word still occurs. */
export async function placesOf(directory: string, store: Store, logs: readonly ThreadLog[]): Promise<string[]> {
  const places: string[] = []
  const look = (place: string, value: unknown): void => {
    const shown = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : (JSON.stringify(value) ?? '')
    if (shown.includes(WORD) || shown.includes(btoa(WORD).slice(0, -4))) places.push(place)
  }
  for (const log of logs) {
    const { stream } = log
    look(`${stream} in memory`, [log.state, log.committed])
    look(`${stream} head`, await store.readHead(stream, REDUCER_VERSION))
    for await (const record of recordsAfter(store, stream, 0))
      look(`${stream} ${record.seq} ${record.body.type}`, record)
    look(
      `${stream} messages`,
      await store.listMessages([{ stream, from: 1, to: null }], { order: 'oldest', limit: 1000 }),
    )
    look(`${stream} waits`, await store.listWaits({ stream, limit: 1000 }))
    for (const state of ['accepted', 'done'] as const) {
      look(`${stream} commands`, await store.listCommands({ target: stream, state, limit: 1000 }))
    }
  }
  look('threads', await store.listThreads({ includeHidden: true, limit: 1000 }))
  for (const hash of HASHES) look(`blob ${hash}`, (await store.readBlob(hash))?.bytes ?? null)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    look(`file ${entry.name}`, await readFile(join(entry.parentPath, entry.name)))
    if (entry.name !== 'data.db') continue
    const db = new DatabaseSync(join(entry.parentPath, entry.name), { readOnly: true })
    for (const { name } of db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all()) {
      for (const row of db.prepare(`SELECT * FROM "${String(name)}"`).all()) {
        for (const [column, value] of Object.entries(row)) look(`table ${String(name)}.${column}`, value)
      }
    }
    db.close()
  }
  return places
}

/** The hashes of all blobs ever referred to. */
const HASHES = new Set<string>()

export async function noteHashes(store: Store, logs: readonly ThreadLog[]): Promise<void> {
  for (const { stream } of logs) {
    for await (const record of recordsAfter(store, stream, 0)) {
      for (const [hash] of JSON.stringify(record).matchAll(/\b[0-9a-f]{64}\b/g)) HASHES.add(hash)
    }
  }
}

/** Checks that the records of a thread fold to what its views and its log say. */
export async function assertFolds(store: Store, log: ThreadLog): Promise<void> {
  const rows = new Map<string, StoredMessage>()
  const gone: { from: number; to: number }[] = []
  let state = emptyState(log.stream)
  for await (const record of recordsAfter(store, log.stream, 0)) {
    const reduced = reduce(state, record)
    state = reduced.state
    for (const message of reduced.written) rows.set(message.id, storedMessage(message))
    if (record.body.type === 'erased') gone.push(record.body)
  }
  assert.deepEqual(plain(log.state.head), plain(state.head))
  const left = [...rows.values()].filter(({ order }) => !gone.some(({ from, to }) => order >= from && order <= to))
  const view = await store.listMessages([{ stream: log.stream, from: 1, to: null }], { order: 'oldest', limit: 1000 })
  assert.deepEqual(plain(view.items), plain(left))
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
