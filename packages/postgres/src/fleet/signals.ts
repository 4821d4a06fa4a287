/** What the processes of a store tell each other. It may get lost, so nothing depends on it. */
export interface FleetSignal {
  /** Streams and the seq they have reached. */
  readonly changed: readonly (readonly [stream: string, seq: number])[]
  /** Threads with commands that were admitted by a process that does not own them. */
  readonly wanted: readonly string[]
}

const EVERY_MS = 20
/** Postgres refuses payloads of 8,000 bytes and more. */
const MAX_BYTES = 7000

/**
 * Merges the signals of this process: busy threads cost one notification every 20 ms together. The first one after a
 * pause is sent at once, and none while another is on its way.
 */
export class SignalSender {
  readonly #send: (payload: string) => Promise<void>
  readonly #changed = new Map<string, number>()
  readonly #wanted = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #sentAt = -EVERY_MS
  #sending: Promise<void> | undefined

  constructor(send: (payload: string) => Promise<void>) {
    this.#send = send
  }

  changed(stream: string, seq: number): void {
    this.#changed.set(stream, seq)
    this.#plan()
  }

  wanted(thread: string): void {
    this.#wanted.add(thread)
    this.#plan()
  }

  /** Resolves when nothing is on its way. What was not sent by then is not sent. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#sending
    clearTimeout(this.#timer)
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#sending !== undefined) return
    if (this.#changed.size === 0 && this.#wanted.size === 0) return
    const left = this.#sentAt + EVERY_MS - performance.now()
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        // A timer counts from when the event loop last looked at the clock, so it may fire early.
        if (performance.now() - this.#sentAt < EVERY_MS) return this.#plan()
        this.#sending = this.#sendAll().finally(() => {
          this.#sending = undefined
          this.#plan()
        })
      },
      Math.max(0, left),
    ).unref()
  }

  async #sendAll(): Promise<void> {
    this.#sentAt = performance.now()
    const payloads = encodeSignal({ changed: [...this.#changed], wanted: [...this.#wanted] })
    this.#changed.clear()
    this.#wanted.clear()
    // Readers also look by themselves.
    for (const payload of payloads) await this.#send(payload).catch(() => undefined)
  }
}

/** One line per fact. A fact that is too long for a payload is left out. */
export function encodeSignal({ changed, wanted }: FleetSignal): readonly string[] {
  const lines = [
    ...changed.map(([stream, seq]) => JSON.stringify([stream, seq])),
    ...wanted.map((id) => JSON.stringify(id)),
  ]
  const payloads: string[] = []
  let payload = ''
  for (const line of lines) {
    const next = payload === '' ? line : `${payload}\n${line}`
    if (Buffer.byteLength(next) <= MAX_BYTES) {
      payload = next
      continue
    }
    if (payload !== '') payloads.push(payload)
    payload = Buffer.byteLength(line) <= MAX_BYTES ? line : ''
  }
  return payload === '' ? payloads : [...payloads, payload]
}

/** Skips what it does not understand: a newer release may say more. */
export function decodeSignal(payload: string): FleetSignal {
  const changed: [string, number][] = []
  const wanted: string[] = []
  for (const line of payload.split('\n')) {
    const fact = parsed(line)
    if (typeof fact === 'string') wanted.push(fact)
    if (!Array.isArray(fact)) continue
    const [stream, seq] = fact as unknown[]
    if (typeof stream === 'string' && typeof seq === 'number') changed.push([stream, seq])
  }
  return { changed, wanted }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}
