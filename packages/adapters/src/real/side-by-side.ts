/**
 * Half of what these tests do is waiting: for an answer that comes after a minute, for a program that gives up at last.
 * So a suite begins several tests at a time, and as many of them work as the machine does well.
 */
export const SIDE_BY_SIDE = { concurrency: 6 } as const
const WORKING = 2

/** How long a test may take, with its turn to work: many times what it does, as the machine may be busy. */
export const TEST_MS = 20 * 60_000
/** How long the installation of a program may take, with all its attempts. */
export const INSTALL_MS = 60 * 60_000

let working = 0
const queue: (() => void)[] = []

/** Does it when it is its turn. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  await begin()
  try {
    return await work()
  } finally {
    end()
  }
}

/** In a test that works: what it only waits for, so that another one can work meanwhile. */
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
  // Whoever ends hands the place over.
  else await new Promise<void>((resolve) => queue.push(resolve))
}

function end(): void {
  const next = queue.shift()
  if (next === undefined) working -= 1
  else next()
}
