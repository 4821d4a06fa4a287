import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'

/**
 * Emits an `error` event when the promise rejects, and returns the promise. A caller that awaits it gets the rejection.
 * One that does not must not be ended by it, as Node ends a process on an unhandled rejection.
 */
export function told<Result>(done: Promise<Result>, emit: (event: HarnessEvent) => void): Promise<Result> {
  done.catch((error: unknown) =>
    emit({
      type: 'error',
      error: error instanceof Error ? error : new Error(String(error)),
      ...(InspanError.is(error) ? { errorType: error.code } : {}),
    }),
  )
  return done
}

const NONE: readonly never[] = []

/**
 * Wraps a part of a session for its callers: a call that fails also emits an `error` event. Calls that only read do
 * not, since nobody makes these without looking at the answer. Inside the session the part itself is used, so that
 * nothing is reported twice.
 */
export function toldCalls<Part extends object>(
  part: Part,
  emit: (event: HarnessEvent) => void,
  reads: readonly (keyof Part & string)[] = NONE,
): Part {
  return new Proxy(part, new ToldCalls(emit, reads))
}

/** Wraps each method on first use: sessions have many parts, and most are never used. */
class ToldCalls<Part extends object> implements ProxyHandler<Part> {
  readonly #emit: (event: HarnessEvent) => void
  readonly #reads: readonly (keyof Part & string)[]
  #calls: Map<string | symbol, unknown> | undefined

  constructor(emit: (event: HarnessEvent) => void, reads: readonly (keyof Part & string)[]) {
    this.#emit = emit
    this.#reads = reads
  }

  get(target: Part, key: string | symbol): unknown {
    const value: unknown = Reflect.get(target, key, target)
    if (typeof value !== 'function') return value
    const known = this.#calls?.get(key)
    if (known !== undefined) return known
    const isRead = this.#reads.some((name) => name === key)
    const call = (...args: readonly unknown[]): unknown => {
      const answer: unknown = Reflect.apply(value, target, args)
      return answer instanceof Promise && !isRead ? told(answer, this.#emit) : answer
    }
    this.#calls ??= new Map()
    this.#calls.set(key, call)
    return call
  }
}
