/**
 * Measures a turn of one delta through the harness on SQLite, in threads of different length, relative to the same turn
 * in a short thread and to `streamText` with the same messages. Every round has a thread of its own, so that it stays as
 * long as it says; its first turn, which reads the thread, is not counted.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { compare, report, type ScriptedModel, type Work } from '@inspan/testing'
import { streamText, type ModelMessage } from 'ai'
import { createThread, ProcessOwner, ThreadRuntime } from '../engine/index.ts'
import { Harness } from './harness.ts'

const TURNS = 20

type Model = Pick<
  ScriptedModel,
  'specificationVersion' | 'provider' | 'modelId' | 'supportedUrls' | 'doGenerate' | 'doStream'
>
type StreamPart = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

/** Says one word, and does not look at the request: a scripted model would spend its time writing it down. */
const model: Model = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('It streams.')),
  doStream: async () => {
    const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
    const parts: StreamPart[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Yes.' },
      { type: 'text-end', id: '0' },
      {
        type: 'finish',
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: { inputTokens: count, outputTokens: { total: 1, text: 1, reasoning: 0 } },
      },
    ]
    return { stream: ReadableStream.from(parts) }
  },
}

function textOf(index: number): string {
  return `Message ${index} of a conversation about foxes, dogs and what they jump over.`
}

async function filledThread(store: SqliteStore, messages: number): Promise<string> {
  const { id } = await createThread(store, { resourceId: 'bench' })
  const owner = await ProcessOwner.register(store)
  const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents: {} })
  for (let index = 0; index < messages; index += 500) {
    await runtime.record(
      Array.from({ length: Math.min(500, messages - index) }, (_, at) => ({
        type: 'message.added' as const,
        messageId: `m${index + at}`,
        role: (index + at) % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [{ id: '0', type: 'text' as const, text: textOf(index + at) }],
      })),
    )
  }
  await runtime.close()
  await owner.close()
  return id
}

interface Turns {
  readonly work: Work
  /** Takes a new thread of the same length. */
  readonly renew: () => Promise<void>
  readonly close: () => Promise<void>
}

async function harnessTurns(store: SqliteStore, messages: number): Promise<Turns> {
  const harness = new Harness({
    id: 'bench',
    storage: store,
    agent: new Agent({ id: 'agent', model }),
    modes: [{ id: 'chat' }],
  })
  await harness.init()
  const say = (): Promise<void> => harness.sendMessage({ content: 'Go on.' })
  return {
    work: async () => {
      for (let turn = 0; turn < TURNS; turn++) await say()
      return TURNS
    },
    renew: async () => {
      await harness.switchThread({ threadId: await filledThread(store, messages) })
      await say()
    },
    close: () => harness.destroy(),
  }
}

function sdkTurns(messages: number): Work {
  const said = Array.from({ length: messages }, (_, index): ModelMessage => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: textOf(index),
  }))
  return async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      const result = streamText({ model, messages: [...said, { role: 'user', content: 'Go on.' }] })
      for await (const part of result.fullStream) if (part.type === 'error') throw part.error
    }
    return TURNS
  }
}

const folder = await mkdtemp(join(tmpdir(), 'bench-'))
const store = new SqliteStore({ url: `file:${join(folder, 'data.db')}` })
try {
  const short = await harnessTurns(store, 10)
  await short.renew()
  // The first rounds of a process compile what all others run.
  for (let round = 0; round < 20; round++) await short.work()
  for (const messages of [10, 1_000, 10_000]) {
    const ours = await harnessTurns(store, messages)
    const rounds = messages === 10_000 ? 15 : 40
    const shared = { unit: 'µs CPU', clock: 'cpu', ours: ours.work, rounds } as const
    if (messages > 10) {
      await short.renew()
      await ours.renew()
      report(
        await compare({
          ...shared,
          name: `turn of one delta in a thread of ${messages} messages, SQLite, relative to one of 10`,
          limit: 1.3,
          floor: short.work,
          prepare: async () => {
            await short.renew()
            await ours.renew()
          },
        }),
      )
    }
    report(
      await compare({
        ...shared,
        name: `turn of one delta in a thread of ${messages} messages, SQLite, relative to streamText with the same messages`,
        limit: 2,
        floor: sdkTurns(messages),
        prepare: ours.renew,
      }),
    )
    await ours.close()
  }
  await short.close()
} finally {
  await store.close()
  await rm(folder, { recursive: true })
}
