import { randomUUID } from 'node:crypto'
import type { JsonObject, StoredMessage } from '@inspan/protocol'
import type { Binding, Host } from '@inspan/protocol/driver'
import type { KillReceipt, Line } from '@inspan/shell/run'
import { cleanText } from '../kit/clean-text.ts'
import { recordOf, splitLine } from '../kit/json-line.ts'
import type { CliTurn } from '../launch/cli-turn.ts'
import { hasKey } from '../launch/find-cli.ts'
import { requestOf, type LaunchRequest } from '../launch/launch-plan.ts'
import { chooseSession, instructionsHash, newSession, type SessionChoice } from '../launch/native-session.ts'
import { refuseUnstartable } from '../launch/plan-limits.ts'
import { makePrivateDir } from '../launch/private-dir.ts'
import type { RunHeader, RunWarning } from '../launch/run-note.ts'
import { refuseInstead } from '../launch/strict.ts'
import type { LiveContext } from './live-driver.ts'
import type { LivePeer, LivePlan } from './live-cli-spec.ts'
import { LiveProcess } from './live-process.ts'

export interface Running {
  readonly process: LiveProcess
  readonly peer: LivePeer
  /** Turns with the same key can use the same process. */
  readonly key: string
}

export interface Ready {
  readonly running: Running
  readonly request: LaunchRequest
  readonly isFirst: boolean
  readonly opening: LaunchOpening
}

/** What is known of the turn before the CLI has printed anything. */
interface LaunchOpening {
  readonly header: RunHeader
  readonly anchor: string | undefined
  readonly warnings: readonly RunWarning[]
}

interface HeldLine {
  readonly stream: 'stdout' | 'stderr'
  readonly line: Line
  /** Parsed once, for the events, the limits and the protocol. */
  readonly record: JsonObject | undefined
}

/** Limit for output between turns, which is kept for the next turn. */
const MAX_HELD_BYTES = 16 * 1024 * 1024
const MAX_WORDS = 500
const NO_SESSION: SessionChoice = { kind: 'new', id: '' }

/** Keeps the process of a session, and replaces it if necessary. */
export class LiveLauncher {
  readonly #context: LiveContext
  readonly #host: Host
  #running: Running | undefined
  #ending: Promise<KillReceipt | undefined> = Promise.resolve(undefined)
  #turn: CliTurn | undefined
  /** The turn that has received all held lines: no new line may overtake those. */
  #hearing: CliTurn | undefined
  #between: HeldLine[] = []
  #heldBytes = 0
  /** Number of lines between turns that were not kept. */
  #missed = 0
  #onWord: (() => void) | undefined

  constructor(context: LiveContext, host: Host) {
    this.#context = context
    this.#host = host
  }

  get running(): Running | undefined {
    return this.#running
  }

  /** Resolves with the next line of standard output. */
  nextWord(): Promise<void> {
    return new Promise((resolve) => (this.#onWord = resolve))
  }

  /** Returns a process for the turn, whose output is held until the turn is opened. Rejects with why there is none. */
  async ready(live: CliTurn, binding: Binding | null): Promise<Ready> {
    const task = this.#request(live)
    const key = this.#keyOf(task)
    this.#turn = live
    const running = this.#running
    if (running !== undefined && running.key === key && !running.process.hasEnded) {
      const session: SessionChoice = { kind: 'resume', nativeId: binding?.nativeId ?? '' }
      const opening = await this.#opening(task, binding, session, {})
      return { running, request: { ...task, session }, isFirst: false, opening }
    }
    await this.end()
    const { capabilities } = this.#context.spec
    const session = await chooseSession(binding, capabilities, (query) => this.#placed(query))
    return this.#start(task, binding, session, key)
  }

  /** Returns another process with a new session, because the session to resume is lost. */
  async renew(live: CliTurn, why: string): Promise<Ready> {
    const said = this.#between.flatMap(({ stream, line }) => (stream === 'stderr' ? [line.text] : [])).join(' ')
    await this.end()
    this.#takeHeld()
    const task = this.#request(live)
    const words = cleanText(said === '' ? why : said)
      .trim()
      .slice(0, MAX_WORDS)
      .toWellFormed()
    const session: SessionChoice = {
      kind: 'new',
      id: randomUUID(),
      because: `its session could not be resumed (${words})`,
    }
    return this.#start(task, null, session, this.#keyOf(task))
  }

  /** Passes the held lines to the turn, and from here on all output. */
  open(live: CliTurn, { opening }: Ready): void {
    const { header, anchor, warnings } = opening
    live.open(header, anchor)
    for (const { message, code } of warnings) live.warn(message, code)
    const { held, missed } = this.#takeHeld()
    for (const { stream, line, record } of held) void live.lines(stream, [line], [record])
    if (missed > 0) {
      live.warn(`Between turns ${missed} lines more were said than are kept. What they tell is missing.`, 'not-kept')
    }
    this.#hearing = live
  }

  /** Ends the process, if there is one. Resolves when nothing of it is left, also if another call is ending it. */
  end(): Promise<KillReceipt | undefined> {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) this.#ending = endOf(running.process)
    return this.#ending
  }

  async #start(task: LaunchRequest, binding: Binding | null, session: SessionChoice, key: string): Promise<Ready> {
    const { spec, cli, env, id } = this.#context
    const dir = await makePrivateDir()
    try {
      const request: LaunchRequest = {
        ...task,
        session,
        dir: dir.path,
        hasNewInstructions:
          session.kind !== 'new' && binding?.extra?.['instructions'] !== instructionsHash(task.instructions),
      }
      const plan = spec.launch(request)
      refuseUnstartable(plan, spec.profile.title)
      await dir.write(plan.files ?? [])
      const opening = await this.#opening(request, binding, session, plan)
      let peer: LivePeer | undefined
      const process = await LiveProcess.start({
        command: cli.path,
        args: plan.args,
        cwd: request.cwd,
        env: { ...env, ...plan.env },
        dir,
        graceMs: spec.profile.stop.graceMs,
        onLine: (stream, line) => this.#line(peer, stream, line),
        onLeft: (names) => this.#turn?.warn(`What the program had left running was ended: ${names}.`, 'left-running'),
      })
      peer = spec.connect({ agentId: id, send: (message) => process.send(message) })
      const running: Running = { process, peer, key }
      this.#running = running
      void process.done.then(() => {
        running.peer.gone()
        if (this.#running === running) this.#running = undefined
      })
      return { running, request, isFirst: true, opening }
    } catch (error) {
      await dir.remove()
      throw error
    }
  }

  async #opening(
    request: LaunchRequest,
    binding: Binding | null,
    session: SessionChoice,
    { env: more, warnings = [] }: Partial<LivePlan>,
  ): Promise<LaunchOpening> {
    const { spec, env, options } = this.#context
    const { key, title } = spec.profile
    const keyIsThere = await hasKey(spec.profile, { ...env, ...more })
    const isResumed = session.kind === 'resume'
    const isNew = session.kind === 'new'
    const all = [...newSession(session, title), ...warnings]
    if (options.strict === true) refuseInstead(all)
    return {
      header: {
        ...headerOf(this.#context),
        cwd: request.cwd,
        ...(isResumed && session.nativeId !== '' ? { sessionId: session.nativeId } : {}),
        ...(isNew ? {} : { usageBaseline: (isResumed ? binding?.usageTotal : undefined) ?? 'unknown' }),
        ...(keyIsThere ? {} : { failureHint: `No key for ${title} was found. ${key.hint}` }),
      },
      anchor: isNew ? undefined : isResumed ? binding?.anchor : session.anchor,
      warnings: all,
    }
  }

  #line(peer: LivePeer | undefined, stream: 'stdout' | 'stderr', line: Line): Promise<void> | undefined {
    if (stream === 'stdout') this.#onWord?.()
    const live = this.#turn
    const isHearing = live === this.#hearing
    const said: HeldLine = { stream, line, record: stream === 'stdout' ? recordOf(line.text) : undefined }
    let held: Promise<void> | undefined
    if (isHearing && live?.isOver === false) held = heard(live, said, peer)
    else this.#hold(said, isHearing)
    if (stream === 'stdout' && peer !== undefined) for (const record of recordsOf(said)) this.#passTo(peer, record)
    return held
  }

  #hold(said: HeldLine, isBetweenTurns: boolean): void {
    if (isBetweenTurns && this.#heldBytes >= MAX_HELD_BYTES) {
      this.#missed += 1
      return
    }
    this.#heldBytes += said.line.rawLength
    this.#between.push(said)
  }

