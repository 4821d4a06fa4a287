import { appendFileSync } from 'node:fs'
import { noFaults } from '@inspan/protocol/driver'
import type { FaultPoints } from '@inspan/protocol/driver'

/**
 * `throw`: the point throws `FaultInjected`. `kill`: the process dies by SIGKILL. `hang`: the point does not return
 * until `release` is called. A function can do anything: the point throws or returns what it does.
 */
export type FaultAction = 'throw' | 'kill' | 'hang' | ((point: ReachedPoint) => void | Promise<void>)

export interface Fault {
  /** The name of the point; `*` matches any. */
  readonly name: string
  /** The fault strikes when the point is reached for the n-th time, counted from 1. */
  readonly n: number
  readonly action: FaultAction
}

export interface ReachedPoint {
  readonly name: string
  /** How many times this name has been reached so far. */
  readonly n: number
  readonly detail: string | undefined
}

export interface FaultPointsOptions {
  /** Keeps every reached point in `reached`: the dry run that shows where a fault can be put. */
  readonly record?: boolean
  readonly at?: Fault
  /** Appends every point to this file, one JSON object per line, before anything happens at it. */
  readonly logFile?: string
}

export interface TestFaultPoints extends FaultPoints {
  /** Empty unless `record` is set. */
  readonly reached: readonly ReachedPoint[]
  /** Lets a hanging point continue. */
  release(): void
}

export class FaultInjected extends Error {
  readonly point: ReachedPoint

  constructor(point: ReachedPoint) {
    super(`Fault injected at ${point.name}, time ${point.n}`)
    this.name = 'FaultInjected'
    this.point = point
  }
}

/** Creates fault points that can be watched, and one of which can fail. */
export function faultPoints(options: FaultPointsOptions = {}): TestFaultPoints {
  const counts = new Map<string, number>()
  const reached: ReachedPoint[] = []
  const held = Promise.withResolvers<void>()
  let total = 0

  return {
    reached,
    release: held.resolve,
    reach(name, detail) {
      total += 1
      const n = (counts.get(name) ?? 0) + 1
      counts.set(name, n)
      const point: ReachedPoint = { name, n, detail }
      if (options.record === true) reached.push(point)
      if (options.logFile !== undefined) appendFileSync(options.logFile, `${JSON.stringify(point)}\n`)
      const { at } = options
      const hit = at !== undefined && (at.name === '*' ? total : at.name === name ? n : 0) === at.n
      return hit ? strike(at.action, point, held.promise) : undefined
    },
  }
}

/**
 * For a child process: `INSPAN_FAULT=name:n:action` sets a fault, `INSPAN_FAULT_LOG=file` logs every reached point.
 * Without either, nothing happens.
 */
export function faultPointsFromEnv(env: Readonly<Record<string, string | undefined>> = process.env): FaultPoints {
  const fault = env['INSPAN_FAULT']
  const logFile = env['INSPAN_FAULT_LOG']
  if (!fault && !logFile) return noFaults
  return faultPoints({ ...(fault && { at: parseFault(fault) }), ...(logFile && { logFile }) })
}

function parseFault(text: string): Fault {
  const [, name, n, action] = /^(.+):([1-9]\d*):(throw|kill|hang)$/.exec(text) ?? []
  if (name === undefined || (action !== 'throw' && action !== 'kill' && action !== 'hang')) {
    throw new TypeError(`INSPAN_FAULT must be name:n:throw, name:n:kill or name:n:hang with n from 1, is ${text}`)
  }
  return { name, n: Number(n), action }
}

function strike(action: FaultAction, point: ReachedPoint, released: Promise<void>): void | Promise<void> {
  if (typeof action === 'function') return action(point)
  if (action === 'throw') throw new FaultInjected(point)
  if (action === 'hang') return stayAliveUntil(released)
  process.kill(process.pid, 'SIGKILL')
  // The signal may reach another thread first, and this one must not run a single further statement.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** A pending promise alone would let the process exit. */
async function stayAliveUntil(released: Promise<void>): Promise<void> {
  const keepAlive = setInterval(() => {}, 2 ** 30)
  try {
    await released
  } finally {
    clearInterval(keepAlive)
  }
}
