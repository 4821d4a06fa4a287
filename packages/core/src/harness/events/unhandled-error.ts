import type { EventPlace, HarnessErrorEvent } from '@inspan/protocol/harness'

/**
 * Returns the event with an `error` that notices whether any listener looks at it. If none has by the next turn of the
 * event loop, a warning says what went wrong: a program that only prints texts would end without a word.
 */
export function warnIfUnhandled(event: HarnessErrorEvent & EventPlace): HarnessErrorEvent & EventPlace {
  const { error } = event
  let isHeard = false
  setImmediate(() => {
    if (isHeard) return
    process.emitWarning(error.message, {
      type: 'InspanUnhandledError',
      detail: 'Nothing in this program handles `error` events. A listener that does ends this warning.',
    })
  })
  return Object.defineProperty({ ...event }, 'error', {
    enumerable: true,
    get: () => {
      isHeard = true
      return error
    },
  })
}
