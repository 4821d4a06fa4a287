import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

export type Json = Readonly<Record<string, unknown>>

/** Prints one record. */
export function say(record: Json): void {
  process.stdout.write(`${JSON.stringify(record)}\n`)
}

/** Leaves its traces in the directory it works in. */
export function note(name: 'argv' | 'heard', what: unknown): void {
  appendFileSync(`${name}.jsonl`, `${JSON.stringify(what)}\n`)
}

/** Reads records until the input ends, then ends. */
export async function listen(hear: (record: Json) => void): Promise<void> {
  note('argv', process.argv.slice(2))
  for await (const line of createInterface({ input: process.stdin })) {
    const record = JSON.parse(line) as Json
    note('heard', record)
    hear(record)
  }
  process.exit(0)
}

/** A tool that runs until it is ended, and a child of it that has left its session. */
export function longTool(): () => void {
  const script = 'setTimeout(() => {}, 600_000)'
  spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore' }).unref()
  const tool = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
  return () => void tool.kill('SIGKILL')
}
