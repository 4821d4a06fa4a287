import type { DeltaFrame } from '@inspan/protocol/log'
import type { Delivery, Outbox } from '@inspan/protocol/store'
import { checkHooks, collectDeliveries, digest, mayHoldEvents, sendDelivery } from './webhook-deliveries.ts'
import type { WebhooksOptions } from './webhooks.ts'

/** How often threads are looked for that a process left before it had looked at what happened. */
const LOOK_MS = 10_000

/**
 * Webhooks of several servers on one store: the store keeps what is to be sent and hands each delivery to one of them.
 * A thread's cursor moves together with what was made of its records, so nothing is skipped or made twice.
 */
export class SharedWebhooks {
  readonly #options: WebhooksOptions
  readonly #outbox: Outbox
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  readonly #stop: () => void
  readonly #aborting = new AbortController()
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: WebhooksOptions, outbox: Outbox) {
    checkHooks(options.hooks)
    this.#options = options
    this.#outbox = outbox
    const now = options.now ?? Date.now
    this.#startedAt = now()
    this.#stop = outbox.onDue((delivery) => {
      const { id } = JSON.parse(delivery.body) as { id: string }
      return sendDelivery({ ...delivery, id }, options.hooks, now(), this.#aborting.signal)
    })
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
    this.#look()
  }

  opened(thread: string, seq: number): void {
    this.#post(async () => {
      if ((await this.#outbox.cursor(thread)) === null) await this.#outbox.put(thread, { from: null, to: seq }, [])
    })
  }

  frame(thread: string, { operations }: DeltaFrame): void {
    if (mayHoldEvents(operations)) this.#post(() => this.#collect(thread))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#stop()
    this.#aborting.abort()
    await this.#work
  }

  #look(): void {
    this.#post(async () => {
      for (const thread of await this.#outbox.behind(this.#startedAt)) await this.#collect(thread)
    })
  }

  async #collect(thread: string): Promise<void> {
    const { hooks, store } = this.#options
    const from = await this.#outbox.cursor(thread)
    const { deliveries, seq } = await collectDeliveries(store, thread, from ?? 0, hooks)
    // One delivery per hook, so each needs an id of its own. The receiver sees that of the event.
    const kept = deliveries.map((each): Delivery => ({ ...each, id: digest(`${each.id}/${each.target}`) }))
    // If it fails, another server has just done the same.
    if (seq > (from ?? 0)) await this.#outbox.put(thread, { from, to: seq }, kept)
  }

  #post(task: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#isClosed) return
      // What could not be read or written now is found again by the next look.
      await task().catch((error: unknown) => {
        process.emitWarning(`A webhook was delayed: ${error instanceof Error ? error.message : String(error)}`)
      })
    })
  }
}
