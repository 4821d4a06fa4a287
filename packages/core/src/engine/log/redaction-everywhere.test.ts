import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { NO_RULES } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { assertFolds, noteHashes, placesOf, text, WORD } from '../erase/erase-everywhere.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { openTestThread } from '../thread.fixture.ts'
import { ThreadLog } from './thread-log.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread, forkThread } from '../threads/threads.ts'
import { TurnRecorder } from '../turns/turn-recorder.ts'

const CHILD = fileURLToPath(new URL('redaction-child.fixture.ts', import.meta.url))

const redact = Object.assign((words: string): string => words.replaceAll(WORD, '[word]'), {
  settled: (words: string) => words.lastIndexOf(' ') + 1,
})

const stores: { readonly [name: string]: (directory: string) => Promise<Store> } = {
  memory: async () => new MemoryStore(),
  SQLite: (directory) => SqliteStore.open({ url: join(directory, 'data.db') }),
}

/** Returns the places of the word except files, where SQLite may still have an old copy of a page. */
async function rowsWith(directory: string, store: Store, logs: readonly ThreadLog[]): Promise<string[]> {
  return (await placesOf(directory, store, logs)).filter((place) => !place.startsWith('file '))
}

/** Records a turn with the word everywhere an agent and its tools can say it, and writes each piece at once. */
async function sayEverywhere(log: ThreadLog, seen: (when: string) => Promise<void>): Promise<void> {
  const long = `${WORD} `.repeat(3000)
  await log.commit(
    [
      { type: 'run.started', runId: 'run', agentId: 'a', rules: NO_RULES },
      text('asked', 'Go.'),
      { type: 'turn.started', turnId: 'turn', agentId: 'a' },
    ],
    { run: 'run' },
  )
  const recorder = new TurnRecorder({ log, runId: 'run', turnId: 'turn', agentId: 'a' })
  const say = async (event: Parameters<TurnRecorder['record']>[0]): Promise<void> => {
    await recorder.record(event)
    await log.flush()
    if (event.type.endsWith('-delta') || event.type === 'tool-progress') await seen(event.type)
  }
  await say({ type: 'step-start', stepIndex: 0, meta: { request: { system: `Be kind. ${long}` } } })
  await say({ type: 'reasoning-delta', text: `I think of ${WORD}` })
  await say({ type: 'text-delta', text: `This is ${WORD}` })
  await say({ type: 'tool-call-delta', toolCallId: 'c', toolName: 'ask', argsTextDelta: `{"question":"${WORD}"}` })
  await say({ type: 'tool-call', toolCallId: 'c', toolName: 'ask', args: { question: WORD } })
  await log.commit(
    [
      {
        type: 'wait.opened',
        wait: { id: 'w', kind: 'tool', subject: { args: { q: WORD } }, description: WORD, payload: { o: [WORD] } },
        call: {
          messageId: recorder.callAddress('c')?.messageId ?? '',
          partId: recorder.callAddress('c')?.partId ?? '',
        },
      },
      { type: 'tasks.changed', tasks: [{ id: '1', content: WORD, activeForm: WORD, status: 'pending' }] },
      { type: 'config.changed', title: `About ${WORD}` },
      { type: 'note', kind: 'warning', text: WORD, data: { words: WORD } },
    ],
    { run: 'run' },
  )
  await log.commit([{ type: 'wait.answered', waitId: 'w', answer: { decision: 'answer', value: { said: WORD } } }])
  await say({ type: 'tool-progress', toolCallId: 'c', toolName: 'ask', output: WORD })
  await say({ type: 'tool-result', toolCallId: 'c', toolName: 'ask', result: long, meta: { modelOutput: long } })
  await say({ type: 'error', error: { name: 'Error', message: WORD } })
  await say({ type: 'step-finish', stepIndex: 0, finishReason: 'stop' })
  const error = { name: 'Error', message: WORD }
  await recorder.finish(false, (outcome) => [{ type: 'run.ended', runId: 'run', outcome, error, output: { is: WORD } }])
}

for (const [name, open] of Object.entries(stores)) {
  suite(`with a redactor no word of it is kept (${name})`, () => {
    test(
      'at any time, wherever an agent or a tool said it',
      inTempDir(async (directory) => {
        const store = await open(directory)
        const shown: string[] = []
        {
          await using thread = await openTestThread(store, { redact })
          const { log } = thread
          await sayEverywhere(log, async (when) => {
            if ((await rowsWith(directory, store, [log])).length > 0) shown.push(when)
          })
          assert.deepEqual(shown, [])
          await noteHashes(store, [log])
          assert.deepEqual(await rowsWith(directory, store, [log, await thread.reopen()]), [])
          await assertFolds(store, log)
          const fork = await forkThread(store, thread.owner, log.state, {
            id: 'fork',
            resourceId: 'test',
            at: await lastBoundary(store, log),
          })
          const fence = await thread.owner.claim(fork.id)
          const forked = await ThreadLog.open({ store, stream: fork.id, fence })
          assert.deepEqual(await rowsWith(directory, store, [forked]), [])
        }
        if (name === 'SQLite') await assertNotInFile(directory)
      }),
    )
  })
}

suite('after kill -9 in the middle of what must not be kept', () => {
  for (const where of ['text', 'input', 'output']) {
    test(
      `${where}: it is sealed as interrupted, without the word`,
      { timeout: 120_000 },
      inTempDir(async (directory) => {
        const url = join(directory, 'data.db')
        const setup = await SqliteStore.open({ url })
        await createThread(setup, { id: 'thread', resourceId: 'test' })
        await setup.close()
        const child = spawn(process.execPath, [CHILD, url, 'thread', where], { stdio: ['ignore', 'pipe', 'inherit'] })
        await once(child.stdout, 'data')
        child.kill('SIGKILL')
        await once(child, 'close')

        const store = await SqliteStore.open({ url })
        const owner = await ProcessOwner.register(store)
        assert.deepEqual(await placesOf(directory, store, []), [])
        const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents: {}, redact })
        assert.equal(runtime.state.head.run, null)
        await runtime.close()
        assert.deepEqual(await rowsWith(directory, store, []), [])
        const { items } = await store.listMessages(runtime.state.head.lineage, { order: 'newest', limit: 1 })
        assert.equal(items[0]?.state, 'interrupted')
        if (where === 'text') assert.match(JSON.stringify(items[0]), /\[word\]/)
        await owner.close()
        await store.close()
        await assertNotInFile(directory)
      }),
    )
  }
})

async function lastBoundary(store: Store, { state }: ThreadLog): Promise<number> {
  return boundaryAt(store, state.head.lineage, state.head.seq)
}

/** Checks that closing the database removes what was overwritten from the file as well. */
async function assertNotInFile(directory: string): Promise<void> {
  assert.deepEqual(await placesOf(directory, new MemoryStore(), []), [])
}
