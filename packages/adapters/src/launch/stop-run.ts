import { setTimeout as pause } from 'node:timers/promises'
import type { KillReceipt, RunProcess } from '@inspan/shell/run'
import type { StopWay } from './profile.ts'
import { isFulfilledWithin } from './within.ts'

/** Stops the program its own clean way first, then kills what is left of the run. */
export async function stopRun(run: RunProcess, way: StopWay): Promise<KillReceipt> {
  if ('signal' in way) return run.kill(way)
  const wasRunning = await isRunning(run)
  void run.closeStdin()
  await isFulfilledWithin(run.processExited, way.graceMs)
  const receipt = await run.kill()
  return receipt.how === 'gone' && wasRunning ? { ...receipt, how: 'clean' } : receipt
}

async function isRunning(run: RunProcess): Promise<boolean> {
  return Promise.race([run.processExited.then(() => false), pause(0, true)])
}
