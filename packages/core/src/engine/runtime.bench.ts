/** Measures what a runtime keeps in memory, and whether other tasks can run while it streams. Needs `--expose-gc`. */
import { setImmediate as nextTask } from 'node:timers/promises'
import { nativeDriver } from '@inspan/agent'
import { report, scriptedModel } from '@inspan/testing'
import { ThreadRuntime } from './thread-runtime.ts'
import { createThread } from './threads/threads.ts'
import { readyThread, sqlitePlace, type OwnedStore } from './turns/turn.fixture.ts'

/** Returns how much the heap grows per unit, in bytes. V8 keeps data about the code early on, so the median counts. */
async function growthPerUnit(units: number, work: () => Promise<void>): Promise<number> {
  const SEGMENTS = 7
  const growths: number[] = []
  for (let unit = 0; unit < units; unit++) await work()
  let before = await heap()
  for (let segment = 0; segment < SEGMENTS; segment++) {
    for (let unit = 0; unit < units; unit++) await work()
    const after = await heap()
    growths.push((after - before) / units)
    before = after
  }
  return Math.max(0, growths.sort((a, b) => a - b)[(SEGMENTS - 1) / 2] ?? Number.NaN)
}

/** Much of what a task used can only be collected after it, and many turns are one task: others have to run between. */
async function heap(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await nextTask()
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}

/** Measures runs one after the other on one thread, whose answers together are far larger than what may stay. */
async function keptPerRun(place: OwnedStore): Promise<void> {
  const answer = 'x'.repeat(10_000)
  const { id } = await createThread(place.store, { resourceId: 'bench' })
  // A new driver for every run: its model keeps the requests, which are not measured here.
  const driver = nativeDriver({ id: 'native', model: () => scriptedModel([{ text: answer }]) })
  const runtime = await ThreadRuntime.open({ ...place, thread: id, agents: { native: { driver } } })
  const kept = await growthPerUnit(30, async () => {
    await (
      await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    ).done
  })
  await runtime.close()
  report({
    name: 'heap kept per finished run, relative to what the run said',
    ratio: round(kept / answer.length),
    limit: 0.5,
    unit: 'bytes',
    floor: answer.length,
    ours: round(kept),
  })
}

/** Measures threads that wait for an approval and are released, as idle threads are. */
async function keptPerParkedThread(place: OwnedStore): Promise<void> {
  const args = { text: 'x'.repeat(10_000) }
  const kept = await growthPerUnit(100, async () => {
    const { id } = await createThread(place.store, { resourceId: 'bench' })
    const model = scriptedModel([{ toolCalls: [{ name: 'write', input: args }] }])
    const write = { name: 'write', inputSchema: { type: 'object' }, execute: async () => ({ result: 'done' }) } as const
    const runtime = await ThreadRuntime.open({
      ...place,
      thread: id,
      agents: { native: { driver: nativeDriver({ id: 'native', model }), tools: [write] } },
      decide: () => ({ policy: 'ask', reason: 'bench' }),
    })
    await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await runtime.idle()
    await runtime.close()
  })
  report({
    name: 'heap kept per parked thread, relative to what it waits with',
    ratio: round(kept / args.text.length),
    limit: 0.5,
    unit: 'bytes',
    floor: args.text.length,
    ours: round(kept),
  })
}

/** Measures how much more rarely a timer of 5 ms fires while an answer streams in as fast as it can. */
async function timersDuringStream(place: OwnedStore): Promise<void> {
  const thread = await readyThread(place, 200_000)
  let fired = 0
  const timer = setInterval(() => fired++, 5)
  const start = process.cpuUsage()
  await thread.turn()
  // By CPU time of the process: other load on the machine is not the stream's fault.
  const { user, system } = process.cpuUsage(start)
  const due = (user + system) / 1000 / 5
  clearInterval(timer)
  await thread.runtime.close()
  report({
    name: 'a 5 ms timer during an undelayed stream: due, relative to fired',
    ratio: round(due / Math.max(1, fired)),
    limit: 3,
    unit: 'times',
    floor: fired,
    ours: round(due),
  })
}

await using place = await sqlitePlace()
await keptPerRun(place)
await keptPerParkedThread(place)
await timersDuringStream(place)
