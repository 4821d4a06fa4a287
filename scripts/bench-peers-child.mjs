/**
 * Takes one measurement of one subject in a separate process and prints it as a line of JSON.
 * Run as: node --expose-gc bench-peers-child.mjs <subject> <measure> <count> <folder whose node_modules hold the
 * subject>
 * Plain JavaScript, so that nothing but the subject has to be loaded.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [subject, measure, countText, folder] = process.argv.slice(2)
const count = Number(countText)
const require = createRequire(join(folder, 'index.js'))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)
const temporary = mkdtempSync(join(tmpdir(), 'inspan-peers-'))

/** A model that answers without delay, about five characters per delta. */
function model(deltas) {
  const usage = {
    inputTokens: { total: 10, noCache: 10 },
    outputTokens: { total: deltas, text: deltas },
  }
  const state = { deltas }
  return {
    state,
    specificationVersion: 'v3',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] })
          controller.enqueue({ type: 'text-start', id: '0' })
          for (let n = 0; n < state.deltas; n++) {
            controller.enqueue({ type: 'text-delta', id: '0', delta: `word${n % 10} ` })
          }
          controller.enqueue({ type: 'text-end', id: '0' })
          controller.enqueue({ type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } })
          controller.close()
        },
      }),
    }),
  }
}

/** Each has `open(speaker)`, which makes a conversation: `fresh()` starts a thread, `send()` sends one message. */
const SUBJECTS = {
  /** The time Node itself takes to start, which nothing can be below. */
  async node() {
    return {
      open: async () => ({ fresh: async () => undefined, send: async () => undefined }),
      close: async () => undefined,
    }
  },
  async streamText() {
    const { streamText } = await load('ai')
    return {
      async open(speaker) {
        return {
          fresh: async () => undefined,
          async send() {
            const result = streamText({ model: speaker, prompt: 'Go.' })
            for await (const part of result.fullStream) if (part.type === 'error') throw part.error
          },
        }
      },
      close: async () => undefined,
    }
  },
  inspan: () => inspan(async ({ MemoryStore }) => new MemoryStore()),
  'inspan-sqlite': () => inspan(async ({ SqliteStore }) => new SqliteStore({ url: join(temporary, 'data.db') })),
  /** A chat session of the SDK, as the next one is a session of the AI SDK's harness. */
  async 'inspan-sdk'() {
    const [{ createAgentManager, NativeHarnessFactory }, { MemoryStore }] = await Promise.all([
      load('@inspan/sdk'),
      load('@inspan/core'),
    ])
    const shared = model(0)
    const factory = new NativeHarnessFactory({ model: shared, store: new MemoryStore() })
    const manager = await createAgentManager(temporary, factory)
    return {
      async open(speaker) {
        shared.doStream = speaker.doStream
        const agent = await manager.createAgent(temporary)
        let session = await agent.createChatSession()
        return {
          fresh: async () => (session = await agent.createChatSession()),
          async send() {
            const { eventStream } = await session.chat('Go.')
            for await (const event of eventStream) if (event.type === 'error') throw event.error
          },
        }
      },
      close: () => manager.shutdown(),
    }
  },
  /** It keeps nothing, and brings no loop of its own: the harness below it passes on what the model says. */
  async 'ai-harness'() {
    const { HarnessAgent } = await load('@ai-sdk/harness/agent')
    const nothing = async () => ({ exitCode: 0, stdout: '', stderr: '' })
    const sandboxSession = { description: 'none', run: nothing, defaultWorkingDirectory: temporary }
    return {
      async open(speaker) {
        const agent = new HarnessAgent({ harness: speakingHarness(speaker) })
        let session = await agent.createSession({ sandboxSession })
        return {
          fresh: async () => (session = await agent.createSession({ sandboxSession })),
          async send() {
            const { stream } = await agent.stream({ session, prompt: 'Go.' })
            for await (const part of stream) if (part.type === 'error') throw part.error
          },
        }
      },
      close: async () => undefined,
    }
  },
  mastra: () => mastra(async () => new (await load('@mastra/core/storage')).InMemoryStore()),
  'mastra-libsql': () =>
    mastra(async () => {
      const { LibSQLStore } = await load('@mastra/libsql')
      return new LibSQLStore({ id: 'bench', url: `file:${join(temporary, 'data.db')}` })
    }),
}

