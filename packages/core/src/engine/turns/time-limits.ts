import { InspanError } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'

/** How long an agent may take to end. */
export const ABANDON_AFTER_MS = 5000

/**
 * How long an agent may take to describe its capabilities. For that programs are started, which takes some of them ten
 * seconds, and on a busy machine several times that.
 */
export const DESCRIBE_WITHIN_MS = 90_000

/** The time limit shared by everything an agent does in order to end. */
export class EndTimeout implements Disposable {
  readonly #end = Promise.withResolvers<undefined>()
  readonly #timer = setTimeout(() => this.#end.resolve(undefined), ABANDON_AFTER_MS).unref()

  /** Resolves with the result, or `undefined` if the work fails or is late: it must not keep anybody waiting. */
  async with<T>(work: Promise<T> | undefined): Promise<T | undefined> {
    return Promise.race([work?.catch(() => undefined), this.#end.promise])
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

/** `EndTimeout` for a single piece of work. */
export async function withEndTimeout<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  using patience = new EndTimeout()
  return await patience.with(work)
}

/** Returns the capabilities of an agent. An agent that is late is treated like one that cannot be asked. */
export async function describeInTime(driver: AgentDriver): Promise<Capabilities> {
  const hint = 'See that it can be started, and try again.'
  return inTime(
    driver.describe(),
    () => new InspanError('io', `"${driver.id}" did not answer when asked what it can do.`, { hint }),
  )
}

/** Resolves with the result, or rejects when it is late: the caller keeps everybody else waiting meanwhile. */
export async function inTime<T>(work: Promise<T>, late: () => InspanError): Promise<T> {
  const tooLate = Promise.withResolvers<never>()
  const timer = setTimeout(() => tooLate.reject(late()), DESCRIBE_WITHIN_MS)
  try {
    return await Promise.race([work, tooLate.promise])
  } finally {
    clearTimeout(timer)
  }
}
