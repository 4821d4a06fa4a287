import type { AgentEvent, ErrorData, UsageTotals } from '@inspan/protocol'
import type { Binding, Host, Turn } from '@inspan/protocol/driver'
import type { Line, RunExit } from '@inspan/shell/run'
import type { MappedEvent } from '../kit/activity.ts'
import { untestedVersion } from '../launch/cli-finder.ts'
import { EventQueue } from '../launch/event-queue.ts'
import { bindingOf, instructionsHash } from '../launch/native-session.ts'
import { recordedFor } from '../launch/recording.ts'
import { RunLog } from '../launch/run-log.ts'
import type { RunHeader, StopReason } from '../launch/run-note.ts'
import { turnLimits } from '../launch/turn-limits.ts'
import { Asks, type Ask } from './asks.ts'
import type { LiveContext } from './live-driver.ts'
import type { TurnPort } from './live-harness.ts'
import { TurnClock } from './turn-clock.ts'

/** The exit of a turn that is over while the process goes on. */
const STILL_RUNNING: RunExit = { code: null, signal: null }

export interface LiveTurnPorts {
  readonly host: Host
  readonly bind: (binding: Binding) => void
  /** Called to end the turn, because it lasted or was silent too long. */
  readonly stop: (reason: StopReason, error: ErrorData) => void
}

/** One turn of a process that takes many: all its output and its one `finish`. */
export class LiveTurn implements TurnPort {
  readonly asks: Asks
  readonly turn: Turn
  readonly #context: LiveContext
  readonly #binding: Binding | null
  readonly #ports: LiveTurnPorts
  readonly #queue = new EventQueue<MappedEvent>()
  readonly #log: RunLog
  readonly #clock: TurnClock
  readonly #whenOver = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  #isOver = false
  #isStopped = false
  #isFinished = false
  #cwd: string | undefined
  #anchor: string | undefined
  #bound = ''

