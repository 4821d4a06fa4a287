import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Binding, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import { cliFinder } from './cli-finder.ts'
import type { Environment, FoundCli } from './find-cli.ts'
import { requestOf, type LaunchRequest } from './launch-plan.ts'
import { chooseSession, newSession, type NativeSession } from './native-session.ts'
import { assertTakesTurn, NOTHING_RAN } from './one-turn.ts'
import { printDriver, PrintSession, type PrintContext, type PrintHarness, type PrintOptions } from './print-driver.ts'
import { makePrivateDir, type PrivateDir } from './private-dir.ts'

/** A native session that a turn is about to continue, and what is needed to inspect it. */
export interface PlaceRequest {
  readonly session: Exclude<NativeSession, { kind: 'new' }>
  readonly limits: Pick<LaunchRequest, 'rules' | 'permissions' | 'allowUngoverned' | 'mcp'>
  readonly cli: FoundCli
  readonly env: Environment
  readonly cwd: string
  /** A private directory that exists as long as the turn. */
  readonly dir: string
  /** Aborted when the turn is stopped. */
  readonly signal: AbortSignal
}

/** A CLI that has no command line option for where to resume: its session is moved there before the launch. */
export interface PlacedHarness extends PrintHarness {
  /** Returns the session for `launch` to continue: one that ends at the anchor, or a new one with the reason. */
  place(request: PlaceRequest): Promise<NativeSession>
}

/** Like `printDriver`, for CLIs whose native session has to be inspected or moved before a turn. */
export function placedDriver(harness: PlacedHarness, options: PrintOptions = {}): AgentDriver {
  const plain = printDriver(harness, options)
  const env: Environment = { ...process.env, ...options.env }
  const { find } = cliFinder(harness.profile, env, options.bin)
  return {
    port: 1,
    id: plain.id,
    describe: () => plain.describe(),
    open: async (binding, host) =>
      new PlacedSession({ id: plain.id, harness, options, env, cli: await find() }, binding, host),
  }
}

interface PlacedContext extends PrintContext {
  readonly harness: PlacedHarness
}

/** The running turn. It is stopped by `stop` until there is an inner session to cancel. */
interface Current {
  readonly stop: AbortController
  readonly over: Promise<void>
  inner?: AgentSession
}

class PlacedSession implements AgentSession {
  readonly #context: PlacedContext
  readonly #host: Host
  #binding: Binding | null
  #current: Current | undefined
  #isClosed = false

  constructor(context: PlacedContext, binding: Binding | null, host: Host) {
    this.#context = context
    this.#binding = binding
    this.#host = host
  }

  async *run(turn: Turn): AsyncGenerator<AgentEvent, void, undefined> {
    assertTakesTurn(this.#isClosed, this.#current)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const current: Current = { stop: new AbortController(), over }
    this.#current = current
    let dir: PrivateDir | undefined
    try {
      const signal = AbortSignal.any([this.#host.signal, current.stop.signal])
      const inner = await this.#place(turn, async () => (dir = await makePrivateDir()).path, signal)
      current.inner = inner
      try {
        yield* inner.run(turn)
      } finally {
        await inner.close()
      }
    } finally {
      await dir?.remove()
      this.#current = undefined
      end()
    }
  }

  async cancel(): Promise<CancelReceipt> {
    const current = this.#current
    if (current === undefined) return NOTHING_RAN
    if (current.inner !== undefined) return current.inner.cancel()
    current.stop.abort()
    await current.over
    return NOTHING_RAN
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.cancel()
  }

  /** Returns a session for this one turn, whose launch continues the placed native session. Never rejects. */
  async #place(turn: Turn, makeDir: () => Promise<string>, signal: AbortSignal): Promise<AgentSession> {
    const { harness, options, env, cli } = this.#context
    const binding = this.#binding
    let session: NativeSession
    let placed: NativeSession
    try {
      const { rules, permissions, allowUngoverned, mcp, cwd } = requestOf(turn, options, harness)
      session = await chooseSession(binding, harness.capabilities, (query) => this.#host.history(query))
      if (session.kind === 'new') return this.#open(harness, binding, signal)
      placed = await harness.place({
        session,
        limits: { rules, permissions, allowUngoverned, mcp },
        cli,
        env,
        cwd,
        dir: await makeDir(),
        signal,
      })
    } catch (error) {
      const fail = (): never => {
        throw error
      }
      return this.#open({ ...harness, launch: fail }, binding, signal)
    }
    if (placed.kind === 'new') return this.#open(anew(harness, placed), null, signal)
    const to = placed
    const { anchor } = session
    const launch = (request: LaunchRequest): ReturnType<PrintHarness['launch']> =>
      harness.launch(request.session.kind === 'new' ? request : { ...request, session: to })
    // The placed session has an anchor of its own for the message at the old anchor.
    const moved = (told: Binding): Binding =>
      told.anchor === anchor && to.anchor !== undefined ? { ...told, anchor: to.anchor } : told
    return this.#open({ ...harness, launch }, binding, signal, moved)
  }

  #open(
    harness: PrintHarness,
    binding: Binding | null,
    signal: AbortSignal,
    moved: (told: Binding) => Binding = (told) => told,
  ): AgentSession {
    const host = this.#host
    const bind = (told: Binding): void => {
      this.#binding = moved(told)
      host.bind(this.#binding)
    }
    return new PrintSession({ ...this.#context, harness }, binding, following(host, bind, signal))
  }
}

function anew(harness: PlacedHarness, session: Extract<NativeSession, { kind: 'new' }>): PrintHarness {
  const warnings = newSession(session, harness.profile.title)
  return {
    ...harness,
    launch: (request) => {
      const plan = harness.launch(request)
      return { ...plan, warnings: [...warnings, ...(plan.warnings ?? [])] }
    },
  }
}

/** Returns the same host with another `bind` and `signal`. */
function following(host: Host, bind: Host['bind'], signal: AbortSignal): Host {
  return Object.create(host, { bind: { value: bind }, signal: { value: signal } }) as Host
}
