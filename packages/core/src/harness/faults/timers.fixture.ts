type Timer = ReturnType<typeof setTimeout>

/**
 * Counts the timers of a process, also those that would not keep it alive. Has to be called before anything is
 * imported.
 */
export function registerTimers(): { running: () => number } {
  const running = new Set<unknown>()
  const { clearInterval: endInterval, clearTimeout: endTimeout, setInterval: repeat, setTimeout: once } = globalThis
  const noted = <T>(timer: T): T => {
    running.add(timer)
    return timer
  }
  globalThis.setTimeout = Object.assign(
    (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): Timer => {
      const timer: Timer = once(() => {
        running.delete(timer)
        work(...args)
      }, ms)
      return noted(timer)
    },
    once,
  )
  globalThis.setInterval = (work: () => void, ms?: number): Timer => noted(repeat(work, ms))
  globalThis.clearTimeout = (timer): void => {
    running.delete(timer)
    endTimeout(timer)
  }
  globalThis.clearInterval = (timer): void => {
    running.delete(timer)
    endInterval(timer)
  }
  return { running: () => running.size }
}