function speakingHarness(speaker) {
  const say = async (emit) => {
    const { stream } = await speaker.doStream()
    for await (const part of stream) {
      if (part.type !== 'finish') emit(part)
      else {
        const { finishReason, usage } = part
        emit({ type: 'finish-step', finishReason, usage })
        emit({ type: 'finish', finishReason, totalUsage: usage })
      }
    }
  }
  return {
    specificationVersion: 'harness-v1',
    harnessId: 'bench',
    builtinTools: {},
    doStart: async ({ sessionId }) => ({
      sessionId,
      isResume: false,
      doPromptTurn: async ({ emit }) => ({ submitToolResult: async () => undefined, done: say(emit) }),
      doDestroy: async () => undefined,
    }),
  }
}

async function inspan(makeStore) {
  const core = await load('@inspan/core')
  const storage = await makeStore(core)
  const shared = model(0)
  const harness = new core.Harness({
    id: 'bench',
    storage,
    agent: new core.Agent({ id: 'agent', model: shared }),
    modes: [{ id: 'chat' }],
    initialState: { yolo: true },
  })
  await harness.init()
  return {
    async open(speaker, resourceId) {
      shared.state = speaker.state
      shared.doStream = speaker.doStream
      const session = await harness.createSession({ resourceId })
      watch(session)
      return { fresh: () => session.thread.create(), send: () => session.sendMessage({ content: 'Go.' }) }
    },
    close: () => harness.destroy(),
  }
}

async function mastra(makeStore) {
  const [{ Harness }, { Agent }, { Memory }] = await Promise.all([
    load('@mastra/core/harness'),
    load('@mastra/core/agent'),
    load('@mastra/memory'),
  ])
  const storage = await makeStore()
  const memory = new Memory({ storage })
  const shared = model(0)
  const controller = new Harness({
    id: 'bench',
    storage,
    memory,
    agent: new Agent({ id: 'agent', name: 'agent', instructions: 'Answer.', model: shared, memory }),
    modes: [{ id: 'chat', name: 'Chat', default: true }],
    initialState: { yolo: true },
  })
  await controller.init()
  return {
    async open(speaker, resourceId) {
      shared.state = speaker.state
      shared.doStream = speaker.doStream
      const session = await controller.createSession({ resourceId })
      watch(session)
      return { fresh: () => session.thread.create(), send: () => session.sendMessage({ content: 'Go.' }) }
    },
    close: () => controller.destroy(),
  }
}

/** Subscribes like a UI. */
function watch(session) {
  session.subscribe((event) => {
    if (event.type === 'error') throw event.error
    if (event.type === 'display_state_changed') session.displayState.get()
  })
}

const MEASURES = {
  /** One answer of `count` deltas, after a warm-up. */
  async stream() {
    const made = await SUBJECTS[subject]()
    const speaker = model(200)
    const conversation = await made.open(speaker, 'r')
    for (let n = 0; n < 10; n++) await conversation.send()
    await conversation.fresh()
    speaker.state.deltas = count
    const spent = meter()
    await conversation.send()
    const result = spent()
    await made.close()
    return result
  },
  /** Everything from the start of the process to the end of its first answer. */
  async cold() {
    const made = await SUBJECTS[subject]()
    await (await made.open(model(1), 'r')).send()
    const { system, user } = process.cpuUsage()
    const result = {
      wallMs: performance.now(),
      cpuMs: (system + user) / 1000,
      rssMb: process.memoryUsage.rss() / 1e6,
    }
    await made.close()
    return result
  },
  /** Sessions that have a thread and do nothing. */
  async idle() {
    const made = await SUBJECTS[subject]()
    const warm = await made.open(model(1), 'warm')
    await warm.fresh()
    gc()
    const before = process.memoryUsage().heapUsed
    const sessions = []
    for (let n = 0; n < count; n++) {
      const session = await made.open(model(1), `r${n}`)
      await session.fresh()
      sessions.push(session)
    }
    gc()
    const heapKb = (process.memoryUsage().heapUsed - before) / 1024 / sessions.length
    await made.close()
    return { heapKb }
  },
  /** `count` sessions at once, with 200 deltas each. */
  async concurrent() {
    const made = await SUBJECTS[subject]()
    const speaker = model(200)
    const sessions = []
    for (let n = 0; n < count; n++) sessions.push(await made.open(speaker, `r${n}`))
    for (const session of sessions) await session.fresh()
    const spent = meter()
    await Promise.all(sessions.map((session) => session.send()))
    const result = { ...spent(), rssMb: process.memoryUsage.rss() / 1e6 }
    await made.close()
    return result
  },
}

function meter() {
  const cpu = process.cpuUsage()
  const start = performance.now()
  return () => {
    const { system, user } = process.cpuUsage(cpu)
    return { wallMs: performance.now() - start, cpuMs: (system + user) / 1000 }
  }
}

try {
  console.log(JSON.stringify(await MEASURES[measure]()))
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
process.exit()
