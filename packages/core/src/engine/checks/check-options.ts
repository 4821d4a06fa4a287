import {
  aCount,
  aDuration,
  aFlag,
  aFunction,
  anObject,
  aText,
  checkOptions,
  either,
  oneOf,
  type OptionRules,
} from '@inspan/protocol/internal'
import type { ThreadRuntimeOptions } from '../thread-options.ts'

const OPTIONS: OptionRules<ThreadRuntimeOptions> = {
  store: anObject,
  owner: anObject,
  thread: aText,
  agents: either(anObject, aFunction),
  agentOfQueued: aFunction,
  sendsAfterCancel: aFlag,
  policy: anObject,
  sessionRules: aFunction,
  grants: aFunction,
  files: anObject,
  spool: anObject,
  decide: aFunction,
  faults: anObject,
  newId: aFunction,
  withAnswer: aFunction,
  withChoice: aFunction,
  now: aFunction,
  beforeRun: aFunction,
  maxAttempts: aCount,
  onInterrupted: oneOf('report', 'ask', 'retry'),
  onListenerFailure: aFunction,
  redact: aFunction,
  approvalTimeout: aDuration,
  parkAfter: aDuration,
  keepWarm: aDuration,
  passivateAfter: aDuration,
  handoverTokens: aCount,
  windowOf: aFunction,
  memory: aFunction,
  priceOf: aFunction,
  tracing: anObject,
  door: aText,
  doorKey: aText,
  stopFollowing: aFunction,
  evict: aFunction,
}

/** Throws if an option is wrong, and says which. */
export function checkRuntimeOptions(options: ThreadRuntimeOptions): void {
  checkOptions('a thread', options, OPTIONS, ['store', 'owner', 'thread', 'agents'])
}

/** The longest delay of a timer; anything longer is as good as for ever. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Returns a delay that timers accept: one that is too long would fire at once. */
export function timerMs(ms: number): number {
  return Math.min(Math.ceil(ms), LONGEST_TIMER_MS)
}
