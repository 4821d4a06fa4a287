import { setTimeout as delay } from 'node:timers/promises'
import type { Host } from '@evener/protocol'
import type { ModelFailure } from './model-failure.ts'

/** How often and how patiently a model is asked again when it could not answer. */
export interface RetryOptions {
  /** In a row. Default: 4. */
  readonly maxRetries?: number
  /** Before the first repetition; doubled every time. Default: 1000. */
  readonly initialDelayMs?: number
  /** Default: 30,000. */
  readonly maxDelayMs?: number
  /** A provider that wants to be left alone for longer is not asked again. Default: 300,000. */
  readonly maxRetryAfterMs?: number
}

/** Counts the failures in a row, and waits between them. */
export class Retries {
  readonly #options: Required<RetryOptions>
  readonly #host: Host
  #failures = 0

  constructor(options: RetryOptions = {}, host: Host) {
    const { maxRetries = 4, initialDelayMs = 1000, maxDelayMs = 30_000, maxRetryAfterMs = 300_000 } = options
    this.#options = { maxRetries, initialDelayMs, maxDelayMs, maxRetryAfterMs }
    this.#host = host
  }

  succeeded(): void {
    this.#failures = 0
  }

  mayRetry({ isRetryable, retryAfterMs }: ModelFailure): boolean {
    const { maxRetries, maxRetryAfterMs } = this.#options
    return isRetryable && this.#failures < maxRetries && (retryAfterMs ?? 0) <= maxRetryAfterMs
  }

  /** Says on record that the model is asked again, and waits until it is time; an abort ends the wait. */
  async pause(failure: ModelFailure, signal: AbortSignal): Promise<void> {
    this.#failures++
    const delayMs = this.#delay(failure)
    const { error, status } = failure
    const attempt = this.#failures + 1
    this.#host.warn?.(`The model is asked again in ${delayMs} ms: ${error.message}`, {
      type: 'llm-retry',
      attempt,
      delayMs,
      ...(status === undefined ? {} : { status }),
    })
    await delay(delayMs, undefined, { signal }).catch(() => undefined)
  }

  /** Doubled every time, and never the same for all who were turned away at once. */
  #delay({ retryAfterMs }: ModelFailure): number {
    const { initialDelayMs, maxDelayMs } = this.#options
    const longest = Math.min(maxDelayMs, initialDelayMs * 2 ** (this.#failures - 1))
    const jittered = Math.round(longest * (0.5 + Math.random() / 2))
    return retryAfterMs === undefined ? jittered : Math.ceil(retryAfterMs)
  }
}
