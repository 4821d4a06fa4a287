import { randomUUID } from 'node:crypto'
import type { AgentEvent, ErrorData } from '@inspan/protocol'
import type { Binding, HandoverNote, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import type { RunExit, SpawnRunOptions } from '@inspan/shell/run'
import type { MappedEvent } from '../kit/activity.ts'
import { untestedVersion } from './cli-finder.ts'
import { EventQueue } from './event-queue.ts'
import { hasKey } from './find-cli.ts'
import { handoverText } from './handover-text.ts'
import { requestOf, type LaunchPlan, type LaunchRequest } from './launch-plan.ts'
import { bindingOf, chooseSession, instructionsHash, newSession, type NativeSession } from './native-session.ts'
import type { EndedRun, PrintContext } from './print-driver.ts'
import { refuseUnstartable } from './plan-limits.ts'
import { makePrivateDir, type PrivateDir } from './private-dir.ts'
import { recordedFor } from './recording.ts'
import { ResumeTrial } from './resume-trial.ts'
import { failure, toFailure } from './run-failure.ts'
import { RunLog } from './run-log.ts'
import type { RunHeader, RunWarning, StopReason } from './run-note.ts'
import { Program } from './run-program.ts'
import { refuseInstead } from './strict.ts'
import { turnLimits } from './turn-limits.ts'

const NEVER_STARTED: RunExit = { code: null, signal: null }

export interface PrintRunPorts {
  readonly host: Host
  readonly bind: (binding: Binding) => void
}

/** Runs one turn: one process, all its output, and one `finish`. */
export class PrintRun {
  readonly #context: PrintContext
  readonly #turn: Turn
  readonly #binding: Binding | null
  readonly #ports: PrintRunPorts
  readonly #queue = new EventQueue<MappedEvent>()
  readonly #log: RunLog
  readonly #done: Promise<void>
  /** Wakes the readers that wait for room. */
  readonly #heldBack = new Set<() => void>()
  #program: Program | undefined
  #isStopped = false
  #isOver = false
  #cwd: string | undefined
  #instructions: string | undefined
  #anchor: string | undefined
  #lookedUpSession: string | undefined
  #bound = ''
  #opening: Partial<RunHeader> = {}
  /** What the CLI is told of others' messages, until it is noted. */
  #handover: HandoverNote | undefined

  constructor(context: PrintContext, turn: Turn, binding: Binding | null, ports: PrintRunPorts) {
    this.#context = context
    this.#turn = turn
    this.#binding = binding
    this.#ports = ports
    this.#log = new RunLog(
      context.harness.dialect,
      () => ports.host.now(),
      (event) => this.#queue.push(event),
    )
    this.#done = this.#drive()
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
      this.#anchor = this.#context.harness.anchorOf?.(event) ?? this.#anchor
    }
    await this.#done
  }

  /** Ends the turn at any point. Resolves when no process of it is left. */
  async stop(reason: StopReason, error?: ErrorData): Promise<CancelReceipt> {
    // The consumer of the events may be the one that awaits this.
    this.#queue.unbound()
    if (!this.#isOver && !this.#isStopped) {
      this.#isStopped = true
      if (error !== undefined && this.#log.hasToldResult) this.#tellLingering()
      else this.#log.tell({ stop: { reason, ...(error === undefined ? {} : { error }) } })
    }
    this.#letThrough()
    if (!this.#isOver) await this.#program?.stop()
    await this.#done
    const receipt = this.#program?.receipt
    return {
      how: receipt?.how ?? 'gone',
      calls: this.#log.brokenOff,
      orphansKilled: receipt?.killed.filter(({ pid }) => pid !== this.#program?.pid).length ?? 0,
      queued: [],
    }
  }

  #tellLingering(): void {
    const { title } = this.#context.harness.profile
    this.#log.warn(`${title} did not end after it had told its result, and was ended.`, 'not-ended-by-itself')
    this.#log.tell({ stop: { reason: 'lingering' } })
  }

  /** Runs the turn from start to end. Never rejects: any error becomes the turn's failure. */
  async #drive(): Promise<void> {
    let dir: PrivateDir | undefined
    let exit = NEVER_STARTED
    try {
      const { host } = this.#ports
      await this.#log.record(recordedFor(host, this.#context.options.record?.(this.#turn)))
      dir = await makePrivateDir()
      exit = await this.#goOn(dir)
    } catch (error) {
      this.#fail(error)
    }
    this.#isOver = true
    this.#openLog()
    this.#countUnknown()
    this.#log.tell({ end: { exitCode: exit.code, signal: exit.signal } })
    await this.#tidyUp(dir)
    this.#queue.end()
  }

  #fail(error: unknown): void {
    this.#isStopped = true
    this.#log.tell({ stop: { reason: 'failed', error: toFailure(error) } })
  }

  /** Runs the CLI. If the session to resume is lost, runs it once more with a new session. */
  async #goOn(dir: PrivateDir): Promise<RunExit> {
    const { capabilities } = this.#context.harness
    const session = await chooseSession(this.#binding, capabilities, (query) => this.#ports.host.history(query))
    const { exit, complaint } = await this.#attempt(dir, session)
    if (complaint === undefined) return exit
    this.#log.forget()
    this.#program = undefined
    const because = `its session could not be resumed (${complaint})`
    return (await this.#attempt(dir, { kind: 'new', id: randomUUID(), because })).exit
  }

  /** Runs the CLI once. With a `complaint` the session is lost and nothing was logged. */
  async #attempt(
    dir: PrivateDir,
    session: NativeSession,
  ): Promise<{ readonly exit: RunExit; readonly complaint?: string }> {
    this.#lookedUpSession = undefined
    const request = await this.#request(dir.path, session)
    const plan = await this.#plan(request)
    const { lostSession } = this.#context.harness
    const trial = session.kind === 'new' || lostSession === undefined ? undefined : new ResumeTrial(lostSession)
    if (trial === undefined) this.#openLog()
    await dir.write(plan.files ?? [])
    if (this.#isStopped) return { exit: NEVER_STARTED }
    const exit = await this.#runProgram(request, plan, trial)
    const complaint = this.#isStopped || this.#log.isOpen ? undefined : trial?.complaint(exit)
    return { exit, ...(complaint === undefined ? {} : { complaint }) }
  }

  async #tidyUp(dir: PrivateDir | undefined): Promise<void> {
    try {
      await this.#log.close()
      await dir?.remove()
    } catch (error) {
      this.#ports.host.log('warn', `What a turn needed could not be put away: ${toFailure(error).message}`)
    }
  }

  async #request(dir: string, session: NativeSession): Promise<LaunchRequest> {
    const { host } = this.#ports
    const request = requestOf(this.#turn, this.#context.options, this.#context.harness)
    this.#cwd = request.cwd
    this.#instructions = instructionsHash(request.instructions)
    const history: Host['history'] = (query) => host.history(query)
    const handover = await handoverText(history, session, this.#binding, this.#turn, host.handover)
    this.#handover = undefined
    let { input } = request
    if (handover !== undefined) {
      const { text, messages, omitted, tokens, isTruncated } = handover
      input = [{ id: 'handover', type: 'text', text }, ...input]
      this.#handover = { messages, tokens, truncated: isTruncated, omitted }
    }
    const hasNewInstructions = session.kind !== 'new' && this.#binding?.extra?.['instructions'] !== this.#instructions
    return { ...request, input, session, hasNewInstructions, dir }
  }

  async #plan(request: LaunchRequest): Promise<LaunchPlan> {
    const { harness, options, env } = this.#context
    const { session } = request
    const plan = harness.launch(request)
    const { key, title } = harness.profile
    refuseUnstartable(plan, title)
    const keyIsThere = await hasKey(harness.profile, { ...env, ...plan.env })
    this.#opening = {
      ...(plan.sessionId === undefined ? {} : { sessionId: plan.sessionId }),
      ...(session.kind === 'new' ? {} : { usageBaseline: this.#binding?.usageTotal ?? 'unknown' }),
      ...(keyIsThere ? {} : { failureHint: `No key for ${title} was found. ${key.hint}` }),
    }
    this.#anchor = session.kind === 'new' ? undefined : session.anchor
    const warnings: readonly RunWarning[] = [...newSession(session, title), ...(plan.warnings ?? [])]
    if (options.strict === true) refuseInstead(warnings)
    for (const { message, code } of warnings) this.#log.warn(message, code)
    return plan
  }

  /** Opens the log: from here on the turn is about this attempt. */
  #openLog(): void {
    if (this.#log.isOpen) return
    const { cli, harness } = this.#context
    this.#log.open({
      harness: harness.dialect.id,
      ...(cli.version === undefined ? {} : { version: cli.version }),
      ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }),
      ...this.#opening,
    })
    this.#noteHandover()
  }

  /** Notes the hand-over once, and only if the CLI was started and its attempt counts. */
  #noteHandover(): void {
    if (this.#handover === undefined || this.#program === undefined || !this.#log.isOpen) return
    this.#ports.host.noteHandover(this.#handover)
    this.#handover = undefined
  }

  async #runProgram(request: LaunchRequest, plan: LaunchPlan, trial: ResumeTrial | undefined): Promise<RunExit> {
    const { harness, cli } = this.#context
    const { host } = this.#ports
    const env = { ...this.#context.env, ...plan.env }
    const program = await Program.start({
      command: cli.path,
      args: plan.args,
      cwd: request.cwd,
      env,
      ...(plan.stdin === undefined ? {} : { input: plan.stdin }),
      ...this.#limits(),
      stopWay: harness.profile.stop,
      log: {
        lines: (stream, lines) => {
          const written = this.#log.lines(stream, lines)
          if (trial === undefined || this.#log.isOpen) return written
          if (lines.some((line) => trial.hears(stream, line.text))) this.#openLog()
          return written
        },
        warn: (message, code) => this.#log.warn(message, code),
      },
      room: () => this.#room(),
      noteProcess: (note) => host.noteProcess(note),
      onSilenced: () =>
        void this.stop(
          'stalled',
          failure('output-closed', `${harness.profile.title} has closed its output without ending and was stopped.`),
        ),
    })
    this.#program = program
    this.#noteHandover()
    if (this.#isStopped) void program.stop()
    try {
      const exit = await program.whenOver()
      if (!this.#isStopped) this.#lookedUpSession = await this.#lookUp({ cli, request, env })
      return exit
    } catch (error) {
      this.#isStopped = true
      this.#letThrough()
      await program.stop()
      throw error
    }
  }

  /** Resolves when more may be read. Resolves at once when the turn is stopped: the remaining output has to be read. */
  #room(): Promise<void> | undefined {
    if (this.#queue.isFull) return this.#queue.room().then(() => this.#room())
    const room = this.#isStopped ? undefined : this.#context.options.room?.()
    if (room === undefined) return undefined
    return new Promise((goOn) => {
      const wake = (): void => {
        this.#heldBack.delete(wake)
        goOn()
      }
      this.#heldBack.add(wake)
      room.then(wake, wake)
    })
  }

  #letThrough(): void {
    for (const wake of this.#heldBack) wake()
  }

  /** Looks up the session's id. If that fails the session is not resumed later, but the turn does not fail. */
  async #lookUp(ended: EndedRun): Promise<string | undefined> {
    const { harness } = this.#context
    try {
      return await harness.sessionOf?.(ended)
    } catch (error) {
      const { message } = toFailure(error)
      this.#log.warn(`The session of ${harness.profile.title} could not be looked up: ${message}`, 'session-look-up')
      return undefined
    }
  }

  #limits(): Pick<SpawnRunOptions, 'deadlineMs' | 'onDeadline' | 'stallMs' | 'onStall'> {
    const { options, harness } = this.#context
    const { deadlineMs, stallMs, late, silence } = turnLimits(harness.profile.title, options)
    const onDeadline = (): void => void this.stop('deadline', late)
    const onStall = ({ silentMs }: { silentMs: number }): void => {
      if (this.#isStopped) return
      const { warning, failure: stalled } = silence(silentMs)
      this.#openLog()
      this.#log.warn(warning, 'stall')
      if (stalled !== undefined) void this.stop('stalled', stalled)
    }
    return {
      ...(deadlineMs === null ? {} : { deadlineMs, onDeadline }),
      ...(stallMs === null ? {} : { stallMs, onStall }),
    }
  }

  /** Warns how much of an untested version's output was not understood. */
  #countUnknown(): void {
    const { cli, harness } = this.#context
    const sums = this.#log.mapper?.ledger.sums()
    if (this.#program === undefined || sums === undefined) return
    for (const { message, code } of untestedVersion(harness.profile, cli, sums)) this.#log.warn(message, code)
  }

  #bind(isFinal: boolean): void {
    const { id, cli } = this.#context
    const mapper = this.#log.mapper
    const nativeId = mapper?.sessionId ?? this.#lookedUpSession
    if (nativeId === undefined) return
    const facts = {
      agentId: id,
      nativeId,
      version: cli.version,
      cwd: this.#cwd,
      anchor: this.#anchor,
      usageTotal: isFinal ? mapper?.usage.totals : undefined,
      isSettled: isFinal && !this.#isStopped,
      instructions: this.#instructions,
    }
    const binding = bindingOf(facts, this.#binding)
    const text = JSON.stringify(binding)
    if (text === this.#bound) return
    this.#bound = text
    this.#ports.bind(binding)
  }
}
