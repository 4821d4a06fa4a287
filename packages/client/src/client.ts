import { InspanError } from '@inspan/protocol'
import { applyFrame, emptyView, viewFrom, type ThreadView } from '@inspan/protocol/log'
import {
  MAX_MESSAGE_BYTES,
  WIRE_VERSION,
  type ClientHello,
  type Command,
  type CommandsMessage,
  type DeltaMessage,
  type HelloMessage,
  type ReceiptMessage,
  type ServerMessage,
} from '@inspan/protocol/wire'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { clientState, type ClientState, type ConnectionStatus } from './client-state.ts'
import type { CommandOutbox } from './outbox.ts'
import { ServerRoutes } from './routes.ts'
import type { Disconnect, Transport, TransportConnection } from './transport.ts'
import { uuidV7 } from './uuid.ts'

/** The server sends something at least every 15 seconds. */
const SILENCE_MS = 45_000
const MAX_REFUSED = 20
const TOO_LARGE = `A command may have ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB with its attachments.`

export interface ClientOptions {
  readonly transport: Transport
  readonly outbox: CommandOutbox
  /** Default: the newest thread. */
  readonly thread?: string
  /** How many of the newest messages to hold. Default: 50. */
  readonly window?: number
  readonly retry?: BackoffOptions
}

/** A command on its way. Awaiting the receipt is optional: what it does shows in the state. */
export interface SentCommand {
  readonly id: string
  /** Resolves when the server has settled the command, also with a refusal. Never rejects. */
  readonly receipt: Promise<ReceiptMessage>
}

/**
 * Follows one thread at a time and sends commands. After a disconnect it connects again, continues where it was, and
 * sends unsettled commands again; the server carries each out once.
 */
export class Client {
  readonly #transport: Transport
  readonly #outbox: CommandOutbox
  readonly #window: number | undefined
  readonly #listeners = new Set<(state: ClientState) => void>()
  readonly #receipts = new Map<string, PromiseWithResolvers<ReceiptMessage>>()
  readonly #backoff: Backoff
  /** What can be read and managed besides the thread itself. */
  readonly routes: ServerRoutes
  #connection: TransportConnection | undefined
  #status: ConnectionStatus = 'connecting'
  #problem: string | undefined
  #thread: string | undefined
  #epoch: string | undefined
  #principal: string | undefined
  #view: ThreadView = emptyView('')
  #refused: readonly ReceiptMessage[] = []
  /** As it was last asked for. */
  #state: ClientState | undefined
  #isStale = false
  #first: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  #retry: ReturnType<typeof setTimeout> | undefined
  #asking: ReturnType<typeof setTimeout> | undefined
  #silence: ReturnType<typeof setTimeout> | undefined
  /** The thread of deltas that name none: what the server answered to the last hello. */
  #watched: string | undefined
  #isClosed = false

  constructor({ outbox, retry, thread, transport, window }: ClientOptions) {
    this.#backoff = new Backoff(retry)
    this.#transport = transport
    this.#outbox = outbox
    this.#thread = thread
    this.#window = window
    this.routes = new ServerRoutes(transport)
    this.#first.promise.catch(() => undefined)
    this.#open()
  }

  /** Resolves when the state of the thread is there. */
  ready(): Promise<void> {
    return this.#first.promise
  }

  /** Returns the same object until something changes. */
  getState(): ClientState {
    if (this.#state === undefined || this.#isStale) {
      this.#isStale = false
      this.#state = this.#compute(this.#state)
    }
    return this.#state
  }

