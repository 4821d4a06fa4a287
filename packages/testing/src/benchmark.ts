/** One line of a benchmark report. Always a ratio of two measurements in the same run, because machines are noisy. */
export interface BenchmarkResult {
  readonly name: string
  readonly ratio: number
  /** The maximum for the ratio. */
  readonly limit: number
  readonly unit: string
  readonly floor: number
  readonly ours: number
}

/** A piece of work to be timed. Returns how many units it did. */
export type Work = () => number | Promise<number>

export interface CompareOptions {
  readonly name: string
  readonly limit: number
  readonly unit?: string
  /** The work that ours is compared with. */
  readonly floor: Work
  readonly ours: Work
  /** Runs before every round of `ours` and is not timed. */
  readonly prepare?: () => Promise<void>
  /**
   * `cpu` counts the CPU time of this process, whatever else the machine does. Use it for work that neither waits nor
   * runs in other processes. Default: `wall`.
   */
  readonly clock?: 'wall' | 'cpu'
  /** How many rounds of both are measured, alternating. Default: 15. */
  readonly rounds?: number
}

/**
 * Measures two pieces of work alternately and compares the best round of each. Interference only makes a round slower,
 * so the fastest is the least disturbed.
 */
export async function compare(options: CompareOptions): Promise<BenchmarkResult> {
  const rounds = options.rounds ?? 15
  let floor = Infinity
  let ours = Infinity
  await options.floor()
  await options.prepare?.()
  await options.ours()
  for (let round = 0; round < rounds; round++) {
    floor = Math.min(floor, await costPerUnit(options.floor, options.clock))
    await options.prepare?.()
    ours = Math.min(ours, await costPerUnit(options.ours, options.clock))
  }
  return {
    name: options.name,
    ratio: round(ours / floor),
    limit: options.limit,
    unit: options.unit ?? 'µs',
    floor: round(floor),
    ours: round(ours),
  }
}

/** Prints a result in the form that `npm run bench` reads. */
export function report(result: BenchmarkResult): void {
  console.log(JSON.stringify(result))
}

async function costPerUnit(work: Work, clock: CompareOptions['clock']): Promise<number> {
  const start = microseconds(clock)
  const units = await work()
  return (microseconds(clock) - start) / units
}

function microseconds(clock: CompareOptions['clock'] = 'wall'): number {
  if (clock === 'wall') return performance.now() * 1000
  const { user, system } = process.cpuUsage()
  return user + system
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
