import { setTimeout as pause } from 'node:timers/promises'
import { procfs } from '../../src/run/procfs.ts'
import type { LineStream, RunProcess } from '../../src/run/index.ts'

const table = procfs()

/** For what no event tells: other processes coming and going. The limit is there to fail, not to measure. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await pause(20)
  }
}

export function isAlive(pid: number): boolean {
  const stat = table.stat(pid)
  return stat !== undefined && !stat.zombie
}

/** Reads lines until the reader has what it wants; the rest of the stream is left to be read later. */
export class LineReader {
  readonly #lines: AsyncIterator<{ readonly text: string }>

  constructor(stream: LineStream) {
    this.#lines = stream[Symbol.asyncIterator]()
  }

  async next(): Promise<string> {
    const result = await this.#lines.next()
    if (result.done === true) throw new Error('the stream ended before the line came')
    return result.value.text
  }

  async rest(): Promise<string[]> {
    const texts: string[] = []
    for (let result = await this.#lines.next(); result.done !== true; result = await this.#lines.next()) {
      texts.push(result.value.text)
    }
    return texts
  }
}

/** The pids that a run prints, one per line. */
export async function printedPids(run: RunProcess, count: number): Promise<number[]> {
  run.stderr.discard()
  const reader = new LineReader(run.stdout)
  const pids: number[] = []
  while (pids.length < count) pids.push(Number(await reader.next()))
  return pids
}

/** Everything a stream prints. */
export async function readTexts(stream: LineStream): Promise<string[]> {
  const texts: string[] = []
  for await (const line of stream) texts.push(line.text)
  return texts
}

/** Shell text that starts `command` in a session of its own with Node, as `setsid` would, and prints its pid. */
export function inOwnSession(command: string, env = 'process.env'): string {
  return toldFromOwnSession(`echo $$; exec >/dev/null; ${command}`, env)
}

/** The same with one that ignores SIGTERM. It does so from when its pid is printed: before, a signal would end it. */
export function deafInOwnSession(): string {
  return toldFromOwnSession('trap "" TERM; echo $$; exec >/dev/null; while :; do sleep 1000; done', 'process.env')
}

function toldFromOwnSession(script: string, env: string): string {
  const program = `const c = require('child_process').spawn('/bin/sh', ['-c', ${JSON.stringify(script)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env: ${env} }); c.stdout.once('data', (pid) => { process.stdout.write(pid); c.stdout.destroy(); c.unref() })`
  return `"${process.execPath}" -e '${program.replaceAll("'", `'\\''`)}'`
}

/** Shell text that takes the mark of the run off the shell, so that only the other signs are left. */
export const unmarked = 'prlimit --pid $$ --locks=0:'
