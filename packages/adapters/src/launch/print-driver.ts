import type { AgentEvent } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import type { AgentDriver, AgentSession, Binding, Capabilities, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'
import type { MappedEvent } from '../kit/activity.ts'
import type { LimitReader } from './cli-turn.ts'
import type { Dialect } from '../kit/mapper.ts'
import { cliDriver, type CliContext, type CliSpec } from './cli-driver.ts'
import type { Environment, FoundCli } from './find-cli.ts'
import type { LaunchPlan, LaunchRequest } from './launch-plan.ts'
import type { SessionChoice } from './native-session.ts'
import { assertTakesTurn, NOTHING_RAN } from './one-turn.ts'
import type { PermissionLevel } from './permissions.ts'
import { PrintRun } from './print-run.ts'
import type { RecordOptions } from './recording.ts'

/** The least that a CLI can do in print mode. A driver adds what tests of its program have shown. */
export const PRINT_CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'none',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'kill',
  usage: 'none',
  redaction: 'record',
  images: false,
  mcp: false,
  subagents: false,
  systemPrompt: 'none',
  models: null,
  maxSteps: false,
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

/** Describes a CLI that is started anew for every turn. */
export interface PrintCliSpec extends CliSpec {
  readonly dialect: Dialect
  /**
   * Returns how to start the CLI. Pure. Throws `policy-unsupported` for rules that it cannot keep, `unsupported` for
   * input that it cannot take.
   */
  launch(request: LaunchRequest): LaunchPlan
  /** Returns the anchor of this event, if a later turn can resume there. */
  anchorOf?(event: MappedEvent): string | undefined
  /** Returns the usage limits that a line of the output reports. Called for every line: must be cheap. */
  readonly limits?: LimitReader
  /**
   * Matches what the CLI prints first if the session or message to resume at does not exist. We then begin a new
   * session. The CLI may have been killed before it saved what it had printed.
   */
  readonly lostSession?: RegExp
  /**
   * For CLIs that have no command line option for where to resume: moves the native session there before the launch.
   * Returns the session for `launch` to continue: one that ends at the anchor, or a new one with the reason.
   */
  place?(request: PlaceRequest): Promise<SessionChoice>
  /** Finds the session's id after the run, for CLIs that do not print it. */
  sessionOf?(ended: EndedRun): Promise<string | undefined>
}

/** A native session that a turn is about to continue, and what is needed to inspect it. */
export interface PlaceRequest {
  readonly session: Exclude<SessionChoice, { kind: 'new' }>
  readonly limits: Pick<LaunchRequest, 'rules' | 'permissions' | 'allowUngoverned' | 'mcp'>
  readonly cli: FoundCli
  readonly env: Environment
  readonly cwd: string
  /** A private directory that exists as long as the turn. */
  readonly dir: string
  /** Aborted when the turn is stopped. */
  readonly signal: AbortSignal
}

export interface EndedRun {
  readonly cli: FoundCli
  readonly request: LaunchRequest
  readonly env: Environment
}

export interface PrintOptions {
  /** The agent's id. Default: the id of the CLI, such as `codex`. */
  readonly id?: string
  /** Path of the executable. Default: the profile's `binVariable`, then PATH. */
  readonly bin?: string
  /** Added to the environment of this process; `undefined` removes a variable. */
  readonly env?: Environment
  /** Working directory if the turn has none. Default: that of this process. */
  readonly cwd?: string
  /** Model if the turn has none. Default: the CLI's own choice. */
  readonly model?: string
  /**
   * What the agent may do in print mode, where it cannot ask, if no rule decides. Default: `edit`. In live mode the CLI
   * asks before each call, and rules decide: a level below `full` is refused there, except by Pi, which cannot ask and
   * gets the tools of the level.
   */
  readonly permissions?: PermissionLevel
  /** Start even under rules that the CLI cannot keep. Default: false, which throws `policy-unsupported`. */
  readonly allowUngoverned?: boolean
  /**
   * Fail with `unsupported` or `policy-unsupported` if the CLI cannot do what is asked: resume its session, ask
   * somebody, use a tool that a rule names, keep to a number of steps, take instructions. Default: false, which does
   * something else and warns.
   */
  readonly strict?: boolean
  /** MCP servers for the agent, by name. */
  readonly mcp?: MCPConfiguration
  /** Milliseconds after which the turn fails. `null`: no limit. Default: 4 hours. */
  readonly deadlineMs?: number | null
  /** Milliseconds of silence after which there is a warning. `null`: no limit. Default: 5 minutes. */
  readonly stallMs?: number | null
  /** What happens after such a silence. Default: `warn`. */
  readonly onStall?: 'warn' | 'abort'
  /** Resolves when consumers of the events can take more. Until then no more output is read. */
  readonly room?: () => Promise<void> | undefined
  /** Returns where to record a turn, or `undefined` for no recording. */
  readonly record?: (turn: Turn) => RecordOptions | undefined
}

/** Makes a driver of a CLI that prints what it does, with one process per turn. */
export function printDriver(spec: PrintCliSpec, options: PrintOptions = {}): AgentDriver {
  return cliDriver(spec, options, (context, ...opened) => new PrintSession({ ...context, spec, options }, ...opened))
}

/** What all turns of a session share. */
export interface PrintContext extends CliContext {
  readonly spec: PrintCliSpec
  readonly options: PrintOptions
}

class PrintSession implements AgentSession {
  readonly #context: PrintContext
  readonly #host: Host
  #binding: Binding | null
  #run: PrintRun | undefined
  #isClosed = false

  constructor(context: PrintContext, binding: Binding | null, host: Host) {
    this.#context = context
    this.#binding = binding
    this.#host = host
  }

  async *run(turn: Turn): AsyncGenerator<AgentEvent, void, undefined> {
    assertTakesTurn(this.#isClosed, this.#run)
    const run = new PrintRun(this.#context, turn, this.#binding, {
      host: this.#host,
      bind: (binding) => {
        this.#binding = binding
        this.#host.bind(binding)
      },
    })
    this.#run = run
    const abort = (): void => void run.stop('cancelled')
    const { signal } = this.#host
    signal.addEventListener('abort', abort)
    try {
      if (signal.aborted) abort()
      yield* run.events()
    } finally {
      signal.removeEventListener('abort', abort)
      await run.stop('left')
      this.#run = undefined
    }
  }

  async cancel(): Promise<CancelReceipt> {
    return this.#run === undefined ? NOTHING_RAN : this.#run.stop('cancelled')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#run?.stop('cancelled')
  }
}
