import type { AgentEvent, ErrorData, JsonObject, UsageTotals } from '@inspan/protocol'
import type { AgentLimit, Binding, Host, Turn } from '@inspan/protocol/driver'
import type { Line, RunExit } from '@inspan/shell/run'
import type { MappedEvent } from '../kit/activity.ts'
import { recordOf } from '../kit/json-line.ts'
import type { Dialect, ReadRecords } from '../kit/mapper.ts'
import { Asks, type Ask } from '../live/asks.ts'
import { untestedVersion } from './cli-finder.ts'
import { EventQueue } from './event-queue.ts'
import type { FoundCli } from './find-cli.ts'
import { bindingOf, instructionsHash } from './native-session.ts'
import type { PrintOptions } from './print-driver.ts'
import type { CliProfile } from './profile.ts'
import { recordedFor } from './recording.ts'
import { RunLog } from './run-log.ts'
import type { RunHeader, RunStop, StopReason } from './run-note.ts'
import { TurnClock } from './turn-clock.ts'
import { TurnOutputReader } from './turn-output.ts'
import { turnLimits } from './turn-limits.ts'

/** The exit of a turn that is over while the process goes on, or that never had one. */
const NO_EXIT: RunExit = { code: null, signal: null }

/** Finds usage limits in what a CLI prints. */
export interface LimitReader {
  /** Lines without this text are not looked at. */
  readonly mark: string
  readonly read: (record: JsonObject) => readonly AgentLimit[]
}

/** What the turns of a CLI share, in print and in live mode. */
export interface CliTurnContext {
  readonly id: string
  readonly spec: {
    readonly profile: CliProfile
    readonly dialect: Dialect
    anchorOf?(event: MappedEvent): string | undefined
    readonly limits?: LimitReader
  }
  readonly options: PrintOptions
  readonly cli: FoundCli
}

export interface CliTurnPorts {
  readonly host: Host
  readonly bind: (binding: Binding) => void
  /** Called to end the turn, because it lasted or was silent too long. */
  readonly stop: (reason: StopReason, error: ErrorData) => void
  /** Called when the CLI is silent: opens the log, so that the warning is heard. */
  readonly onSilence?: () => void
}

/** One turn of a CLI, whatever runs it: its output, its limits, its questions, its binding and its one `finish`. */
export class CliTurn {
  readonly turn: Turn
  readonly asks: Asks
  readonly #context: CliTurnContext
  readonly #binding: Binding | null
  readonly #ports: CliTurnPorts
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
  /** The limits that were noted, by name. */
  readonly #limits = new Map<string, string>()
  #isAnswered = false
  /** The native session's id, if it is known from elsewhere than the output. */
  nativeId: string | undefined

