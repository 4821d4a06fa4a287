import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { DeltaFrame } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { checkHooks, collectDeliveries, mayHoldEvents, sendDelivery, type Webhook } from './webhook-deliveries.ts'

export interface WebhooksOptions {
  readonly hooks: readonly Webhook[]
  readonly store: Store
  /** Keeps what is not delivered yet, over restarts. Default: in memory. */
  readonly file?: string
  readonly now?: () => number
  /** The pause before the first retry; it doubles up to an hour. Default: one second. */
  readonly retryMs?: number
}

interface WebhookDelivery {
  /** The same whenever the same event is sent again. */
  readonly id: string
  readonly hook: string
  readonly body: string
  readonly attempts: number
  readonly dueAt: number
  readonly madeAt: number
}

interface WebhookOutbox {
  /** Up to which seq the records of each thread were looked at. */
  readonly cursors: Readonly<Record<string, number>>
  readonly deliveries: readonly WebhookDelivery[]
}

const LONGEST_MS = 60 * 60 * 1000
const GIVE_UP_MS = 3 * 24 * 60 * 60 * 1000
const MAX_DELIVERIES = 10_000

/**
 * Tells other systems what waits for a person and what has ended. Events come from the log, so one that a crash kept
 * from being sent is sent later; a receiver that gets one twice knows it by its id.
 */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #now: () => number
  #outbox: WebhookOutbox = { cursors: {}, deliveries: [] }
  #work: Promise<void> = Promise.resolve()
  #saving: Promise<void> = Promise.resolve()
  /** The hooks that are being sent something. */
  readonly #busy = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  readonly #aborting = new AbortController()

  private constructor(options: WebhooksOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  static async start(options: WebhooksOptions): Promise<Webhooks> {
    checkHooks(options.hooks)
    const webhooks = new Webhooks(options)
    const { file } = options
    if (file !== undefined) webhooks.#outbox = (await readOutbox(file)) ?? webhooks.#outbox
    // What happened after the last look, e.g. right before a crash.
    for (const thread of Object.keys(webhooks.#outbox.cursors)) webhooks.#post(() => webhooks.#collect(thread))
    webhooks.#post(async () => webhooks.#deliver())
    return webhooks
  }

  /** Called when a thread is opened at a seq: what came before is of no interest. */
  opened(thread: string, seq: number): void {
    this.#post(async () => {
      if (Object.hasOwn(this.#outbox.cursors, thread)) return
      this.#outbox = { ...this.#outbox, cursors: { ...this.#outbox.cursors, [thread]: seq } }
      await this.#save()
    })
  }

  /** Called with every frame. Only those that open a wait or end a run cost anything. */
  frame(thread: string, { operations }: DeltaFrame): void {
    if (!mayHoldEvents(operations)) return
    this.#post(async () => {
      await this.#collect(thread)
      this.#deliver()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#aborting.abort()
    await this.#work
    await Promise.all(this.#busy.values())
  }

  async #collect(thread: string): Promise<void> {
    const { hooks, store } = this.#options
    if ((await store.getStream(thread)) === null) {
      const { [thread]: _gone, ...cursors } = this.#outbox.cursors
      this.#outbox = { ...this.#outbox, cursors }
      return
    }
    const { deliveries: fresh, seq } = await collectDeliveries(store, thread, this.#outbox.cursors[thread] ?? 0, hooks)
    const made = fresh.map(({ body, id, target }): WebhookDelivery => {
      return { id, hook: target, body, attempts: 0, dueAt: 0, madeAt: this.#now() }
    })
    // Cursor and deliveries are stored together: nothing is skipped, nothing made twice.
    const deliveries = [...this.#outbox.deliveries, ...made].slice(-MAX_DELIVERIES)
    this.#outbox = { cursors: { ...this.#outbox.cursors, [thread]: seq }, deliveries }
    await this.#save()
  }

  /** Sends what is due. A hook that does not answer holds up its own deliveries and no others. */
  #deliver(): void {
    for (const hook of new Set(this.#outbox.deliveries.map((each) => each.hook))) {
      if (this.#isClosed || this.#busy.has(hook)) continue
      const sending = this.#guarded(() => this.#deliverTo(hook)).finally(() => {
        this.#busy.delete(hook)
        this.#plan()
      })
      this.#busy.set(hook, sending)
    }
  }

  async #deliverTo(hook: string): Promise<void> {
    while (!this.#isClosed) {
      const now = this.#now()
      const delivery = this.#outbox.deliveries.find((each) => each.hook === hook && each.dueAt <= now)
      if (delivery === undefined) return
      const isTaken = await this.#send(delivery)
      const others = this.#outbox.deliveries.filter((each) => each !== delivery)
      const attempts = delivery.attempts + 1
      const pause = Math.min(LONGEST_MS, (this.#options.retryMs ?? 1000) * 2 ** delivery.attempts)
      const isOver = isTaken || now - delivery.madeAt > GIVE_UP_MS
      const left = isOver ? others : [...others, { ...delivery, attempts, dueAt: this.#now() + pause }]
      this.#outbox = { ...this.#outbox, deliveries: left }
      await this.#save()
    }
  }

  #plan(): void {
    clearTimeout(this.#timer)
    const resting = this.#outbox.deliveries.filter(({ hook }) => !this.#busy.has(hook))
    const next = Math.min(...resting.map(({ dueAt }) => dueAt))
    if (this.#isClosed || !Number.isFinite(next)) return
    this.#timer = setTimeout(() => this.#deliver(), Math.max(0, next - this.#now()))
    this.#timer.unref()
  }

  #send({ body, hook, id }: WebhookDelivery): Promise<boolean> {
    return sendDelivery({ id, target: hook, body }, this.#options.hooks, this.#now(), this.#aborting.signal)
  }

  #post(task: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (!this.#isClosed) await this.#guarded(task)
    })
  }

  /** What could not be read or written now is found again with the next event or at the next start. */
  async #guarded(task: () => Promise<void>): Promise<void> {
    await task().catch((error: unknown) => {
      process.emitWarning(`A webhook was delayed: ${error instanceof Error ? error.message : String(error)}`)
    })
  }

  async #save(): Promise<void> {
    const { file } = this.#options
    if (file === undefined) return
    // One after the other, each with what is newest by then.
    const saving = this.#saving.then(async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      const next = `${file}.${process.pid}.new`
      await writeFile(next, JSON.stringify(this.#outbox), { mode: 0o600 })
      await rename(next, file)
    })
    this.#saving = saving.catch(() => undefined)
    await saving
  }
}

async function readOutbox(file: string): Promise<WebhookOutbox | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as WebhookOutbox
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new InspanError('corrupt', `The webhook outbox ${file} cannot be read.`, {
      hint: 'Delete it: notifications that were not delivered yet are lost.',
      cause: error,
    })
  }
}
