import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'

/**
 * Emits an `error` event when the promise rejects, and returns the promise. A caller that awaits it gets the rejection.
 * One that does not must not be ended by it, as Node ends a process on an unhandled rejection.
 */
export function reportFailure<Result>(done: Promise<Result>, emit: (event: HarnessEvent) => void): Promise<Result> {
  done.catch((error: unknown) =>
    emit({
      type: 'error',
      error: error instanceof Error ? error : new Error(String(error)),
      ...(InspanError.is(error) ? { errorType: error.code } : {}),
    }),
  )
  return done
}

/** Methods that only read. Nobody calls these without looking at the answer, so their failures are not reported. */
const READS: ReadonlySet<string | symbol> = new Set([
  'list',
  'getById',
  'listMessages',
  'listActiveMessages',
  'firstUserMessage',
  'firstUserMessages',
  'getObjective',
  'opinions',
  'resolvedModel',
])

/**
 * The boundary between a session and its callers: a call of one of its parts that fails also emits an `error` event.
 * Inside the session the parts themselves are used, so that nothing is reported twice.
 */
export function reportErrors<Parts extends object>(parts: Parts, emit: (event: HarnessEvent) => void): Parts {
  return new Proxy(parts, new ErrorReports(emit))
}

/** Wraps each part and method on first use: sessions have many, and most are never used. */
class ErrorReports<Parts extends object> implements ProxyHandler<Parts> {
  readonly #emit: (event: HarnessEvent) => void
  #wrapped: Map<string | symbol, unknown> | undefined

  constructor(emit: (event: HarnessEvent) => void) {
    this.#emit = emit
  }

  get(target: Parts, key: string | symbol): unknown {
    const known = this.#wrapped?.get(key)
    if (known !== undefined) return known
    const value: unknown = Reflect.get(target, key, target)
    const isPart = typeof value === 'object' && value !== null
    if (!isPart && typeof value !== 'function') return value
    const wrapped = isPart ? reportErrors(value, this.#emit) : this.#reported(target, key, value)
    this.#wrapped ??= new Map()
    this.#wrapped.set(key, wrapped)
    return wrapped
  }

  #reported(target: Parts, key: string | symbol, method: AnyMethod): AnyMethod {
    return (...args) => {
      const answer: unknown = Reflect.apply(method, target, args)
      return answer instanceof Promise && !READS.has(key) ? reportFailure(answer, this.#emit) : answer
    }
  }
}

type AnyMethod = (...args: readonly unknown[]) => unknown
