/** What the chat costs while 200 tokens a second stream in, in a real terminal. */
import { spawn } from 'node:child_process'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadLog } from '@inspan/core/engine'
import { serve, type InspanServer } from '@inspan/server'
import { report, scriptedModel } from '@inspan/testing'
import { TmuxTerminal } from './tmux.fixture.ts'

const FOLLOW = fileURLToPath(new URL('follow.fixture.ts', import.meta.url))
const ROUNDS = 2
const TOKENS = 600
const TOKEN_MS = 5
const END = 'The end of it.'
const words = Array.from({ length: TOKENS }, (_, index) => (index % 40 === 39 ? `word${index}.\n\n` : `word${index} `))

/** Serves a thread with so many messages, into which a stream comes when somebody speaks. */
async function serveThread(messages: number) {
  const storage = new MemoryStore()
  const { id } = await createThread(storage, { resourceId: 'chat', title: 'A long one' })
  const owner = await ProcessOwner.register(storage)
  const log = await ThreadLog.open({ store: storage, stream: id, fence: await owner.claim(id) })
  for (let from = 0; from < messages; from += 500) {
    await log.commit(
      Array.from({ length: Math.min(500, messages - from) }, (_, at) => ({
        type: 'message.added' as const,
        messageId: `m${from + at}`,
        role: (from + at) % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [{ id: '0', type: 'text' as const, text: `Message ${from + at} with **some** words.` }],
      })),
    )
  }
  await owner.release(id, await owner.claim(id))
  await owner.close()
  const agent = new Agent({ id: 'me', model: scriptedModel([{ text: [...words, END], delayPerDeltaMs: TOKEN_MS }]) })
  const harness = new Harness({ id: 'chat', agent, storage, modes: [{ id: 'build' }] })
  const server = await serve({ harness })
  return {
    id,
    server,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await harness.destroy()
    },
  }
}

/** Returns the milliseconds of CPU that the chat uses for the stream. */
async function drawn(messages: number): Promise<number> {
  await using served = await serveThread(messages)
  using terminal = new TmuxTerminal()
  const { token, url } = served.server
  terminal.chat(['--connect', url, '--thread', served.id], { INSPAN_TOKEN: token })
  await terminal.shows(new RegExp(`Message ${messages - 1} with`))
  const before = terminal.cpuMs()
  terminal.type('Go')
  terminal.press('Enter')
  await terminal.shows(/The end of it\./)
  return terminal.cpuMs() - before
}

/** Returns the milliseconds of CPU that a program uses which follows the same stream and draws nothing. */
async function followed(messages: number): Promise<number> {
  await using served = await serveThread(messages)
  const child = spawn(process.execPath, [FOLLOW, ...argsOf(served.server), served.id, END], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { connect } = await import('@inspan/client')
  const client = await connect({ url: served.server.url, token: served.server.token, thread: served.id })
  const said = new Promise<void>((resolve) => void child.stdout.once('readable', resolve))
  await said
  await client.send({ type: 'submit', prompt: 'Go' }).receipt
  const printed = await textOf(child.stdout)
  await client.close()
  return Number(printed.trim().split('\n').at(-1))
}

function argsOf({ token, url }: InspanServer): readonly string[] {
  return [url, token]
}

const [floors, shorts, longs]: [number[], number[], number[]] = [[], [], []]
for (let round = 0; round < ROUNDS; round++) {
  floors.push(await followed(50))
  shorts.push(await drawn(50))
  longs.push(await drawn(5000))
}
// Interference only makes a round slower.
const [floor, short, long] = [Math.min(...floors), Math.min(...shorts), Math.min(...longs)]
report({
  name: 'inspan chat: CPU while 200 tokens a second stream in, relative to a client that draws nothing',
  ratio: Number((short / floor).toPrecision(3)),
  limit: 8,
  unit: 'ms',
  floor,
  ours: short,
})
report({
  name: 'inspan chat: CPU while 200 tokens a second stream into a thread of 5,000 messages, relative to one of 50',
  ratio: Number((long / short).toPrecision(3)),
  limit: 1.3,
  unit: 'ms',
  floor: short,
  ours: long,
})
