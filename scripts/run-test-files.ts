import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

/** The timeout of every test, however busy the machine is. */
const TEST_TIMEOUT_MS = 300_000
/** How often progress is printed: the output of a long file comes before that of files run beside it. */
const PROGRESS_MS = 15_000
/**
 * The files that take longest, which start first, so that none of them starts late and is waited for at the end. Only
 * the order depends on this list, so it need not be complete.
 */
export const LONGEST: readonly string[] = [
  'scripts/launch-older-node.test.ts',
  'scripts/pack.test.ts',
  'packages/core/src/engine/faults/troubled-writes.test.ts',
  'packages/core/src/engine/faults/crash-matrix.test.ts',
  'packages/adapters/test/fuzz.test.ts',
  'packages/core/src/engine/faults/many.test.ts',
  'packages/core/src/engine/threads/passivation.test.ts',
  'packages/protocol/src/reduce/fold.test.ts',
]

export interface TestFilesOptions {
  readonly root: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs every file in a separate process, a few at a time, and prints the report. True if all have passed. */
export async function runTestFiles(files: readonly string[], { root, env }: TestFilesOptions): Promise<boolean> {
  const startedAt = Date.now()
  let ended = 0
  const running = new Set<string>()
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1_000)
    console.error(`[${seconds} s] ${ended} of ${files.length} files, now ${[...running].join(', ')}`)
  }, PROGRESS_MS)
  const events = run({
    files: longestFirst(files),
    cwd: root,
    // One more than there are cores, because many files wait for a process or a timer. Node's default would leave a
    // core idle.
    concurrency: availableParallelism() + 1,
    timeout: TEST_TIMEOUT_MS,
    env: { ...process.env, ...env },
  })
  let havePassed = false
  // Node counts a file that exits with code 0 in the middle of its tests as passed.
  const withoutTests: string[] = []
  const openTests = new Map<string, number>()
  const count = (file: string, more: number): void => void openTests.set(file, (openTests.get(file) ?? 0) + more)
  const isFile = (nesting: number, name: string): boolean => nesting === 0 && files.includes(name)
  events.on('test:enqueue', ({ file = '' }) => count(file, 1))
  events.on('test:dequeue', ({ nesting, name }) => {
    if (isFile(nesting, name)) running.add(name)
  })
  events.on('test:complete', ({ nesting, name, file = '' }) => {
    count(file, -1)
    if (!isFile(nesting, name)) return
    ended += 1
    running.delete(name)
  })
  // Node reports a file as a test only when it contains none.
  events.on('test:pass', ({ nesting, name }) => {
    if (isFile(nesting, name)) withoutTests.push(name)
  })
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) havePassed = success
  })
  try {
    for await (const text of events.compose(spec)) process.stdout.write(String(text))
  } finally {
    clearInterval(timer)
  }
  const unfinished = [...openTests].flatMap(([file, open]) => (open > 0 ? [file] : [])).concat(withoutTests)
  if (unfinished.length > 0) process.stdout.write(`✖ ended before its tests were over: ${unfinished.join(', ')}\n`)
  return havePassed && unfinished.length === 0 && ended === files.length
}

function longestFirst(files: readonly string[]): string[] {
  return files.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function placeOf(file: string): number {
  const place = LONGEST.findIndex((name) => file.endsWith(name))
  return place === -1 ? LONGEST.length : place
}
