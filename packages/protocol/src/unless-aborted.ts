import { InspanError } from './errors.ts'

/**
 * Resolves like `work`, or rejects as soon as the signal aborts: code that ignores its signal must not keep callers
 * waiting. A later result or failure of `work` is ignored.
 */
export function unlessAborted<T>(signal: AbortSignal, work: T | PromiseLike<T>): Promise<Awaited<T>> {
  const pending = Promise.resolve(work)
  if (signal.aborted) {
    pending.catch(() => undefined)
    return Promise.reject(cancelled())
  }
  return new Promise((resolve, reject) => {
    const stay = whenAborted(signal, () => reject(cancelled()))
    pending.then(stay, stay)
    pending.then(resolve, reject)
  })
}

/** Calls `leave` when the signal aborts, unless the returned function was called before. */
export function whenAborted(signal: AbortSignal, leave: () => void): () => void {
  const leaving = leavingOf(signal)
  leaving.add(leave)
  return () => void leaving.delete(leave)
}

/** What to call when a signal aborts. One listener per signal, as one per wait would cost more than most waits. */
const leavings = new WeakMap<AbortSignal, Set<() => void>>()

function leavingOf(signal: AbortSignal): Set<() => void> {
  const known = leavings.get(signal)
  if (known !== undefined) return known
  const leaving = new Set<() => void>()
  leavings.set(signal, leaving)
  signal.addEventListener('abort', () => leaving.forEach((leave) => leave()), { once: true })
  return leaving
}

function cancelled(): InspanError {
  return new InspanError('closed', 'The run was cancelled.')
}
