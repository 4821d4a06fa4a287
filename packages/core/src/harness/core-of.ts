import { InspanError } from '@inspan/protocol'
import type { HarnessCore } from './harness-core.ts'

const cores = new WeakMap<object, HarnessCore>()

export function noteCore(harness: object, core: HarnessCore): void {
  cores.set(harness, core)
}

/** Returns what the sessions of a harness share, for the other doors to its threads. */
export function coreOf(harness: object): HarnessCore {
  const core = cores.get(harness)
  if (core !== undefined) return core
  throw new InspanError('invalid-input', 'This is no harness.', { hint: 'Pass what `new Harness(…)` returned.' })
}
