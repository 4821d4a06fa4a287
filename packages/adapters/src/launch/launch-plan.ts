import type { MCPConfiguration, Part, PermissionRules } from '@evener/protocol'
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
