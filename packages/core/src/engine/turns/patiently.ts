import { EvenerError, type AgentDriver, type Capabilities } from '@evener/protocol'

/** How long an agent that is to end may take for it. */
export const ABANDON_AFTER_MS = 5000

/**
 * How long an agent may take to say what it can. Programs are started for it, which takes some of them ten seconds, and on
 * a busy machine several times that.
 */
export const DESCRIBE_WITHIN_MS = 90_000

/** The time that all has together which an agent that is to end does for it. */
export class Patience implements Disposable {
  readonly #end = Promise.withResolvers<undefined>()
  readonly #timer = setTimeout(() => this.#end.resolve(undefined), ABANDON_AFTER_MS).unref()

  /** What it comes to, or `undefined`: work that fails or does not end in time must not keep anybody waiting. */
  async with<T>(work: Promise<T> | undefined): Promise<T | undefined> {
    return Promise.race([work?.catch(() => undefined), this.#end.promise])
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

/** The same for a single thing to do. */
export async function patiently<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  using patience = new Patience()
  return await patience.with(work)
}

/** What an agent can do. One that does not say so in time is not there, as one that cannot be asked. */
export async function describeInTime(driver: AgentDriver): Promise<Capabilities> {
  const hint = 'See that it can be started, and try again.'
  return inTime(
    driver.describe(),
    () => new EvenerError('io', `"${driver.id}" did not answer when asked what it can do.`, { hint }),
  )
}

/** What it comes to, or the error: whoever waits for it keeps everybody else waiting. */
export async function inTime<T>(work: Promise<T>, late: () => EvenerError): Promise<T> {
  const tooLate = Promise.withResolvers<never>()
  const timer = setTimeout(() => tooLate.reject(late()), DESCRIBE_WITHIN_MS)
  try {
    return await Promise.race([work, tooLate.promise])
  } finally {
    clearTimeout(timer)
  }
}
