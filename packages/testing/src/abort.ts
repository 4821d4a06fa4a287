/** Returns the error of a call whose signal is aborted, always named `AbortError` or `TimeoutError`. */
export function abortErrorOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  if (reason instanceof Error && (reason.name === 'AbortError' || reason.name === 'TimeoutError')) return reason
  return new DOMException('The scripted call was aborted', { name: 'AbortError', cause: reason })
}

/** Resolves after `ms`; rejects with an `AbortError` as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return abortable(elapsed, signal).finally(() => clearTimeout(timer))
}

/** Never resolves; rejects with an `AbortError` when the signal is aborted. */
export function forever(signal: AbortSignal | undefined): Promise<never> {
  return abortable(new Promise<never>(() => {}), signal)
}

/** Settles like the promise, or rejects with an `AbortError` if the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortErrorOf(signal))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
