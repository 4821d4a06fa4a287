import { EvenerError } from './errors.ts'

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
  const leaving = leavingOf(signal)
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(cancelled())
    const stay = (): void => void leaving.delete(leave)
    leaving.add(leave)
    pending.then(stay, stay)
    pending.then(resolve, reject)
  })
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

function cancelled(): EvenerError {
  return new EvenerError('closed', 'The run was cancelled.')
}
