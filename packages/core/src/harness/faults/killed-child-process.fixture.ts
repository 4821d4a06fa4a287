import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Runs a program until it has printed a line, kills it with SIGKILL, and returns the line. */
export async function killAfterLine(program: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let line = ''
  for await (const first of createInterface({ input: child.stdout })) {
    line = first
    break
  }
  child.kill('SIGKILL')
  await closed
  return line
}