  constructor(context: LiveContext, turn: Turn, binding: Binding | null, ports: LiveTurnPorts) {
    this.turn = turn
    this.#context = context
    this.#binding = binding
    this.#ports = ports
    this.#log = new RunLog(
      context.harness.dialect,
      () => ports.host.now(),
      (event) => this.#queue.push(event),
    )
    this.#clock = this.#newClock()
    this.asks = new Asks({
      host: ports.host,
      agentId: context.id,
      onWaiting: (isWaiting) => {
        if (isWaiting) this.#clock.pause()
        else if (!this.#isOver) this.#clock.start()
      },
      onAsk: (ask) => this.#announce(ask),
      onLate: ({ description }) => {
        if (!this.#isOver) this.warn(`An answer came too late and was not used: ${description}`, 'late-answer')
      },
    })
    this.#clock.start()
  }

  /** Whether the CLI reported the end of the turn, or is being ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  get whenOver(): Promise<void> {
    return this.#whenOver.promise
  }

  /** Resolves when the `finish` was emitted. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get brokenOff(): readonly string[] {
    return this.#log.brokenOff
  }

  get usageTotal(): UsageTotals | undefined {
    return this.#log.mapper?.usage.totals
  }

  /** Rejects if the turn cannot be recorded. */
  async record(): Promise<void> {
    await this.#log.record(recordedFor(this.#ports.host, this.#context.options.record?.(this.turn)))
  }

  open(header: RunHeader, anchor: string | undefined): void {
    this.#cwd = header.cwd
    this.#anchor = anchor
    this.#log.open(header)
  }

  /** A returned promise pauses the output. */
  line(stream: 'stdout' | 'stderr', line: Line, mayHold: boolean): Promise<void> | undefined {
    this.#clock.sign()
    const written = this.#log.line(stream, line)
    if (!mayHold || !this.#queue.isFull) return written
    const room = this.#queue.room()
    return written === undefined ? room : written.then(() => room)
  }

  warn(message: string, code?: string): void {
    if (!this.#isFinished) this.#log.warn(message, code)
  }

  over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#clock.pause()
    this.asks.abandon()
    this.#whenOver.resolve()
  }

  /** Marks the turn as stopped: what the CLI prints from here on is our doing. */
  stop(reason: StopReason, error?: ErrorData): void {
    // The consumer of the events may be the one that awaits the end.
    this.#queue.unbound()
    if (this.#isStopped || this.#isOver) return
    this.#isStopped = true
    this.#clock.pause()
    this.asks.abandon()
    this.#log.tell({ stop: { reason, ...(error === undefined ? {} : { error }) } })
  }

  /** Emits the `finish`. `exit` is given if the process has exited too. */
  async finish(exit: RunExit = STILL_RUNNING): Promise<void> {
    if (this.#isFinished) return
    this.over()
    if (!this.#log.isOpen) this.#log.open(this.#context.header)
    this.#countUnknown()
    this.#log.tell({ end: { exitCode: exit.code, signal: exit.signal } })
    this.#isFinished = true
    await this.#log.close().catch((error: unknown) => {
      this.#ports.host.log('warn', `The record of a turn could not be closed: ${String(error)}`)
    })
    this.#queue.end()
    this.#ended.resolve()
  }

  /** Yields the agent events. Notes go to the host instead, in their place among the events. */
  async *events(): AsyncGenerator<AgentEvent, void, undefined> {
    for (let event = await this.#queue.take(); event !== undefined; event = await this.#queue.take()) {
      if (event.type === 'note') {
        this.#ports.host.noteActivity(event.activity, event.native)
        continue
      }
      this.#bind(event.type === 'finish')
      yield event
      // The consumer has recorded this event by now, so the anchor is never ahead of the log.
      this.#anchor = this.#context.harness.anchorOf(event) ?? this.#anchor
    }
    await this.ended
  }

  #announce({ kind, call }: Ask): void {
    if (kind !== 'approval' && kind !== 'access') return
    const { toolCallId, toolName, input, serverName, parentToolCallId } = call
    this.#queue.push({
      type: 'tool-approval-request',
      toolCall: { toolCallId, toolName, args: input },
      ...(serverName === undefined ? {} : { serverName }),
      ...(parentToolCallId === undefined ? {} : { parentToolCallId }),
    })
  }

  #bind(isFinal: boolean): void {
    const { id, cli } = this.#context
    const nativeId = this.#log.mapper?.sessionId
    if (nativeId === undefined) return
    const facts = {
      agentId: id,
      nativeId,
      version: cli.version,
      cwd: this.#cwd,
      anchor: this.#anchor,
      usageTotal: isFinal ? this.usageTotal : undefined,
      isSettled: isFinal && !this.#isStopped,
      instructions: instructionsHash(this.turn.instructions),
    }
    const binding = bindingOf(facts, this.#binding)
    const text = JSON.stringify(binding)
    if (text === this.#bound) return
    this.#bound = text
    this.#ports.bind(binding)
  }

  #newClock(): TurnClock {
    const { options, harness } = this.#context
    const { deadlineMs, stallMs, late, silence } = turnLimits(harness.profile.title, options)
    return new TurnClock({
      deadlineMs,
      stallMs,
      onDeadline: () => this.#ports.stop('deadline', late),
      onStall: (silentMs) => {
        const { warning, failure } = silence(silentMs)
        this.warn(warning, 'stall')
        if (failure !== undefined) this.#ports.stop('stalled', failure)
      },
    })
  }

  /** Warns how much of an untested version's output was not understood. */
  #countUnknown(): void {
    const { cli, harness } = this.#context
    const sums = this.#log.mapper?.ledger.sums()
    if (sums === undefined || sums.lines === 0) return
    for (const { message, code } of untestedVersion(harness.profile, cli, sums)) this.#log.warn(message, code)
  }
}
