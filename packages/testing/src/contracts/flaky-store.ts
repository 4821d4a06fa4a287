import { setImmediate as nextTurn } from 'node:timers/promises'
import { InspanError } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { seededRandom } from './seeded-random.ts'

export interface FlakyOptions {
  /** The same seed gives the same faults for the same calls. */
  readonly seed: number
  /** The probability that a call fails before it reaches the store. Default: 0. */
  readonly failBefore?: number
  /** The probability that a call fails after the store carried it out, so that its outcome is unknown. Default: 0. */
  readonly failAfter?: number
  /** The maximum number of event loop turns before and after each call, so that calls overtake each other. */
  readonly maxDelay?: number
}

/** Opening and closing never fail, because a test has to begin and end. */
const SPARED: ReadonlySet<PropertyKey> = new Set(['open', 'close', 'epoch'])
const MAX_DELAY = 3

type StoreMethod = (...args: readonly unknown[]) => Promise<unknown>

/** Wraps a store in an unreliable connection: slow, out of order, and sometimes an answer is lost. */
export function flakyStore(store: Store, options: FlakyOptions): Store {
  const random = seededRandom(options.seed)
  const { failBefore = 0, failAfter = 0, maxDelay = MAX_DELAY } = options
  const delay = async (): Promise<void> => {
    for (let turns = Math.floor(random() * (maxDelay + 1)); turns > 0; turns--) await nextTurn()
  }
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as StoreMethod
      if (SPARED.has(name)) return call
      return async (...args: readonly unknown[]): Promise<unknown> => {
        await delay()
        if (random() < failBefore) throw lost(String(name), 'before')
        const result = await call(...args)
        await delay()
        if (random() < failAfter) throw lost(String(name), 'after')
        return result
      }
    },
  })
}

function lost(method: string, when: 'before' | 'after'): InspanError {
  return new InspanError('io', `The line broke ${when} ${method}.`, { details: { method, when } })
}