  constructor(context: CliTurnContext, turn: Turn, binding: Binding | null, ports: CliTurnPorts) {
    this.turn = turn
    this.#context = context
    this.#binding = binding
    this.#ports = ports
    this.#log = new RunLog(
      context.spec.dialect,
      () => ports.host.now(),
      (event) => this.#queue.push(event),
    )
    this.#clock = this.#newClock()
    this.asks = new Asks({
      host: ports.host,
      agentId: context.id,
      hasToolServer: turn.toolServer !== undefined,
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

  get isOpen(): boolean {
    return this.#log.isOpen
  }

  /**
   * Whether the result stands if the turn is ended for this reason. At a deadline the end of a model's answer is not
   * enough: the CLI may have been compacting, or waiting for the next answer.
   */
  hasReportedResult(reason: StopReason): boolean {
    return this.#log.hasReportedResult(reason !== 'deadline')
  }

  /** Rejects if the turn cannot be recorded. */
  async record(): Promise<void> {
    await this.#log.record(recordedFor(this.#ports.host, this.#context.options.record?.(this.turn)))
  }

  /** From here on the turn is about this session. Lines and notes from before follow. */
  open(header: RunHeader, anchor: string | undefined): void {
    this.#cwd = header.cwd
    this.#anchor = anchor
    this.#log.open(header)
  }

  /** Drops the lines and notes from before the log was opened. */
  forget(): void {
    this.#log.forget()
  }

  /** A returned promise pauses the output. `records`: the lines as `recordOf` reads them, if that is done. */
  lines(stream: 'stdout' | 'stderr', lines: readonly Line[], records?: ReadRecords): Promise<void> | undefined {
    this.#clock.sign()
    if (stream === 'stdout') this.#noteLimits(lines, records)
    return this.#log.lines(stream, lines, records)
  }

  /** Resolves when consumers of the events can take more. */
  room(): Promise<void> | undefined {
    return this.#queue.isFull ? this.#queue.room() : undefined
  }

  warn(message: string, code?: string): void {
    if (!this.#isFinished) this.#log.warn(message, code)
  }

  over(): void {
    this.#isAnswered = true
    this.close()
  }

  /** Ends the turn, whether or not the CLI reported its end. */
  close(): void {
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
    const stop: RunStop = { reason, ...(error === undefined ? {} : { error }) }
    this.#log.addNote({ stop })
  }

  /** Emits the `finish`. `exit` is given if the process has exited too. */
  async finish(exit: RunExit = NO_EXIT): Promise<void> {
    if (this.#isFinished) return
    this.close()
    this.#countUnknown()
    this.#log.addNote({ end: { exitCode: exit.code, signal: exit.signal } })
    this.#isFinished = true
    await this.#log.close().catch((error: unknown) => {
      this.#ports.host.log('warn', `The record of a turn could not be closed: ${String(error)}`)
    })
    this.#queue.end()
    this.#ended.resolve()
  }

  /** Yields the agent events. Notes go to the host instead, in their place among the events. */
  async *events(): AsyncGenerator<AgentEvent, void, undefined> {
    const output = this.turn.output === undefined ? undefined : new TurnOutputReader()
    for (let event = await this.#queue.take(); event !== undefined; event = await this.#queue.take()) {
      if (event.type === 'note') {
        this.#ports.host.noteActivity(event.activity, event.native)
        continue
      }
      this.#bind(event.type === 'finish')
      output?.hear(event)
      if (output !== undefined && event.type === 'finish') yield* output.finish(event)
      else yield event
      // The consumer has recorded this event by now, so the anchor is never ahead of the log.
      this.#anchor = this.#context.spec.anchorOf?.(event) ?? this.#anchor
    }
    await this.ended
  }

  #noteLimits(lines: readonly Line[], records?: ReadRecords): void {
    const { limits } = this.#context.spec
    if (limits === undefined) return
    for (const [index, { text }] of lines.entries()) {
      if (!text.includes(limits.mark)) continue
      const record = records === undefined ? recordOf(text) : records[index]
      for (const limit of record === undefined ? [] : limits.read(record)) {
        const asJson = JSON.stringify(limit)
        if (this.#limits.get(limit.name) === asJson) continue
        this.#limits.set(limit.name, asJson)
        this.#ports.host.noteLimit(limit)
      }
    }
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
    const nativeId = this.nativeId ?? this.#log.mapper?.sessionId
    if (nativeId === undefined) return
    const facts = {
      agentId: id,
      nativeId,
      version: cli.version,
      cwd: this.#cwd,
      anchor: this.#anchor,
      usageTotal: isFinal ? this.#usageTotal : undefined,
      isSettled: isFinal && (this.#isAnswered || !this.#isStopped),
      instructions: instructionsHash(this.turn.instructions),
    }
    const binding = bindingOf(facts, this.#binding)
    const text = JSON.stringify(binding)
    if (text === this.#bound) return
    this.#bound = text
    this.#ports.bind(binding)
  }

  get #usageTotal(): UsageTotals | undefined {
    return this.#log.mapper?.usage.totals
  }

  #newClock(): TurnClock {
    const { options, spec } = this.#context
    const { deadlineMs, stallMs, late, silence } = turnLimits(spec.profile.title, options)
    return new TurnClock({
      deadlineMs,
      stallMs,
      onDeadline: () => this.#ports.stop('deadline', late),
      onStall: (silentMs) => {
        const { warning, failure } = silence(silentMs)
        this.#ports.onSilence?.()
        this.warn(warning, 'stall')
        if (failure !== undefined) this.#ports.stop('stalled', failure)
      },
    })
  }

  /** Warns how much of an untested version's output was not understood. */
  #countUnknown(): void {
    const { cli, spec } = this.#context
    const sums = this.#log.mapper?.ledger.sums()
    if (sums === undefined || sums.lines === 0) return
    for (const { message, code } of untestedVersion(spec.profile, cli, sums)) this.#log.warn(message, code)
  }
}
