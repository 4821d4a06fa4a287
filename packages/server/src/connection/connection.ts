import { InspanError } from '@inspan/protocol'
import { describeIssues } from '@inspan/protocol/internal'
import { LIMITS, schemas } from '@inspan/protocol/schema'
import {
  WIRE_VERSION,
  type ClientHello,
  type Command,
  type ErrorMessage,
  type HelloMessage,
  type ReceiptMessage,
} from '@inspan/protocol/wire'
import type { CommandExecutor } from '../commands/command-executor.ts'
import { DEFAULT_WINDOW, MAX_WINDOW } from '../feed/window.ts'
import type { Caller } from '../http/guard.ts'
import type { Hub, UsedThread } from '../hub.ts'
import { readCommand } from './read-command.ts'
import { readJson } from './read-json.ts'
import type { CloseReason, Sink } from './sink.ts'
import { watchAsSeed, watchThread, type Cursor, type Watch } from './watch.ts'

/** Above this many unsent bytes a client gets nothing more until it has read them. */
const SOFT_LIMIT = 256 * 1024
/** How long a client may read nothing at all, and how much longer per unsent byte: a large write is taken as a whole. */
const STALL_MS = 60_000
const SLOWEST_BYTES_PER_MS = 16
/** How many characters of receipts and errors may wait for a client that sends but does not read. */
const MAX_UNSENT = 4 * 1024 * 1024
/** How many messages of one client may wait to be handled. */
const MAX_PENDING = 1000

interface Watched extends Watch {
  readonly used: UsedThread
}

/** One client, over any transport: what it watches, and the commands it sends. */
export class ServedConnection {
  readonly #hub: Hub
  readonly #executor: CommandExecutor
  readonly #sink: Sink
  readonly caller: Caller
  readonly #watches = new Map<string, Watched>()
  /** Receipts that wait until the client takes more. */
  #unsent: string[] = []
  #unsentChars = 0
  #work: Promise<void> = Promise.resolve()
  #pending = 0
  #clientId: string | undefined
  #thread: string | undefined
  /** A client of version 0, which is shown one thread. */
  #isSeed = false
  /** What the network had taken when it was looked at last. */
  #taken = 0
  #stalledMs = 0
  #closed = false
  readonly #stopListening: () => void

