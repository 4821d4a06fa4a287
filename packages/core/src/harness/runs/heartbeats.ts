import { AsyncLocalStorage } from 'node:async_hooks'
import { InspanError } from '@inspan/protocol'
import { aFlag, aFunction, asError, aText } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'

/** The longest delay of a timer; with a longer one it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Work that is repeated while the harness lives. */
export interface HeartbeatHandler {
  readonly id: string
  readonly intervalMs: number
  readonly handler: () => void | Promise<void>
  /** Whether it also runs at once and not only after the first interval. Default: true. */
  readonly immediate?: boolean
  readonly shutdown?: () => void | Promise<void>
}

export function checkHandler(given: HeartbeatHandler): void {
  const required = { id: aText, handler: aFunction }
  const optional = { immediate: aFlag, shutdown: aFunction }
  const { id, intervalMs } = givenFields(given, 'registerHeartbeat({ id, intervalMs, handler })', required, optional)
  if (Number.isFinite(intervalMs) && intervalMs > 0) return
  throw new InspanError(
    'invalid-input',
    `The heartbeat handler "${id}" needs an \`intervalMs\` that is a number of milliseconds above 0.`,
  )
}

interface Beating {
  readonly handler: HeartbeatHandler
  timer: NodeJS.Timeout | undefined
  /** The run that is going on. */
  running: Promise<void> | undefined
  isStopped: boolean
}

/**
 * Runs handlers at their intervals. The next run is planned when the last has ended, so one handler never runs beside
 * itself. A failure is reported and changes nothing. No timer keeps the process alive.
 */
export class Heartbeats {
  readonly #beating = new Map<string, Beating>()
  /** The heartbeat whose handler is calling. */
  readonly #inside = new AsyncLocalStorage<Beating>()
  readonly #onFailure: (id: string, error: Error) => void

  constructor(onFailure: (id: string, error: Error) => void) {
    this.#onFailure = onFailure
  }

  get ids(): readonly string[] {
    return [...this.#beating.keys()]
  }

  /** Replaces a handler with the same id, which is shut down. */
  async register(handler: HeartbeatHandler): Promise<void> {
    checkHandler(handler)
    await this.remove(handler.id)
    const beating: Beating = { handler, timer: undefined, running: undefined, isStopped: false }
    this.#beating.set(handler.id, beating)
    if (handler.immediate === false) this.#plan(beating)
    else this.#beat(beating)
  }

  /** Resolves when a handler at work has ended, unless it is the one that calls this, and has shut down. */
  async remove(id: string): Promise<void> {
    const beating = this.#beating.get(id)
    if (beating === undefined) return
    this.#beating.delete(id)
    beating.isStopped = true
    clearTimeout(beating.timer)
    if (this.#inside.getStore() !== beating) await beating.running
    await this.#attempt(id, async () => beating.handler.shutdown?.())
  }

  async stop(): Promise<void> {
    await Promise.all(this.ids.map((id) => this.remove(id)))
  }

  #plan(beating: Beating, ms: number = beating.handler.intervalMs): void {
    if (beating.isStopped) return
    const now = Math.min(ms, LONGEST_TIMER_MS)
    beating.timer = setTimeout(() => (now < ms ? this.#plan(beating, ms - now) : this.#beat(beating)), now)
    beating.timer.unref()
  }

  #beat(beating: Beating): void {
    const { id, handler } = beating.handler
    beating.running = this.#inside
      .run(beating, () => this.#attempt(id, async () => handler()))
      .then(() => {
        beating.running = undefined
        this.#plan(beating)
      })
  }

  async #attempt(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#onFailure(id, asError(error))
    }
  }
}
