import { setTimeout as pause } from 'node:timers/promises'
import { giveUpMs, receipt } from './kill-receipt.ts'
import type { KillReceipt } from './kill-receipt.ts'
import type { ProcessRef, RunTarget } from './membership.ts'
import { send } from './signals.ts'

/**
 * For systems without /proc: ends the groups the runs were started in, because it can see nothing else of them. The
 * group of a root that was seen to end is skipped, because another group may have its number by now.
 */
export async function killGroups(
  targets: readonly RunTarget[],
  signal: NodeJS.Signals,
  graceMs: number,
  reach: 'group' | 'process',
): Promise<KillReceipt> {
  const roots = targets.flatMap(({ root }) => (root === undefined || root.exitedAt !== undefined ? [] : [root.pid]))
  const address = (pid: number): number => (reach === 'group' ? -pid : pid)
  // On some systems a group that consists only of zombies refuses the signal. A group of ours refuses it for no other
  // reason.
  const isAlive = (pid: number): boolean => send(address(pid), 0) === 'sent'
  const alive = roots.filter(isAlive)
  if (alive.length === 0) return { how: 'gone', killed: [], left: [] }
  for (const pid of alive) send(address(pid), signal)
  const stubborn = await waitUntilGone(alive, isAlive, graceMs)
  for (const pid of stubborn) send(address(pid), 'SIGKILL')
  return receipt(stubborn.map(toRef), (await waitUntilGone(stubborn, isAlive, giveUpMs)).map(toRef))
}

async function waitUntilGone(pids: number[], isAlive: (pid: number) => boolean, limitMs: number): Promise<number[]> {
  const deadline = performance.now() + limitMs
  let alive = pids.filter(isAlive)
  while (alive.length > 0 && performance.now() < deadline) {
    await pause(Math.min(20, deadline - performance.now()))
    alive = alive.filter(isAlive)
  }
  return alive
}

function toRef(pid: number): ProcessRef {
  return { pid, startTime: null, name: '' }
}
