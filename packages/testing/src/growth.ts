import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The growth that still counts as linear: ten times the input may take twelve times the time and memory. */
export const GROWTH_LIMIT = 12
/** The clock advances in steps of some milliseconds. Work that takes only a few of them at ten times the input is fine. */
const LEAST_MS = 24
/** Heaps move by this much on their own. */
const LEAST_BYTES = 4_000_000
const TRIES = 8

/** Makes the work for an input of one or ten times the size. Making the input is not measured. */
export type MakeWork = (factor: 1 | 10) => () => unknown

/**
 * Returns by what factor the time of a work grows when its input grows tenfold. Compares the large input once with the
 * small one ten times, right after each other. The lowest of several tries counts, and the first within the limit is
 * believed: other programs slow both down, but not by the same factor. Work that is not linear is far above the limit.
 */
export async function timeGrowth(make: MakeWork): Promise<number> {
  let growth = Infinity
  for (let attempt = 0; attempt < TRIES && growth > GROWTH_LIMIT; attempt++) {
    const large = await cpuOf(make(10))
    if (large < LEAST_MS) return 1
    const once = make(1)
    const small = await cpuOf(async () => {
      for (let round = 0; round < 10; round++) await once()
    })
    growth = Math.min(growth, (large * 10) / small)
  }
  return growth
}

/**
 * Returns by what factor the memory grows that is held by what a work returns, when its input grows tenfold. The
 * lowest of several tries counts, because earlier garbage may be collected in between. What a heap moves by on its own
 * is not counted; memory that grows with the square of the input is far above it.
 */
export async function memoryGrowth(make: MakeWork): Promise<number> {
  let growth = Infinity
  for (let attempt = 0; attempt < TRIES && growth > GROWTH_LIMIT; attempt++) {
    const large = (await heldBy(make(10))) - LEAST_BYTES
    if (large < 0) return 1
    growth = Math.min(growth, large / Math.max(await heldBy(make(1)), LEAST_BYTES / 10))
  }
  return growth
}

async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1000
}

/** A reader may keep its last input until the next one comes. So each size is measured after itself. */
async function heldBy(work: () => unknown): Promise<number> {
  await work()
  const before = await heapBytes()
  const held = [await work()]
  const bytes = (await heapBytes()) - before
  held.length = 0
  return bytes
}

/** Bytes outside the heap are freed some turns after what held them was collected. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 3; round++) {
    collect()
    await nextTurn()
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
