import { InspanError } from '@inspan/protocol'
import { spawnRun, type RunProcess } from '@inspan/shell/run'
import type { Environment } from './find-cli.ts'

export interface ProgramQuestion {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Environment
  readonly deadlineMs: number
  readonly signal?: AbortSignal
}

/**
 * Waits until a program that was only asked something has exited, and ends the processes that it left running: they may
 * hold its output open. Resolves when nothing is left.
 */
export async function endRest(run: RunProcess): Promise<void> {
  await run.processExited
  await run.kill({ graceMs: 0 })
}

/** Runs a program to its end and returns what it printed. Rejects if it fails, takes too long or is stopped. */
export async function askProgram(question: ProgramQuestion): Promise<string> {
  const { signal, deadlineMs, ...options } = question
  signal?.throwIfAborted()
  const run = await spawnRun({ ...options, deadlineMs, onDeadline: () => void run.kill({ graceMs: 0 }) })
  const stop = (): void => void run.kill({ graceMs: 0 })
  signal?.addEventListener('abort', stop)
  if (signal?.aborted === true) stop()
  try {
    const said: string[] = []
    const complaints: string[] = []
    const read = async (lines: typeof run.stdout, into: string[]): Promise<void> => {
      for await (const line of lines) into.push(line.text)
    }
    await Promise.all([read(run.stdout, said), read(run.stderr, complaints), endRest(run)])
    const { code, signal: killedBy } = await run.exited
    signal?.throwIfAborted()
    if (code === 0) return said.join('\n')
    throw new InspanError('io', `"${question.command} ${question.args.join(' ')}" ended with ${killedBy ?? code}.`, {
      details: { output: complaints.join('\n').slice(-2_000) },
    })
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
