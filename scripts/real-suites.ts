import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'

/** Suites wait as much as they work, so two run at the same time. */
const AT_ONCE = 2
/** After so long without news, progress is logged again. */
const QUIET_MS = 60_000
/** Longer than a test and the installation of a program may take together. A suite without output for so long hangs. */
const HUNG_MS = 90 * 60_000
/** The suites that take longest start first, so that none of them starts late and is waited for at the end. */
const LONGEST: readonly RegExp[] = [/kilo-code-live/, /programs\.real/, /kilo-code/, /opencode/, /cline/, /acp-agents/]

export interface SuitesOptions {
  readonly root: string
  readonly env?: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
  /** A suite without output for so long is ended and counts as failed. */
  readonly hungMs?: number
}

interface Suite {
  readonly name: string
  readonly startedAt: number
  passed: number
  failed: number
}

/** Runs the suites of tests on real programs, logs their progress, and returns whether all have passed. */
export async function runSuites(files: readonly string[], options: SuitesOptions): Promise<boolean> {
  const { log = (line) => console.error(line) } = options
  const startedAt = Date.now()
  const waiting = files.toSorted((a, b) => placeOf(a) - placeOf(b))
  const running = new Set<Suite>()
  const failed: string[] = []
  let ended = 0
  let saidAt = Date.now()
  const say = (words: string): void => {
    saidAt = Date.now()
    log(`[${clock(saidAt - startedAt)}] ${words}`)
  }
  const timer = setInterval(() => {
    if (Date.now() - saidAt < QUIET_MS) return
    say(
      [...running].map((suite) => `${suite.name}: ${count(suite)}, ${clock(Date.now() - suite.startedAt)}`).join('; '),
    )
  }, QUIET_MS / 4)
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const suite: Suite = { name: basename(file, '.ts'), startedAt: Date.now(), passed: 0, failed: 0 }
      running.add(suite)
      say(`${suite.name} …`)
      const output: string[] = []
      const code = await play(file, suite, options, (line) => {
        output.push(line)
        // The reason is printed at the end. The name is printed at once, so that it can be looked at meanwhile.
        if (/^ +✖ /.test(line)) say(`${suite.name}: ${line.trim()}`)
      })
      running.delete(suite)
      ended += 1
      const took = clock(Date.now() - suite.startedAt)
      if (code !== 0) {
        failed.push(suite.name)
        for (const line of output) log(line)
      }
      say(`${code === 0 ? '✔' : '✖'} ${suite.name}: ${count(suite)} in ${took} (${ended} of ${files.length})`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  clearInterval(timer)
  if (failed.length > 0) say(`failed: ${failed.join(', ')}`)
  return failed.length === 0
}

function placeOf(file: string): number {
  const place = LONGEST.findIndex((pattern) => pattern.test(file))
  return place === -1 ? LONGEST.length : place
}

/** Every test has its own timeout. What hangs nevertheless, such as a program that still runs, is ended. */
async function play(
  file: string,
  suite: Suite,
  { root, env, hungMs = HUNG_MS }: SuitesOptions,
  onLine: (line: string) => void,
): Promise<number> {
  const child = spawn(process.execPath, ['--test-reporter=spec', file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The suite must report to us, even when we are being tested ourselves.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
  })
  const hung = setTimeout(() => {
    onLine(`${suite.name} has said nothing for ${clock(hungMs)} and was ended.`)
    child.kill('SIGKILL')
    // Processes that the suite started may keep the streams open.
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
  }, hungMs)
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      hung.refresh()
      if (/^ +✔ /.test(line)) suite.passed += 1
      if (/^ +✖ /.test(line)) suite.failed += 1
      onLine(line)
    })
  }
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? 1))
  }).finally(() => clearTimeout(hung))
}

function count({ passed, failed }: Suite): string {
  return failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
