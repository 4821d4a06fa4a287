import { EvenerError } from './errors.ts'

/**
 * What the work comes to, or a rejection as soon as there is an abort: code that does not listen to its signal must not
 * keep anybody waiting. What comes of it afterwards is nobody's concern, not even if it fails.
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

/** What is left when a signal aborts. A listener for each would cost more than most of what is waited for. */
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