  constructor(hub: Hub, executor: CommandExecutor, caller: Caller, sink: Sink) {
    this.#hub = hub
    this.#executor = executor
    this.#sink = sink
    this.caller = caller
    const stops = [
      hub.onClosed((thread) => {
        if (!this.#watches.has(thread)) return
        this.#drop(thread)
        const message: ErrorMessage = { type: 'error', message: 'The thread was deleted.', code: 'not-found', thread }
        this.#send(JSON.stringify(message))
      }),
      hub.onMoved(() => this.close('shutdown')),
    ]
    this.#stopListening = () => stops.forEach((stop) => stop())
  }

  /** Serves a client of version 0: the whole state first, then deltas with indexes. */
  startAsSeed(thread?: string): Promise<void> {
    this.#isSeed = true
    return this.#post(async () => this.#showAsSeed(thread ?? (await this.#hub.defaultThread(this.caller))))
  }

  async #showAsSeed(thread: string): Promise<void> {
    const used = await this.#hub.use(thread, this.caller)
    if (this.#closed) return used.release()
    for (const shown of this.#watches.keys()) this.#drop(shown)
    this.#thread = thread
    const watch = watchAsSeed({ ...this.#watchOptions(used), window: DEFAULT_WINDOW })
    this.#watches.set(thread, keep(watch, used))
  }

  /** Takes a message of the client. Messages are handled one after the other. */
  receive(text: string): void {
    if (this.#closed) return
    try {
      const message = readJson(text)
      if (isObject(message) && message['type'] === 'commands') this.#receiveCommands(message['commands'])
      else {
        const hello = schemas.ClientHello.safeParse(message)
        if (!hello.success) throw unreadable(describeIssues(hello.error.issues))
        this.#queueHello(hello.data)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Each command is checked by itself: one that this version does not know does not take the others with it. */
  #receiveCommands(commands: unknown): void {
    if (!Array.isArray(commands)) throw unreadable('"commands" has to be an array')
    if (commands.length > LIMITS.commands) throw unreadable(`it has more than ${LIMITS.commands} commands`)
    for (const given of commands as readonly unknown[]) {
      const { command, refusal } = readCommand(given)
      if (command !== undefined) this.#queue(command)
      else if (refusal.id !== undefined) {
        this.#send(JSON.stringify({ type: 'receipt', id: refusal.id, ...refusal.outcome }))
      } else {
        const { message, reason } = refusal.outcome
        this.#fail(new InspanError(reason === 'invalid' ? 'invalid-input' : 'unsupported', message))
      }
    }
  }

  /** Starts or changes what the client watches. */
  hello(hello: ClientHello): Promise<void> {
    return this.#post(() => this.#hello(hello))
  }

  /** Called when the network has taken what was sent. */
  drained(): void {
    if (this.#closed || !this.#isOpen()) return
    for (const watch of this.#watches.values()) {
      watch.catchUp()
      if (!this.#isOpen()) return
    }
    const unsent = this.#unsent
    this.#unsent = []
    this.#unsentChars = 0
    for (const text of unsent) this.#sink.send(text)
  }

  /** Called from time to time, with the time since the last call: ends a connection that takes nothing. */
  check(elapsedMs: number): void {
    const { buffered, taken } = this.#sink
    if (buffered === 0 || taken !== this.#taken) {
      this.#taken = taken
      this.#stalledMs = 0
      this.drained()
      return
    }
    this.#stalledMs += elapsedMs
    if (this.#stalledMs >= STALL_MS + buffered / SLOWEST_BYTES_PER_MS) this.close('overloaded')
  }

  close(reason: CloseReason): void {
    if (this.#closed) return
    this.ended()
    this.#sink.close(reason)
  }

  /** Called when the transport is gone. Nothing that was begun is cancelled. */
  ended(): void {
    this.#closed = true
    this.#stopListening()
    for (const thread of this.#watches.keys()) this.#drop(thread)
  }

  async #hello(hello: ClientHello): Promise<void> {
    this.#isSeed = false
    this.#clientId = hello.clientId
    const known = this.#thread ?? (await this.#hub.defaultThread(this.caller))
    const wanted = hello.threads ?? { [known]: null }
    const [only] = Object.keys(wanted)
    this.#thread = hello.threads === undefined || only === undefined ? known : only
    // Held until the client watches it, so that it is not opened twice. An unknown one is reported below.
    const used = await this.#hub.use(this.#thread, this.caller).catch(() => undefined)
    const answer: HelloMessage = {
      type: 'hello',
      protocol: Math.min(hello.protocol, WIRE_VERSION),
      epoch: this.#hub.epoch,
      thread: this.#thread,
      ...(used === undefined ? {} : { seq: used.feed.seq }),
      principal: this.caller.principal,
    }
    this.#sink.send(JSON.stringify(answer))
    for (const thread of this.#watches.keys()) this.#drop(thread)
    const window = Math.min(hello.window ?? DEFAULT_WINDOW, MAX_WINDOW)
    const isOnly = Object.keys(wanted).length === 1
    for (const [thread, seq] of Object.entries(wanted)) {
      const isStale = hello.epoch !== undefined && hello.epoch !== this.#hub.epoch
      await this.#watch(thread, seq !== null && isStale ? { resync: 'epoch' } : seq, { isOnly, window })
    }
    used?.release()
  }

  async #watch(
    thread: string,
    cursor: Cursor,
    shown: Pick<Parameters<typeof watchThread>[0], 'isOnly' | 'window'>,
  ): Promise<void> {
    try {
      const used = await this.#hub.use(thread, this.caller)
      if (this.#closed) return used.release()
      const isAhead = typeof cursor === 'number' && cursor > used.feed.seq
      const stored = typeof cursor === 'number' && !isAhead ? await used.feed.recall(cursor) : undefined
      if (this.#closed) return used.release()
      const options = { ...this.#watchOptions(used), ...shown, stored }
      const watch = watchThread(options, isAhead ? { resync: 'gap' } : cursor)
      this.#watches.set(thread, keep(watch, used))
    } catch (error) {
      this.#fail(error, thread)
    }
  }

  #watchOptions({ feed }: UsedThread): Omit<Parameters<typeof watchThread>[0], 'isOnly' | 'window'> {
    return { feed, send: (text) => this.#sink.send(text), isOpen: () => this.#isOpen() }
  }

  /** A client says hello once, and again for another thread. One that never stops is not served any longer. */
  #queueHello(hello: ClientHello): void {
    if (this.#pending >= MAX_PENDING || this.#sink.buffered > MAX_UNSENT) return this.close('overloaded')
    this.#pending++
    void this.#post(() => this.#hello(hello)).finally(() => this.#pending--)
  }

  #queue(command: Command): void {
    if (this.#pending >= MAX_PENDING) {
      this.#receipt(command, { status: 'rejected', reason: 'queue-full', message: 'Too many commands at once.' })
      return
    }
    this.#pending++
    void this.#post(async () => {
      try {
        await this.#carryOut(command)
      } finally {
        this.#pending--
      }
    })
  }

  async #carryOut(given: Command): Promise<void> {
    const thread = given.thread ?? this.#thread ?? (await this.#hub.defaultThread(this.caller))
    const receipt = await this.#executor.carryOut({ ...given, thread }, this.caller, this.#clientId)
    this.#watches.get(thread)?.used.feed.flush()
    if (given.id !== undefined) this.#send(JSON.stringify(receipt))
    else if (receipt.status !== 'done' && receipt.status !== 'accepted') {
      // A client that sends no ids must still see that it was refused.
      this.#send(JSON.stringify(errorOf(receipt)))
    }
    // It has no other way to see the session that it has opened.
    const opened = given.type === 'resume' ? receipt.thread : undefined
    if (this.#isSeed && opened !== undefined && opened !== this.#thread) await this.#showAsSeed(opened)
  }

  #receipt({ id }: Command, receipt: Omit<ReceiptMessage, 'type' | 'id'>): void {
    if (id !== undefined) this.#send(JSON.stringify({ type: 'receipt', id, ...receipt }))
  }

  /** Sends what belongs after all deltas that were sent before. */
  #send(text: string): void {
    if (this.#closed) return
    const isBehind = [...this.#watches.values()].some((watch) => watch.isBehind)
    if (this.#isOpen() && !isBehind && this.#unsent.length === 0) {
      this.#sink.send(text)
      return
    }
    this.#unsent.push(text)
    this.#unsentChars += text.length
    if (this.#unsentChars > MAX_UNSENT) this.close('overloaded')
  }

  /** Tells a client that sends nothing else that it is still connected. */
  ping(): void {
    if (this.#clientId !== undefined && this.#isOpen()) this.#sink.send(PING)
  }

  #fail(error: unknown, thread?: string): void {
    const message: ErrorMessage = InspanError.is(error)
      ? { type: 'error', message: error.message, code: error.code }
      : { type: 'error', message: 'The server failed to handle this.', code: 'io' }
    this.#send(JSON.stringify(thread === undefined ? message : { ...message, thread }))
  }

  #isOpen(): boolean {
    return this.#sink.buffered <= SOFT_LIMIT
  }

  #drop(thread: string): void {
    const watch = this.#watches.get(thread)
    this.#watches.delete(thread)
    watch?.stop()
    watch?.used.release()
  }

  #post(task: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#closed) return
      try {
        await task()
      } catch (error) {
        this.#fail(error)
      }
    })
    return this.#work
  }
}

const PING: string = JSON.stringify({ type: 'ping' })

function unreadable(why: string): InspanError {
  return new InspanError('invalid-input', `This is not a message of the protocol: ${why}.`)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keep(watch: Watch, used: UsedThread): Watched {
  return {
    used,
    get isBehind() {
      return watch.isBehind
    },
    catchUp: () => watch.catchUp(),
    stop: () => watch.stop(),
  }
}

function errorOf({ message, reason, status }: ReceiptMessage): ErrorMessage {
  return { type: 'error', message: message ?? `The command was ${status}.`, code: reason ?? status }
}
