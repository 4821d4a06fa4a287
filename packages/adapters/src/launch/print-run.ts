import { randomUUID } from 'node:crypto'
import type { AgentEvent, ErrorData } from '@inspan/protocol'
import type { Binding, HandoverNote, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import type { RunExit } from '@inspan/shell/run'
import { CliTurn } from './cli-turn.ts'
import { hasKey } from './find-cli.ts'
import { handoverText } from './handover-text.ts'
import { requestOf, type LaunchPlan, type LaunchRequest } from './launch-plan.ts'
import { chooseSession, instructionsHash, newSession, type SessionChoice } from './native-session.ts'
import type { EndedRun, PrintContext } from './print-driver.ts'
import { refuseUnstartable } from './plan-limits.ts'
import { makePrivateDir, type PrivateDir } from './private-dir.ts'
import { ResumeTrial } from './resume-trial.ts'
import { failure, toFailure } from './run-failure.ts'
import type { RunHeader, RunWarning, StopReason } from './run-note.ts'
import { Program } from './run-program.ts'
import { refuseInstead } from './strict.ts'

const NEVER_STARTED: RunExit = { code: null, signal: null }

export interface PrintRunPorts {
  readonly host: Host
  readonly bind: (binding: Binding) => void
}

/** Runs one turn with a process of its own. */
export class PrintRun {
  readonly #context: PrintContext
  readonly #binding: Binding | null
  readonly #host: Host
  readonly #turn: CliTurn
  readonly #done: Promise<void>
  /** Wakes the readers that wait for room. */
  readonly #heldBack = new Set<() => void>()
  readonly #stopped = new AbortController()
  #program: Program | undefined
  #isOver = false
  /** What is known of the session before the CLI has printed anything. */
  #opening: Partial<RunHeader> = {}
  #anchor: string | undefined
  /** What the CLI gets of others' messages, until it is noted. */
  #handover: HandoverNote | undefined

  constructor(context: PrintContext, turn: Turn, binding: Binding | null, ports: PrintRunPorts) {
    this.#context = context
    this.#binding = binding
    this.#host = ports.host
    this.#turn = new CliTurn(context, turn, binding, {
      ...ports,
      stop: (reason, error) => void this.stop(reason, error),
      onSilence: () => this.#openLog(),
    })
    this.#done = this.#drive()
  }

  async *events(): AsyncGenerator<AgentEvent, void, undefined> {
    yield* this.#turn.events()
    await this.#done
  }

  /** Ends the turn at any point. Resolves when no process of it is left. */
  async stop(reason: StopReason, error?: ErrorData): Promise<CancelReceipt> {
    const turn = this.#turn
    if (error !== undefined && turn.hasReportedResult(reason) && !turn.isStopped && !this.#isOver) {
      const { title } = this.#context.spec.profile
      turn.warn(`${title} did not end after it had told its result, and was ended.`, 'not-ended-by-itself')
      turn.stop('lingering')
    } else turn.stop(reason, error)
    this.#stopped.abort()
    this.#letThrough()
    if (!this.#isOver) await this.#program?.stop()
    await this.#done
    const receipt = this.#program?.receipt
    return {
      how: receipt?.how ?? 'gone',
      calls: turn.brokenOff,
      orphansKilled: receipt?.killed.filter(({ pid }) => pid !== this.#program?.pid).length ?? 0,
      queued: [],
    }
  }

  /** Runs the turn from start to end. Never rejects: any error becomes the turn's failure. */
  async #drive(): Promise<void> {
    let dir: PrivateDir | undefined
    let exit = NEVER_STARTED
    try {
      await this.#turn.record()
      dir = await makePrivateDir()
      exit = await this.#goOn(dir)
    } catch (error) {
      this.#turn.stop('failed', toFailure(error))
    }
    this.#isOver = true
    this.#turn.close()
    this.#openLog()
    await dir?.remove().catch((error: unknown) => {
      this.#host.log('warn', `What a turn needed could not be put away: ${toFailure(error).message}`)
    })
    await this.#turn.finish(exit)
  }

  /** Runs the CLI. If the session to resume is lost, runs it once more with a new session. */
  async #goOn(dir: PrivateDir): Promise<RunExit> {
    const { capabilities } = this.#context.spec
    const session = await chooseSession(this.#binding, capabilities, (query) => this.#host.history(query))
    const { exit, complaint } = await this.#attempt(dir, session, await this.#place(session, dir.path))
    if (complaint === undefined) return exit
    this.#turn.forget()
    this.#program = undefined
    const because = `its session could not be resumed (${complaint})`
    const anew: SessionChoice = { kind: 'new', id: randomUUID(), because }
    return (await this.#attempt(dir, anew, anew)).exit
  }

  async #place(session: SessionChoice, dir: string): Promise<SessionChoice> {
    const { spec, options, cli, env } = this.#context
    if (session.kind === 'new' || spec.place === undefined) return session
    const { rules, permissions, allowUngoverned, mcp, cwd } = requestOf(this.#turn.turn, options, spec)
    const limits = { rules, permissions, allowUngoverned, mcp }
    const placed = await spec.place({ session, limits, cli, env, cwd, dir, signal: this.#stopped.signal })
    const { anchor } = session
    return placed.kind === 'resume' && anchor !== undefined ? { anchor, ...placed } : placed
  }

  /**
   * Runs the CLI once. `session` is the native session that our log knows, `placed` the one to launch with. With a
   * `complaint` the session is lost and nothing was logged.
   */
  async #attempt(
    dir: PrivateDir,
    session: SessionChoice,
    placed: SessionChoice,
  ): Promise<{ readonly exit: RunExit; readonly complaint?: string }> {
    const request = await this.#request(dir.path, session, placed)
    const plan = await this.#plan(request)
    const { lostSession } = this.#context.spec
    const trial = placed.kind === 'new' || lostSession === undefined ? undefined : new ResumeTrial(lostSession)
    if (trial === undefined) this.#openLog()
    await dir.write(plan.files ?? [])
    if (this.#turn.isStopped) return { exit: NEVER_STARTED }
    const exit = await this.#runProgram(request, plan, trial)
    const complaint = this.#turn.isStopped || this.#turn.isOpen ? undefined : trial?.complaint(exit)
    return { exit, ...(complaint === undefined ? {} : { complaint }) }
  }

  async #request(dir: string, session: SessionChoice, placed: SessionChoice): Promise<LaunchRequest> {
    const host = this.#host
    const request = requestOf(this.#turn.turn, this.#context.options, this.#context.spec)
    this.#opening = { cwd: request.cwd }
    const history: Host['history'] = (query) => host.history(query)
    const known = placed.kind === 'new' ? placed : session
    const handover = await handoverText(history, known, this.#binding, this.#turn.turn, host.handover)
    this.#handover = undefined
    let { input } = request
    if (handover !== undefined) {
      const { text, messages, omitted, tokens, isTruncated } = handover
      input = [{ id: 'handover', type: 'text', text }, ...input]
      this.#handover = { messages, tokens, truncated: isTruncated, omitted }
    }
    const hasNewInstructions =
      placed.kind !== 'new' && this.#binding?.extra?.['instructions'] !== instructionsHash(request.instructions)
    return { ...request, input, session: placed, hasNewInstructions, dir }
  }

  async #plan(request: LaunchRequest): Promise<LaunchPlan> {
    const { spec, options, env } = this.#context
    const { session } = request
    const plan = spec.launch(request)
    const { key, title } = spec.profile
    refuseUnstartable(plan, title)
    const keyIsThere = await hasKey(spec.profile, { ...env, ...plan.env })
    this.#opening = {
      cwd: request.cwd,
      ...(plan.sessionId === undefined ? {} : { sessionId: plan.sessionId }),
      ...(session.kind === 'new' ? {} : { usageBaseline: this.#binding?.usageTotal ?? 'unknown' }),
      ...(keyIsThere ? {} : { failureHint: `No key for ${title} was found. ${key.hint}` }),
    }
    this.#anchor = session.kind === 'new' ? undefined : session.anchor
    const warnings: readonly RunWarning[] = [...newSession(session, title), ...(plan.warnings ?? [])]
    if (options.strict === true) refuseInstead(warnings)
    for (const { message, code } of warnings) this.#turn.warn(message, code)
    return plan
  }

  /** Opens the log: from here on the turn is about this attempt. */
  #openLog(): void {
    if (this.#turn.isOpen) return
    const { cli, spec } = this.#context
    const version = cli.version === undefined ? {} : { version: cli.version }
    this.#turn.open({ harness: spec.dialect.id, ...version, ...this.#opening }, this.#anchor)
    this.#noteHandover()
  }

  /** Notes the hand-over once, and only if the CLI was started and its attempt counts. */
  #noteHandover(): void {
    if (this.#handover === undefined || this.#program === undefined || !this.#turn.isOpen) return
    this.#host.noteHandover(this.#handover)
    this.#handover = undefined
  }

  async #runProgram(request: LaunchRequest, plan: LaunchPlan, trial: ResumeTrial | undefined): Promise<RunExit> {
    const { spec, cli } = this.#context
    const env = { ...this.#context.env, ...plan.env }
    const program = await Program.start({
      command: cli.path,
      args: plan.args,
      cwd: request.cwd,
      env,
      ...(plan.stdin === undefined ? {} : { input: plan.stdin }),
      stopWay: spec.profile.stop,
      log: {
        lines: (stream, lines) => {
          const written = this.#turn.lines(stream, lines)
          if (trial === undefined || this.#turn.isOpen) return written
          if (lines.some((line) => trial.hears(stream, line.text))) this.#openLog()
          return written
        },
        warn: (message, code) => this.#turn.warn(message, code),
      },
      room: () => this.#room(),
      noteProcess: (note) => this.#host.noteProcess(note),
      onSilenced: () =>
        void this.stop(
          'stalled',
          failure('output-closed', `${spec.profile.title} has closed its output without ending and was stopped.`),
        ),
    })
    this.#program = program
    this.#noteHandover()
    if (this.#turn.isStopped) void program.stop()
    try {
      const exit = await program.whenOver()
      if (!this.#turn.isStopped) this.#turn.nativeId = await this.#lookUp({ cli, request, env })
      return exit
    } catch (error) {
      this.#turn.stop('failed', toFailure(error))
      this.#letThrough()
      await program.stop()
      throw error
    }
  }

  /** Resolves when more may be read. Resolves at once when the turn is stopped: the remaining output has to be read. */
  #room(): Promise<void> | undefined {
    const free = this.#turn.room()
    if (free !== undefined) return free.then(() => this.#room())
    const room = this.#turn.isStopped ? undefined : this.#context.options.room?.()
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
    const { spec } = this.#context
    try {
      return await spec.sessionOf?.(ended)
    } catch (error) {
      const { message } = toFailure(error)
      this.#turn.warn(`The session of ${spec.profile.title} could not be looked up: ${message}`, 'session-look-up')
      return undefined
    }
  }
}
