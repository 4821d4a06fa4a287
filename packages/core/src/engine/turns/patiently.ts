import { setTimeout as delay } from 'node:timers/promises'
import { EvenerError, type AgentDriver, type Capabilities } from '@evener/protocol'

/** How long an agent that is to end may take for it. */
export const ABANDON_AFTER_MS = 5000

/**
 * How long an agent may take to say what it can. Programs are started for it, which takes some of them ten seconds, and on
 * a busy machine several times that.
 */
export const DESCRIBE_WITHIN_MS = 90_000

/** What it comes to, or `undefined`: work that fails or does not end in time must not keep anybody waiting. */
export async function patiently<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  const tooLate = new AbortController()
  const waited = delay(ABANDON_AFTER_MS, undefined, { signal: tooLate.signal, ref: false }).catch(() => undefined)
  try {
    return await Promise.race([work?.catch(() => undefined), waited])
  } finally {
    tooLate.abort()
  }
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
