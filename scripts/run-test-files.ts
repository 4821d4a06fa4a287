import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

/** Every test has this long, however busy the machine is. */
const TEST_TIMEOUT_MS = 300_000
/** How far it is, said so often: what a long file has to say comes before what was run beside it. */
const PROGRESS_MS = 15_000
/**
 * Those that take longest, first: nobody waits at the end for one that has begun late. Only the order depends on it, so
 * it need not be complete.
 */
export const LONGEST: readonly string[] = [
  'scripts/launch-older-node.test.ts',
  'scripts/pack.test.ts',
  'packages/core/src/engine/troubled-writes.test.ts',
  'packages/core/src/engine/crash-matrix.test.ts',
  'packages/adapters/test/fuzz.test.ts',
  'packages/core/src/engine/many.test.ts',
  'packages/core/src/engine/passivation.test.ts',
  'packages/protocol/src/reduce/fold.test.ts',
]

export interface TestFilesOptions {
  readonly root: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs every file in a process of its own, a few at a time, reports on standard output, and gives whether all have passed. */
export async function runTestFiles(files: readonly string[], { root, env }: TestFilesOptions): Promise<boolean> {
  const startedAt = Date.now()
  let ended = 0
  const timer = setInterval(() => {
    console.error(`[${Math.round((Date.now() - startedAt) / 1_000)} s] ${ended} of ${files.length} files`)
  }, PROGRESS_MS)
  const events = run({
    files: longestFirst(files),
    cwd: root,
    // One more than there are cores: many of them wait for a process or a timer. Node itself would leave a core idle.
    concurrency: availableParallelism() + 1,
    timeout: TEST_TIMEOUT_MS,
    env: { ...process.env, ...env },
  })
  let havePassed = false
  events.on('test:complete', ({ nesting, name }) => {
    if (nesting === 0 && files.includes(name)) ended += 1
  })
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) havePassed = success
  })
  try {
    for await (const text of events.compose(spec)) process.stdout.write(String(text))
  } finally {
    clearInterval(timer)
  }
  return havePassed
}

function longestFirst(files: readonly string[]): string[] {
  return files.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function placeOf(file: string): number {
  const place = LONGEST.findIndex((name) => file.endsWith(name))
  return place === -1 ? LONGEST.length : place
}
