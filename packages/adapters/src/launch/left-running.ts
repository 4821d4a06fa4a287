import { findTagged, type RunProcess } from '@inspan/shell/run'
import { isFulfilledWithin } from './within.ts'

/** How long processes that outlive the CLI may hold its output open. */
const HELD_OPEN_MS = 2_000

/** Waits for the CLI to exit. Returns false if a process that it left running still holds its output open. */
export async function endsWithItsOutput(process: RunProcess): Promise<boolean> {
  await process.processExited
  let isOver = false
  do {
    isOver = await isFulfilledWithin(process.exited, HELD_OPEN_MS)
  } while (!isOver && (process.stdout.paused || process.stderr.paused))
  return isOver
}

/** Lists what an exited CLI left running, for people to read. */
export async function leftRunning(process: RunProcess, isOutputOver: boolean): Promise<string | undefined> {
  const left = await findTagged(process.runId)
  if (isOutputOver && left.length === 0) return undefined
  return left.map(({ name, pid }) => `${name} (${pid})`).join(', ') || 'an unknown process'
}
