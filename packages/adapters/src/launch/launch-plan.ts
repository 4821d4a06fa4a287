import { NO_RULES, type MCPConfiguration, type Part, type PermissionRules, type Turn } from '@evener/protocol'
import type { NativeSession } from './native-session.ts'
import type { PermissionLevel } from './permissions.ts'
import type { PrivateFile } from './private-dir.ts'
import type { RunWarning } from './run-note.ts'

/** One turn, as the program has to be told it. */
export interface LaunchRequest {
  readonly input: readonly Part[]
  readonly session: NativeSession
  readonly cwd: string
  readonly model?: string
  readonly instructions?: string
  /** The session was begun with other instructions, or without any. */
  readonly hasNewInstructions: boolean
  readonly maxSteps?: number
  readonly rules: PermissionRules
  readonly permissions: PermissionLevel
  /** Rules that cannot be kept are a warning and no refusal. */
  readonly allowUngoverned: boolean
  /** What cannot be done is a refusal and no warning. */
  readonly strict?: boolean
  readonly mcp: MCPConfiguration
  /** A private directory that lasts as long as the turn; `files` of the plan are written into it. */
  readonly dir: string
}

/** What an agent's options say of every turn. */
export interface StandingRequest {
  readonly cwd?: string
  readonly model?: string
  readonly permissions?: PermissionLevel
  readonly allowUngoverned?: boolean
  readonly strict?: boolean
  readonly mcp?: MCPConfiguration
}

/** The turn as it is asked for, whatever session it goes on with. What it says counts before the options. */
export function requestOf(
  turn: Turn,
  options: StandingRequest,
): Omit<LaunchRequest, 'session' | 'hasNewInstructions' | 'dir'> {
  const { input, instructions, maxSteps, rules = NO_RULES } = turn
  const model = turn.model ?? options.model
  return {
    input,
    cwd: turn.cwd ?? options.cwd ?? process.cwd(),
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    rules,
    permissions: options.permissions ?? 'edit',
    allowUngoverned: options.allowUngoverned ?? false,
    strict: options.strict ?? false,
    mcp: options.mcp ?? {},
  }
}

/** How the program is started. */
export interface LaunchPlan {
  readonly args: readonly string[]
  /** Added to the environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What it reads, then end of file. Absent: end of file at once. */
  readonly stdin?: string
  readonly files?: readonly PrivateFile[]
  /** The session's id, when the launch decides it and the program does not tell. */
  readonly sessionId?: string
  readonly warnings?: readonly RunWarning[]
}
