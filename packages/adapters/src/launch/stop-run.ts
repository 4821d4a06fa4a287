import { setTimeout as pause } from 'node:timers/promises'
import type { KillReceipt, RunProcess } from '@inspan/shell/run'
import type { StopWay } from './profile.ts'

/** Stops the program its own clean way first, then kills what is left of the run. */
export async function stopRun(run: RunProcess, way: StopWay): Promise<KillReceipt> {
  if ('signal' in way) return run.kill(way)
  const over = new AbortController()
  const wasRunning = await isRunning(run)
  void run.closeStdin()
  await Promise.race([run.processExited, pause(way.graceMs, undefined, { signal: over.signal }).catch(() => undefined)])
  over.abort()
  const receipt = await run.kill()
  return receipt.how === 'gone' && wasRunning ? { ...receipt, how: 'clean' } : receipt
}

async function isRunning(run: RunProcess): Promise<boolean> {
  return Promise.race([run.processExited.then(() => false), pause(0, true)])
}