  #takeHeld(): { readonly held: readonly HeldLine[]; readonly missed: number } {
    const taken = { held: this.#between, missed: this.#missed }
    this.#between = []
    this.#heldBytes = 0
    this.#missed = 0
    return taken
  }

  /** A bug in a peer must not stop the stream. */
  #passTo(peer: LivePeer, record: JsonObject): void {
    try {
      peer.record(record)
    } catch (error) {
      this.#turn?.warn(`${this.#context.id} protocol: ${String(error)}`, 'protocol-fault')
    }
  }

  #request(live: CliTurn): LaunchRequest {
    return {
      ...requestOf(live.turn, this.#context.options, this.#context.spec),
      session: NO_SESSION,
      hasNewInstructions: false,
      dir: '',
    }
  }

  /** Returns what the process has to be started with, without what it can be told later. */
  #keyOf({ model: _model, ...request }: LaunchRequest): string {
    const { args, env, files } = this.#context.spec.launch(request)
    return JSON.stringify([args, env, files, request.cwd])
  }

  /** Returns the history with the anchors of this CLI as message ids, where `chooseSession` looks for them. */
  async *#placed(query: Parameters<Host['history']>[0]): AsyncGenerator<StoredMessage> {
    const { placeOf } = this.#context.spec
    for await (const message of this.#host.history(query)) {
      yield {
        ...message,
        ...placed(message, placeOf),
        parts: message.parts.map((part) => ({ ...part, ...placed(part, placeOf) })),
      }
    }
  }
}

/** Takes a line. While a request to the CLI is open its output is read, even if consumers of the events are slow. */
function heard(
  live: CliTurn,
  { line, record, stream }: HeldLine,
  peer: LivePeer | undefined,
): Promise<void> | undefined {
  const written = live.lines(stream, [line], [record])
  const room = peer?.isWaiting === true ? undefined : live.room()
  return room === undefined || written === undefined ? (room ?? written) : written.then(() => room)
}

function placed(
  { native }: Pick<StoredMessage, 'native'>,
  placeOf: LiveContext['spec']['placeOf'],
): Pick<StoredMessage, 'native'> {
  if (native === undefined) return {}
  const messageId = placeOf(native)
  const { messageId: _messageId, ...rest } = native
  return { native: messageId === undefined ? rest : { ...rest, messageId } }
}

async function endOf(process: LiveProcess): Promise<KillReceipt> {
  const receipt = await process.stop()
  await process.done
  return receipt
}

function recordsOf({ line, record }: HeldLine): readonly JsonObject[] {
  if (record !== undefined) return [record]
  return splitLine(line.text).flatMap((part) => (part.kind === 'record' ? [part.record] : []))
}

/** Returns the header that the recordings of all turns share. */
export function headerOf({ cli: { version }, spec }: LiveContext): RunHeader {
  return { harness: spec.dialect.id, ...(version === undefined ? {} : { version }) }
}
