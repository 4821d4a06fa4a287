import { InspanError, NO_RULES, type Part, type PermissionRules } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import {
  checkEffort,
  type Capabilities,
  type Effort,
  type ToolServer,
  type Turn,
  type TurnOutput,
} from '@inspan/protocol/driver'
import type { SessionChoice } from './native-session.ts'
import type { PermissionLevel } from './permissions.ts'
import type { PrivateFile } from './private-dir.ts'
import type { CliProfile } from './profile.ts'
import type { RunWarning } from './run-note.ts'

/** One turn, with everything the launch of a CLI depends on. */
export interface LaunchRequest {
  readonly input: readonly Part[]
  readonly session: SessionChoice
  readonly cwd: string
  readonly model?: string
  /** One of the levels among the capabilities. */
  readonly effort?: Effort
  /** The answer has to be data that fits this schema. */
  readonly output?: TurnOutput
  readonly instructions?: string
  /** The native session was begun with other instructions, or with none. */
  readonly hasNewInstructions: boolean
  readonly maxSteps?: number
  readonly rules: PermissionRules
  readonly permissions: PermissionLevel
  /** Rules that the CLI cannot keep cause a warning instead of an error. */
  readonly allowUngoverned: boolean
  /** What the CLI cannot do causes an error instead of a warning. */
  readonly strict?: boolean
  readonly mcp: MCPConfiguration
  /** Serves our own tools. All its calls are allowed: we judge them when they are made. */
  readonly toolServer?: ToolServer
  /** A private directory that exists as long as the turn. The `files` of the plan are written into it. */
  readonly dir: string
}

/** The options of an agent that apply to every turn. */
export interface StandingRequest {
  readonly cwd?: string
  readonly model?: string
  readonly permissions?: PermissionLevel
  readonly allowUngoverned?: boolean
  readonly strict?: boolean
  readonly mcp?: MCPConfiguration
}

/** What a turn is asked of. */
export interface AskedCli {
  readonly profile: Pick<CliProfile, 'title'>
  readonly capabilities: Pick<Capabilities, 'effort' | 'output'>
}

/**
 * Returns the request for a turn, without its session. What the turn says takes precedence over the options. Throws
 * `unsupported` for what the CLI has no way to be told.
 */
export function requestOf(
  turn: Turn,
  options: StandingRequest,
  { profile, capabilities }: AskedCli,
): Omit<LaunchRequest, 'session' | 'hasNewInstructions' | 'dir'> {
  const { input, effort, instructions, maxSteps, output, rules = NO_RULES } = turn
  if (effort !== undefined) checkEffort(profile.title, effort, capabilities.effort)
  if (output !== undefined && !capabilities.output) {
    throw new InspanError('unsupported', `${profile.title} cannot be asked for an answer that fits a schema.`, {
      hint: 'Leave `output` out, or choose an agent that takes it: your own, Claude Code or Codex.',
    })
  }
  const model = turn.model ?? options.model
  return {
    input,
    cwd: turn.cwd ?? options.cwd ?? process.cwd(),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(output === undefined ? {} : { output }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    rules,
    permissions: options.permissions ?? 'edit',
    allowUngoverned: options.allowUngoverned ?? false,
    strict: options.strict ?? false,
    mcp: options.mcp ?? {},
    ...(turn.toolServer === undefined ? {} : { toolServer: turn.toolServer }),
  }
}

/** How to start the CLI for a turn. */
export interface LaunchPlan {
  readonly args: readonly string[]
  /** Added to the environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Written to standard input, which is then closed. Absent: standard input is closed at once. */
  readonly stdin?: string
  readonly files?: readonly PrivateFile[]
  /** The native session's id, if the launch chooses it and the CLI does not print it. */
  readonly sessionId?: string
  readonly warnings?: readonly RunWarning[]
}
