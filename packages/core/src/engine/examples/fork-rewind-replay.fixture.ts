import { Agent, createTool, MemoryStore } from '@inspan/core'
import { boundaryAt, createThread, forkThread, ProcessOwner } from '@inspan/core/engine'
import { rewindThread, runtimeAgent, ThreadRuntime } from '@inspan/core/engine'
import { createReplay } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'

const toss = createTool({ id: 'toss', description: 'Tosses a coin.', execute: () => 'tails' })
const model = scriptedModel([
  { text: 'Hello Ann.' },
  { toolCalls: [{ name: 'toss' }] },
  { text: 'Tails.', usage: { inputTokens: 30, outputTokens: 2 } },
  { text: 'Heads, I guess.', usage: { inputTokens: 20, outputTokens: 4 } },
])
const agents = { dealer: runtimeAgent(new Agent({ id: 'dealer', model, tools: { toss } })) }
const store = new MemoryStore()
const owner = await ProcessOwner.register(store)
await createThread(store, { id: 'main', resourceId: 'docs' })
const main = await ThreadRuntime.open({ store, owner, thread: 'main', agents })

async function ask(runtime: ThreadRuntime, text: string): Promise<string> {
  const run = await runtime.submit({ agentId: 'dealer', parts: [{ id: '0', type: 'text', text }] })
  await run.done
  return run.runId
}

async function show(runtime: ThreadRuntime): Promise<void> {
  const { items } = await store.listMessages(runtime.state.head.lineage, { order: 'oldest' })
  const texts = items.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : part.type)))
  console.log(texts.join(' | '))
}

await ask(main, 'I am Ann.')
const point = await boundaryAt(store, main.state.head.lineage, main.state.head.seq)
const tossed = await ask(main, 'Toss a coin.')
await show(main)

// Fork: another thread that continues from the point.
await forkThread(store, owner, await main.stateInTurn(), { id: 'fork', resourceId: 'docs', at: point })
const fork = await ThreadRuntime.open({ store, owner, thread: 'fork', agents })
const guessed = await ask(fork, 'What would a coin say?')
await show(fork)

// Rewind: the same thread goes back to the point. The old lineage restores what no longer shows.
const { lineage, seq } = main.state.head
await main.change((log) => rewindThread(store, log, point))
await show(main)
const end = await boundaryAt(store, lineage, seq)
await main.change((log) => rewindThread(store, log, end, lineage))
await show(main)

// Replay: the events of a thread, its parents' part included, from the log alone.
const replay = createReplay()
const { items: records } = await store.readLineage(fork.state.head.lineage, { limit: 1000 })
for (const event of records.flatMap(replay)) if (event.type === 'text-delta') console.log('replayed:', event.text)

// Compare: every record names the run it belongs to.
for (const [runtime, runId] of [[main, tossed] as const, [fork, guessed] as const]) {
  const page = await store.readLineage(runtime.state.head.lineage, { limit: 1000 })
  const bodies = page.items.flatMap(({ run, body }) => (run === runId ? body : []))
  const calls = bodies.filter(({ type }) => type === 'tool-call').length
  const steps = bodies.filter(({ type }) => type === 'step.started').length
  console.log(`${runtime.state.head.lastRun?.outcome}: ${steps} steps, ${calls} calls`)
}

for (const runtime of [fork, main]) await runtime.close()
await owner.close()
