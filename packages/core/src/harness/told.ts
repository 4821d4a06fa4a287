import { EvenerError, type HarnessEvent } from '@evener/protocol'

/**
 * Whoever awaits it gets the rejection. Whoever does not must not be ended by it, as Node ends a process whose rejection
 * nobody looks at: it is told by an event.
 */
export function told<Result>(done: Promise<Result>, emit: (event: HarnessEvent) => void): Promise<Result> {
  done.catch((error: unknown) =>
    emit({
      type: 'error',
      error: error instanceof Error ? error : new Error(String(error)),
      ...(EvenerError.is(error) ? { errorType: error.code } : {}),
    }),
  )
  return done
}

/**
 * A part of a session as its callers see it: of every call it is told by an event if it fails, except for those that only
 * read, since nobody calls these without looking at the answer. Inside the session the part itself is used, so that
 * nothing is told twice.
 */
export function toldCalls<Part extends object>(
  part: Part,
  emit: (event: HarnessEvent) => void,
  reads: readonly (keyof Part & string)[] = [],
): Part {
  const calls = new Map<string | symbol, unknown>()
  return new Proxy(part, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const known = calls.get(key)
      if (known !== undefined) return known
      const isRead = reads.some((name) => name === key)
      const call = (...args: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, target, args)
        return answer instanceof Promise && !isRead ? told(answer, emit) : answer
      }
      calls.set(key, call)
      return call
    },
  })
}
