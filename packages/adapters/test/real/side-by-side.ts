/**
 * Half of the time these tests only wait: for an answer that comes after a minute, for a CLI that gives up at last. So
 * a suite starts several tests at a time, and lets as many work at once as the machine handles well.
 */
export const SIDE_BY_SIDE = { concurrency: 6 } as const
const WORKING = 2

/** How long a test may take, including its wait for a turn: many times the usual, as the machine may be busy. */
export const TEST_MS = 20 * 60_000
/** How long the installation of a CLI may take, with all attempts. */
export const INSTALL_MS = 60 * 60_000

let working = 0
const queue: (() => void)[] = []

/** Runs the work when it is its turn. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  await begin()
  try {
    return await work()
  } finally {
    end()
  }
}

/** Within a test that has its turn: waits for something, and lets another test work meanwhile. */
export async function idly<T>(wait: () => Promise<T>): Promise<T> {
  end()
  try {
    return await wait()
  } finally {
    await begin()
  }
}

async function begin(): Promise<void> {
  if (working < WORKING) working += 1
  // `end` hands its place over.
  else await new Promise<void>((resolve) => queue.push(resolve))
}

function end(): void {
  const next = queue.shift()
  if (next === undefined) working -= 1
  else next()
}
