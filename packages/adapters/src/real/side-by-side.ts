/** Half of what these tests do is waiting, so two of a suite run at the same time. */
export const SIDE_BY_SIDE = { concurrency: 2 } as const
