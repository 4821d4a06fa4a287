/**
 * Measures what must not grow with a thread: a fork, the bookkeeping of observational memory, and a turn with memory.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@inspan/agent'
import { Memory } from '@inspan/memory'
import { NO_RULES } from '@inspan/protocol'
import { SqliteStore } from '@inspan/stores'
import { compare, report, scriptedModel, type Work } from '@inspan/testing'
import { ThreadContext } from './thread-context.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { createThread, forkThread } from '../threads/threads.ts'
import { memoryBlob } from './memory-content.ts'
import { Harness } from '../../harness/harness.ts'

const NOTES = '<observations>\n- The user likes foxes.\n- The door is blue.\n</observations>'
const FORKS = 20
const STEPS = 50
const TURNS = 20
const RAW = 20

const folder = await mkdtemp(join(tmpdir(), 'bench-'))
const store = new SqliteStore({ url: `file:${join(folder, 'data.db')}` })
const owner = await ProcessOwner.register(store)

/** A thread of so many messages. With `isObserved`, observations stand for all but the newest. */
async function filled(messages: number, isObserved: boolean): Promise<{ id: string; log: ThreadLog }> {
  const { id } = await createThread(store, { resourceId: 'bench' })
  const log = await ThreadLog.open({ store, stream: id, fence: await owner.claim(id) })
  for (let from = 0; from < messages; from += 500) {
    await log.commit(
      Array.from({ length: Math.min(500, messages - from) }, (_, at) => ({
        type: 'message.added' as const,
        messageId: `m${from + at}`,
        role: (from + at) % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [
          { id: '0', type: 'text' as const, text: `Message ${from + at} about foxes, dogs and what they jump over.` },
        ],
      })),
    )
  }
  // As every conversation does, it ends with a run.
  const runId = 'last'
  await log.commit([{ type: 'run.started', runId, agentId: 'agent', rules: NO_RULES }])
  await log.commit([
    { type: 'message.added', messageId: 'end', role: 'user', parts: [{ id: '0', type: 'text', text: 'Bye.' }] },
  ])
  await log.commit([{ type: 'run.ended', runId, outcome: 'complete' }])
  if (isObserved) {
    const state = { observations: '- The user likes foxes.', generationCount: 0 }
    const { blob, ref } = memoryBlob({ text: NOTES, state })
    const om = { generation: 1, coversTo: log.state.head.seq - RAW, blob: ref.blob }
    await log.commit([{ type: 'om.committed', om, replaces: 0 }], {}, { blobs: [blob] })
  }
  return { id, log }
}

async function forks(messages: number): Promise<Work> {
  const { log } = await filled(messages, false)
  await log.flush()
  const at = await boundaryAt(store, log.state.head.lineage, log.state.head.seq)
  return async () => {
    for (let fork = 0; fork < FORKS; fork++) {
      await forkThread(store, owner, log.state, { resourceId: 'bench', at })
    }
    return FORKS
  }
}

/** What memory does before a step, without a model. */
async function bookkeeping(messages: number): Promise<Work> {
  const { log } = await filled(messages, true)
  const memory = new Memory({ observationalMemory: true })
  const services = {
    ask: async () => undefined,
    threshold: () => undefined,
    setTitle: async () => undefined,
    emit: () => undefined,
    now: Date.now,
    newId: () => 'cycle',
  }
  const context = new ThreadContext(store, log, undefined, (thread) => memory.attach(thread, services))
  return async () => {
    for (let step = 0; step < STEPS; step++) await context.memory?.beforeStep()
    return STEPS
  }
}

async function turns(messages: number): Promise<{ work: Work; close: () => Promise<void> }> {
  const { id } = await filled(messages, true)
  await owner.release(id, await owner.claim(id))
  const observer = scriptedModel([{ text: NOTES, repeat: true }])
  const harness = new Harness({
    id: 'bench',
    storage: store,
    agent: new Agent({ id: 'agent', model: scriptedModel([{ text: 'Yes.', repeat: true }]) }),
    modes: [{ id: 'chat' }],
    memory: new Memory({ observationalMemory: { observation: { messageTokens: 2_000, model: observer } } }),
  })
  await harness.init()
  await harness.switchThread({ threadId: id })
  return {
    work: async () => {
      for (let turn = 0; turn < TURNS; turn++) await harness.sendMessage({ content: 'Go on.' })
      return TURNS
    },
    close: () => harness.destroy(),
  }
}

try {
  const few = await forks(100)
  for (const messages of [10_000, 100_000]) {
    const name = `fork of a thread of ${messages} messages, SQLite, relative to one of 100`
    report(await compare({ name, limit: 1.5, unit: 'µs CPU', clock: 'cpu', floor: few, ours: await forks(messages) }))
  }
  const floor = await bookkeeping(200)
  const name = 'bookkeeping of observational memory before a step, thread of 20,000 messages, relative to one of 200'
  report(await compare({ name, limit: 1.5, unit: 'µs CPU', clock: 'cpu', floor, ours: await bookkeeping(20_000) }))
  const short = await turns(100)
  for (let round = 0; round < 10; round++) await short.work()
  const long = await turns(10_000)
  report(
    await compare({
      name: 'turn with observational memory in a thread of 10,000 messages, SQLite, relative to one of 100',
      limit: 1.1,
      unit: 'µs CPU',
      clock: 'cpu',
      floor: short.work,
      ours: long.work,
    }),
  )
  await short.close()
  await long.close()
} finally {
  await owner.close()
  await store.close()
  await rm(folder, { recursive: true })
}
