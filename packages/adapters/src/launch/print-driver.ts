import type {
  AgentDriver,
  AgentEvent,
  AgentSession,
  Binding,
  CancelReceipt,
  Capabilities,
  Host,
  MCPConfiguration,
  Turn,
} from '@evener/protocol'
import type { MappedEvent } from '../kit/activity.ts'
import type { Dialect } from '../kit/mapper.ts'
import { checkDriverOptions } from './check-options.ts'
import { cliFinder } from './cli-finder.ts'
import type { Environment, FoundCli } from './find-cli.ts'
import type { LaunchPlan, LaunchRequest } from './launch-plan.ts'
import { assertTakesTurn, NOTHING_RAN } from './one-turn.ts'
import type { PermissionLevel } from './permissions.ts'
import { PrintRun } from './print-run.ts'
import type { CliProfile } from './profile.ts'
import type { RecordOptions } from './recording.ts'

/** What makes a program an agent that is started anew for every turn. */
export interface PrintHarness {
  readonly profile: CliProfile
  readonly dialect: Dialect
  /** True for the pinned version. */
  readonly capabilities: Capabilities
  /** Pure. Throws `policy-unsupported` for rules that the program cannot keep, `unsupported` for input it cannot take. */
  launch(request: LaunchRequest): LaunchPlan
  /** The place this event stands at, if a later turn can resume there. */
  anchorOf?(event: MappedEvent): string | undefined
  /**
   * How it says, before anything else, that the session or message to go on with is not there. A new session is begun then:
   * it may have been killed before it saved what it had printed.
   */
  readonly lostSession?: RegExp
  /** For programs that do not tell their session while they run: asked after the end. */
  sessionOf?(ended: EndedRun): Promise<string | undefined>
}

export interface EndedRun {
  readonly cli: FoundCli
  readonly request: LaunchRequest
  readonly env: Environment
}

export interface PrintOptions {
  /** The agent's id. Default: the harness id. */
  readonly id?: string
  /** The program's path. Default: the profile's variable, then PATH. */
  readonly bin?: string
  /** Added to our environment; `undefined` takes a variable away. */
  readonly env?: Environment
  /** Where it works when the turn does not say. Default: our directory. */
  readonly cwd?: string
  /** Its model when the turn does not say. Default: the program's own choice. */
  readonly model?: string
  /**
   * What it may do without being told so by a rule, as it cannot ask. Default `edit`. Live programs ask, and rules answer.
   * A level is then the sandbox of Codex, which asks to leave it, and the tools of Pi; others refuse one below `full`.
   */
  readonly permissions?: PermissionLevel
  /** Start even under rules that the program cannot keep. */
  readonly allowUngoverned?: boolean
  /**
   * Fail with `unsupported` or `policy-unsupported` where the program cannot do what is asked: go on with its session, ask
   * somebody, use a tool that a rule names, keep to a number of steps, be given instructions. Default: something else is
   * done, and a warning says what.
   */
  readonly strict?: boolean
  readonly mcp?: MCPConfiguration
  /** After this time the turn is ended as failed. Default 4 hours; `null`: never. */
  readonly deadlineMs?: number | null
  /** A silence of this length is a warning. Default 5 minutes; `null`: none is. */
  readonly stallMs?: number | null
  /** What follows a silence. Default `warn`. */
  readonly onStall?: 'warn' | 'abort'
  /** Settles when those who show what the program does can take more: until then no more of its output is read. */
  readonly room?: () => Promise<void> | undefined
  /** Where a turn is recorded, if it is. */
  readonly record?: (turn: Turn) => RecordOptions | undefined
}

/** A program that prints what it does, one process for each turn, as a driver. */
export function printDriver(harness: PrintHarness, options: PrintOptions = {}): AgentDriver {
  checkDriverOptions(harness.profile.title, options)
  const id = options.id ?? harness.profile.id
  const env: Environment = { ...process.env, ...options.env }
  const cliOf = cliFinder(harness.profile, env, options.bin)
  return {
    id,
    describe: () => cliOf.describe(harness.capabilities),
    open: async (binding, host) =>
      new PrintSession({ id, harness, options, env, cli: await cliOf.find() }, binding, host),
  }
}

/** What all turns of a session share. */
export interface PrintContext {
  readonly id: string
  readonly harness: PrintHarness
  readonly options: PrintOptions
  readonly env: Environment
  readonly cli: FoundCli
}

/** A session whose program was found already. */
export class PrintSession implements AgentSession {
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
