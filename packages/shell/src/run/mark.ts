import { createHash } from 'node:crypto'

/** The program of util-linux that sets limits. */
export const limitProgram: string = 'prlimit'

/** Above any limit that somebody would set, below what is exact in a number. */
export const firstMark: number = 2 ** 48

/**
 * The second sign of a run, for processes that clear their environment: its number as their soft limit of file locks.
 * The kernel hands that limit on through fork, exec and setsid, shows it in /proc, and has not enforced it since 2.4.
 * Only setting the limit anew takes it off.
 */
export function markOf(runId: string): number {
  return firstMark + createHash('sha256').update(runId).digest().readUIntBE(0, 6)
}
