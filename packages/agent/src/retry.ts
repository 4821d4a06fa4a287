import { setTimeout as delay } from 'node:timers/promises'
import type { Host } from '@inspan/protocol/driver'
import type { ModelFailure } from './model-failure.ts'

/** How often and how long a failed model call is retried. */
export interface RetryOptions {
  /** Retries in a row. Default: 4. */
  readonly maxRetries?: number
  /** The delay before the first retry; doubled every time. Default: 1000. */
  readonly initialDelayMs?: number
  /** Default: 30,000. */
  readonly maxDelayMs?: number
  /** A provider that asks to wait for longer is not asked again. Default: 300,000. */
  readonly maxRetryAfterMs?: number
}

/** Counts failures in a row and waits between them. */
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

  /** Records a warning that the model is asked again, and waits until then; an abort ends the wait. */
  async pause(failure: ModelFailure, signal: AbortSignal): Promise<void> {
    this.#failures++
    const delayMs = this.#delay(failure)
    const { error, status } = failure
    const attempt = this.#failures + 1
    this.#host.warn(`The model is asked again in ${delayMs} ms: ${error.message}`, {
      type: 'llm-retry',
      attempt,
      delayMs,
      ...(status === undefined ? {} : { status }),
    })
    await delay(delayMs, undefined, { signal }).catch(() => undefined)
  }

  /** Doubled every time, with jitter, so that clients refused together do not return together. */
  #delay({ retryAfterMs }: ModelFailure): number {
    const { initialDelayMs, maxDelayMs } = this.#options
    const longest = Math.min(maxDelayMs, initialDelayMs * 2 ** (this.#failures - 1))
    const jittered = Math.round(longest * (0.5 + Math.random() / 2))
    return retryAfterMs === undefined ? jittered : Math.ceil(retryAfterMs)
  }
}