  /** Calls `listener` after every change. Returns a function that unsubscribes it. */
  subscribe(listener: (state: ClientState) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Sends a command now, or as soon as there is a connection. */
  send(command: Command): SentCommand {
    if (this.#isClosed) throw new InspanError('closed', 'The client is closed.')
    const id = command.id ?? uuidV7()
    // Named when it is made: the user may look at another thread by the time it is sent.
    const thread = command.thread ?? this.#thread
    const made = { ...command, id, ...(thread === undefined ? {} : { thread }) }
    const receipt = Promise.withResolvers<ReceiptMessage>()
    this.#receipts.set(id, receipt)
    const message: CommandsMessage = { type: 'commands', commands: [made] }
    if (isTooLarge(message)) {
      // The server would close the connection, now and whenever it is sent again.
      this.#settle({ type: 'receipt', id, status: 'rejected', reason: 'invalid', message: TOO_LARGE })
    } else {
      this.#outbox.add({ id, command: made, madeAt: Date.now() })
      this.#connection?.send(message)
    }
    this.#changed()
    return { id, receipt: receipt.promise }
  }

  /** Sends an old command that was left from an earlier visit. */
  confirm(id: string): void {
    this.#outbox.confirm(id)
    this.#resend()
    this.#changed()
  }

  /** Forgets a command that was not settled. It may have been carried out. */
  discard(id: string): void {
    this.#outbox.remove(id)
    this.#changed()
  }

  /** Shows another thread. Nothing is cancelled in the one before. Resolves when the newest one asked for is there. */
  async open(thread: string): Promise<void> {
    if (thread === this.#thread) return this.ready()
    this.#thread = thread
    this.#view = emptyView(thread)
    const before = this.#first
    this.#first = Promise.withResolvers<void>()
    // Whoever still waits for the thread before waits for what is shown.
    this.#first.promise.then(before.resolve, before.reject)
    this.#changed()
    if (this.#status === 'open') this.#hello()
    await this.ready()
  }

  /** Ends the connection. Nothing is cancelled on the server, and unsettled commands stay in the outbox. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#asking)
    clearTimeout(this.#silence)
    this.#status = 'closed'
    this.#connection?.close()
    this.#connection = undefined
    this.#first.reject(new InspanError('closed', 'The client was closed.'))
    this.#changed()
    await this.#outbox.saved()
  }

  #open(): void {
    this.#connection = this.#transport.open({
      onOpen: () => this.#hello(),
      onMessage: (message) => this.#receive(message),
      onClose: (disconnect) => this.#disconnected(disconnect),
    })
    this.#heard()
  }

  #hello(): void {
    const { seq } = this.#view
    const thread = this.#thread
    const hello: ClientHello = {
      type: 'hello',
      protocol: WIRE_VERSION,
      clientId: this.#outbox.clientId,
      ...(this.#epoch === undefined ? {} : { epoch: this.#epoch }),
      ...(thread === undefined ? {} : { threads: { [thread]: seq === 0 ? null : seq } }),
      ...(this.#window === undefined ? {} : { window: this.#window }),
    }
    this.#connection?.send(hello)
  }

  #receive(message: ServerMessage): void {
    this.#heard()
    switch (message.type) {
      case 'hello':
        this.#welcome(message)
        break
      case 'snapshot':
        if (message.thread !== this.#thread) return
        this.#view = viewFrom(message.snapshot)
        this.#first.resolve()
        break
      case 'delta':
        this.#apply(message)
        break
      case 'receipt':
        this.#settle(message)
        break
      case 'error':
        this.#problem = message.message
        if (message.code === 'not-found' && message.thread === this.#thread) {
          this.#first.reject(new InspanError('not-found', message.message))
        }
        break
      // Messages of a newer server are for newer clients.
      default:
        return
    }
    this.#changed()
  }

  #welcome({ epoch, principal, thread }: HelloMessage): void {
    this.#principal = principal
    if (principal !== undefined) this.#outbox.claim(principal)
    if (this.#epoch !== undefined && this.#epoch !== epoch) this.#view = emptyView(this.#thread ?? '')
    this.#epoch = epoch
    this.#thread ??= thread
    this.#watched = thread
    this.#status = 'open'
    this.#problem = undefined
    this.#backoff.reset()
    // A cursor that is up to date is answered by silence.
    if (this.#view.seq > 0) this.#first.resolve()
    this.#resend()
  }

  #apply(delta: DeltaMessage): void {
    if ((delta.thread ?? this.#watched) !== this.#thread) return
    try {
      this.#view = applyFrame(this.#view, delta)
    } catch {
      // The replica has diverged, which must not happen: start from a snapshot.
      this.#view = emptyView(this.#thread ?? '')
      this.#hello()
      return
    }
    if (!this.#view.needsWindow) return
    // Messages came back that only the server has.
    this.#view = { ...this.#view, seq: 0, needsWindow: false }
    this.#hello()
  }

  #settle(receipt: ReceiptMessage): void {
    if (receipt.status === 'accepted') {
      // The server does not know yet how it ends. Sent again, it happens once all the same, and gets its receipt.
      this.#asking ??= setTimeout(() => {
        this.#asking = undefined
        this.#resend()
      }, this.#backoff.next())
      return
    }
    this.#outbox.remove(receipt.id)
    if (receipt.status !== 'done') this.#refused = [...this.#refused, receipt].slice(-MAX_REFUSED)
    this.#receipts.get(receipt.id)?.resolve(receipt)
    this.#receipts.delete(receipt.id)
  }

  #resend(): void {
    const ours = this.#outbox.commands.filter(
      ({ isStale, principal }) => isStale !== true && (principal === undefined || principal === this.#principal),
    )
    // In messages of their own: together they may be more than the server takes.
    for (const { command } of ours) this.#connection?.send({ type: 'commands', commands: [command] })
  }

  #disconnected({ fatal, reason }: Disconnect): void {
    clearTimeout(this.#silence)
    this.#connection = undefined
    if (this.#isClosed) return
    this.#problem = reason
    if (fatal === true) {
      this.#status = 'closed'
      this.#first.reject(new InspanError('misuse', `The server refused the connection: ${reason}.`))
    } else {
      this.#status = 'waiting'
      void this.#reconnect()
    }
    this.#changed()
  }

  async #reconnect(): Promise<void> {
    const refusal = await this.routes.refusal()
    if (this.#isClosed) return
    if (refusal !== undefined) {
      this.#disconnected({ reason: refusal, fatal: true })
      return
    }
    this.#retry = setTimeout(() => {
      this.#status = 'connecting'
      this.#open()
      this.#changed()
    }, this.#backoff.next())
  }

  /** Notes a sign of life. A connection that is silent for long is given up. */
  #heard(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.#connection?.close(), SILENCE_MS)
  }

  #changed(): void {
    this.#isStale = true
    // Nobody has to pay for a state that nobody looks at.
    if (this.#listeners.size === 0) return
    const state = this.getState()
    for (const listener of this.#listeners) listener(state)
  }

  #compute(before: ClientState | undefined): ClientState {
    return clientState(before, {
      view: this.#view,
      connection: this.#status,
      problem: this.#problem,
      pending: this.#outbox.commands,
      refused: this.#refused,
    })
  }
}

function isTooLarge(message: CommandsMessage): boolean {
  const text = JSON.stringify(message)
  // Each unit of a text has at most three bytes.
  return text.length * 3 > MAX_MESSAGE_BYTES && new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES
}
