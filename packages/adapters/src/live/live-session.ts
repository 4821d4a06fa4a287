import { setImmediate as nextTask } from 'node:timers/promises'
import { InspanError, type AgentEvent, type ErrorData, type StoredMessage } from '@inspan/protocol'
import type { AgentSession, Binding, HandoverNote, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import type { RunExit } from '@inspan/shell/run'
import { CliTurn } from '../launch/cli-turn.ts'
import { handoverText } from '../launch/handover-text.ts'
import { assertTakesTurn, NOTHING_RAN } from '../launch/one-turn.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { failure, toFailure } from '../launch/run-failure.ts'
import type { StopReason } from '../launch/run-note.ts'
import { missedMessages } from './handover.ts'
import type { LiveContext } from './live-driver.ts'
import { SessionLost, type LiveTask } from './live-cli-spec.ts'
import { headerOf, LiveLauncher, type Ready, type Running } from './live-launcher.ts'
import { timer } from '../launch/turn-clock.ts'
import { isFulfilledWithin } from '../launch/within.ts'

const DEFAULT_INTERRUPT_MS = 10_000
const DEFAULT_IDLE_MS = 15 * 60_000
/** How long to wait for a sign that a kept process is still there and has taken the turn. */
const NOTICE_MS = 1_000

/**
 * How a turn began: it did (no fields), the process exited, or the turn was refused. `lost`: because of its session.
 * `isUnheard`: the kept process exited without printing anything, so it never heard of the turn.
 */
interface Began {
  readonly exit?: RunExit
  readonly error?: Error
  readonly lost?: string
  readonly isUnheard?: boolean
}

/** One process for many turns. Started for the first turn, and again if it has exited or a turn needs another one. */
export class LiveSession implements AgentSession {
  readonly #context: LiveContext
  readonly #host: Host
  readonly #launcher: LiveLauncher
  /** Runs whose messages the native session has all received. */
  readonly #heardRuns = new Set<string>()
  #binding: Binding | null
  #turn: CliTurn | undefined
  /** What the CLI gets of others' messages. */
  #handover: HandoverNote | undefined
  #started: Promise<void> = Promise.resolve()
  #stopping: Promise<CancelReceipt> | undefined
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(context: LiveContext, binding: Binding | null, host: Host) {
    this.#context = context
    this.#binding = binding
    this.#host = host
    this.#launcher = new LiveLauncher(context, host)
  }

  async *run(turn: Turn): AsyncGenerator<AgentEvent, void, undefined> {
    const live = this.#begin(turn)
    const abort = (): void => void this.#stop(live, 'cancelled')
    const { signal } = this.#host
    signal.addEventListener('abort', abort)
    const driven = this.#drive(live)
    try {
      if (signal.aborted) abort()
      yield* live.events()
    } finally {
      signal.removeEventListener('abort', abort)
      await this.#stop(live, 'left')
      await driven
      this.#heardRuns.add(turn.runId)
      this.#turn = undefined
      this.#stopping = undefined
      this.#rest()
    }
  }

  async steer(message: StoredMessage): Promise<'injected' | 'queued'> {
    const live = this.#turn
    await this.#started.catch(() => undefined)
    const running = this.#launcher.running
    if (live === undefined || live !== this.#turn || live.isOver || live.isStopped || running === undefined) {
      throw new InspanError('conflict', 'There is no turn under way that could be steered.', {
        hint: 'Give the message to the next turn.',
      })
    }
    return running.peer.steer(message.parts, message.id)
  }

  async cancel(): Promise<CancelReceipt> {
    return this.#turn === undefined ? NOTHING_RAN : this.#stop(this.#turn, 'cancelled')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    if (this.#turn !== undefined) await this.#stop(this.#turn, 'cancelled')
    await this.#launcher.end()
  }

  #begin(turn: Turn): CliTurn {
    assertTakesTurn(this.#isClosed, this.#turn)
    clearTimeout(this.#idle)
    const live: CliTurn = new CliTurn(this.#context, turn, this.#binding, {
      host: this.#host,
      bind: (binding) => {
        this.#binding = binding
        this.#host.bind(binding)
      },
      stop: (reason, error) => void this.#stop(live, reason, error),
    })
    this.#turn = live
    return live
  }

  /** Runs a turn up to its `finish`. Never rejects: any error becomes the turn's failure. */
  async #drive(live: CliTurn): Promise<void> {
    let exit: RunExit | undefined
    try {
      exit = await this.#take(live)
      if (exit?.code === 0 && !live.isOver)
        live.stop('failed', failure('exit-0', `${this.#title} ended in the middle of the turn.`))
    } catch (error) {
      live.stop('failed', toFailure(error))
      await this.#launcher.end()
    }
    if (!live.isOpen) live.open(headerOf(this.#context), undefined)
    await live.finish(exit)
  }

  /** Starts the turn and waits for its end. Returns the exit of the process, if it has exited. */
  async #take(live: CliTurn): Promise<RunExit | undefined> {
    await live.record()
    let ready = await this.#launcher.ready(live, this.#binding)
    let began = await this.#start(live, ready)
    if (began.isUnheard === true && !live.isStopped) {
      ready = await this.#launcher.ready(live, this.#binding)
      began = await this.#start(live, ready)
    }
    if (began.lost !== undefined && !live.isStopped) {
      ready = await this.#launcher.renew(live, began.lost)
      began = await this.#start(live, ready)
    }
    this.#launcher.open(live, ready)
    if (this.#handover !== undefined && began.error === undefined) this.#host.noteHandover(this.#handover)
    if (began.error !== undefined) throw began.error
    return began.exit ?? Promise.race([live.whenOver.then(() => undefined), ready.running.process.done])
  }

  /** Gives the process its task. Reports a problem with the session as `lost`, because another session may work. */
  async #start(live: CliTurn, { running, request, isFirst }: Ready): Promise<Began> {
    if (live.isStopped) {
      await this.#launcher.end()
      return { exit: await running.process.done }
    }
    await this.#host.noteProcess(running.process.note)
    this.#handover = undefined
    // Another process knows only what its native session holds.
    if (isFirst) this.#heardRuns.clear()
    let isHeard = isFirst
    const word = this.#launcher.nextWord().then(() => void (isHeard = true))
    const started = running.peer.start(this.#task(live.turn, request, isFirst), live)
    this.#started = started
    const taken = isFirst ? started : started.then(() => noticed(word))
    const canBeLost = isFirst && request.session.kind !== 'new'
    try {
      const ended = running.process.done
      let exit = await Promise.race([taken.then(() => undefined), live.whenOver.then(() => undefined), ended])
      // Processes that it left running may take longer to end than itself.
      if (!isHeard && running.process.hasEnded) exit = await ended
      // Its exit says more than the request that failed because of it.
      taken.catch(() => undefined)
      if (exit === undefined) return {}
      if (!isHeard) return { exit, isUnheard: true }
      return canBeLost ? { exit, lost: `it ended with ${exit.signal ?? `code ${exit.code}`}` } : { exit }
    } catch (error) {
      if (error instanceof SessionLost && canBeLost) return { error, lost: error.message }
      return { error: error as Error }
    }
  }

  #task(turn: Turn, request: LaunchRequest, isFirst: boolean): LiveTask {
    const { session } = request
    const known = isFirst ? (session.kind === 'new' ? undefined : session.nativeId) : this.#binding?.nativeId
    const history: Host['history'] = (query) => this.#host.history(query)
    const budget = this.#host.handover
    return {
      request,
      isFirst,
      history,
      handover: async (isKnown = ({ sessionId }) => known !== undefined && sessionId === known) => {
        const syncedTo = session.kind === 'resume' ? (this.#binding?.syncedTo ?? 0) : 0
        const heardRuns = this.#heardRuns
        const handover = await missedMessages(history, { isKnown, syncedTo, heardRuns, budget, turn })
        const { messages, tokens, omitted, isCut } = handover
        const truncated = omitted > 0 || isCut
        this.#handover = messages.length === 0 ? undefined : { messages: messages.length, tokens, truncated, omitted }
        return handover
      },
      handoverText: async () => {
        const said = await handoverText(history, session, this.#binding, turn, budget)
        if (said === undefined) return undefined
        const { text, messages, omitted, tokens, isTruncated } = said
        this.#handover = { messages, tokens, truncated: isTruncated, omitted }
        return text
      },
    }
  }

  #stop(live: CliTurn, reason: StopReason, error?: ErrorData): Promise<CancelReceipt> {
    const wasOver = live.isOver
    live.stop(reason, error)
    if (this.#stopping !== undefined) return this.#stopping
    if (wasOver) return live.ended.then(() => NOTHING_RAN)
    this.#stopping = this.#end(live)
    return this.#stopping
  }

  /** Interrupts the turn, then ends the process so that nothing goes on. The next turn gets a new process. */
  async #end(live: CliTurn): Promise<CancelReceipt> {
    const { running } = this.#launcher
    if (running !== undefined) await this.#interrupt(live, running)
    const queued = running?.peer.undelivered ?? []
    const receipt = await this.#launcher.end()
    await live.ended
    return {
      how: receipt?.how ?? 'gone',
      calls: live.brokenOff,
      orphansKilled: receipt?.killed.filter(({ pid }) => pid !== running?.process.pid).length ?? 0,
      queued,
    }
  }

  async #interrupt(live: CliTurn, { peer, process }: Running): Promise<void> {
    const asked = peer.interrupt().then(() => live.whenOver)
    const { interruptMs = DEFAULT_INTERRUPT_MS } = this.#context.options
    await isFulfilledWithin(Promise.race([asked.catch(() => undefined), process.done]), interruptMs)
  }

  get #title(): string {
    return this.#context.spec.profile.title
  }

  #rest(): void {
    const { idleMs = DEFAULT_IDLE_MS } = this.#context.options
    if (idleMs === null || this.#isClosed || this.#launcher.running === undefined) return
    this.#idle = timer(() => void this.#launcher.end(), idleMs)
  }
}

/** Waits until a kept process has printed something, or for as long as its exit may take to be noticed. */
async function noticed(word: Promise<void>): Promise<void> {
  await isFulfilledWithin(word, NOTICE_MS)
  // Timers run before I/O events: if this process was busy, the exit may have happened already and not be reported yet.
  await nextTask()
}
