/** The growth that still counts as linear: ten times the input may take twelve times the work. */
export const LIMIT = 12
/** The clock goes in steps of some milliseconds. What takes no longer than a few of them at ten times the input is fine. */
const LEAST_MS = 24
const TRIES = 8

/** Does its work once; what it needs for that is made before. */
type Work = () => unknown

/**
 * Returns by what factor the time of a work grows when its input does tenfold: the large input once, beside the small one
 * ten times. The fastest of several tries counts, and the first that is within the limit is believed: other programs only
 * ever make things slower.
 */
export function timeGrowth(make: (factor: 1 | 10) => Work): number {
  let [small, large] = [Infinity, Infinity]
  for (let attempt = 0; attempt < TRIES; attempt++) {
    large = Math.min(large, cpuOf(make(10)))
    if (large < LEAST_MS) return 1
    const once = make(1)
    small = Math.min(
      small,
      cpuOf(() => {
        for (let round = 0; round < 10; round++) once()
      }),
    )
    if (large * 10 <= LIMIT * small) break
  }
  return (large * 10) / small
}

function cpuOf(work: Work): number {
  const before = process.threadCpuUsage()
  work()
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1000
}
