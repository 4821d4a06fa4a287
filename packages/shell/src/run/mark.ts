import { createHash } from 'node:crypto'

/** The util-linux program that sets limits. */
export const limitProgram: string = 'prlimit'

/** Above any limit that somebody would set, and small enough to be exact as a number. */
export const firstMark: number = 2 ** 48

/**
 * Returns the mark of a run: a second sign, for processes that clear their environment, set as their soft limit of file
 * locks. The kernel passes that limit on through fork, exec and setsid, shows it in /proc, and has not enforced it
 * since 2.4. Only setting the limit again removes it.
 */
export function markOf(runId: string): number {
  return firstMark + createHash('sha256').update(runId).digest().readUIntBE(0, 6)
}
