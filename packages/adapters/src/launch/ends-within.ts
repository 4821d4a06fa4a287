import { setTimeout as pause } from 'node:timers/promises'
import type { RunProcess } from '@evener/shell/run'

/** Whether the process itself ends in this time. */
export async function endsWithin({ processExited }: Pick<RunProcess, 'processExited'>, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = pause(ms, false, { signal: over.signal }).catch(() => false)
  const hasEnded = await Promise.race([processExited.then(() => true), late])
  over.abort()
  return hasEnded
}
