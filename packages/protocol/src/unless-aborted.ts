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
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelled())
    signal.addEventListener('abort', onAbort, { once: true })
    const settled = (): void => signal.removeEventListener('abort', onAbort)
    pending.then(resolve, reject).then(settled, settled)
  })
}

function cancelled(): EvenerError {
  return new EvenerError('closed', 'The run was cancelled.')
}
