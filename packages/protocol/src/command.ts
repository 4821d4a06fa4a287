import type { JsonValue } from './json.ts'
import type { GrantScope, ToolCategory } from './permission.ts'
import type { WaitDecision } from './wait.ts'

/** What the sender saw when it sent the command. A command whose expectation no longer holds is rejected. */
export interface Expectation {
  /** The run in progress; `null` when there was none. */
  readonly runId?: string | null
  /** The newest message; `null` when there was none. */
  readonly headMessageId?: string | null
}

/** Optional fields of every command. A command without an id is carried out at most once. */
export interface CommandBase {
  /** A UUIDv7 made by the sender. A command sent again with the same id and body is not carried out again. */
  readonly id?: string
  /** The thread the command is meant for. Set when the command is made, never guessed when it arrives. */
  readonly thread?: string
  readonly expect?: Expectation
}

export interface CommandAttachment {
  readonly mimeType: string
  /** Base64 without a `data:` prefix. */
  readonly data: string
  readonly fileName?: string
}

/** Continues the thread with a prompt. */
export interface SubmitCommand extends CommandBase {
  readonly type: 'submit'
  readonly prompt: string
  readonly attachments?: readonly CommandAttachment[]
}

/** Ends the run. Queued items stay, held until the next user act. */
export interface CancelCommand extends CommandBase {
  readonly type: 'cancel'
}

/** Says something to the running agent. Never answers a wait. */
export interface SteerCommand extends CommandBase {
  readonly type: 'steer'
  readonly message: string
}

/** Continues the thread with a prompt once the run is over; at once when there is none. */
export interface FollowUpCommand extends CommandBase {
  readonly type: 'follow-up'
  readonly message: string
  readonly attachments?: readonly CommandAttachment[]
}

/** Changes the text of a queued message, which keeps its place. */
export interface EditQueuedCommand extends CommandBase {
  readonly type: 'queue-edit'
  readonly itemId: string
  readonly message: string
}

/** Moves a queued message before another one; to the end when `before` is `null`. */
export interface MoveQueuedCommand extends CommandBase {
  readonly type: 'queue-move'
  readonly itemId: string
  readonly before: string | null
}

export interface RemoveQueuedCommand extends CommandBase {
  readonly type: 'queue-remove'
  readonly itemId: string
}

/** Answers any wait. `approve` and `deny` are the same for approvals. */
export interface AnswerCommand extends CommandBase {
  readonly type: 'answer'
  readonly waitId: string
  readonly decision: WaitDecision
  readonly value?: JsonValue
  readonly reason?: string
  readonly remember?: 'tool' | 'category'
  /** Where that is remembered. Default: in the thread. */
  readonly scope?: GrantScope
}

export interface ApproveCommand extends CommandBase {
  readonly type: 'approve'
  /** The id from `pendingApprovals`. */
  readonly toolCallId: string
  /** The answer to a question, plan or request; a plain approval has none. */
  readonly answer?: JsonValue
  /** Also allows later calls of this tool, or of its whole category. */
  readonly remember?: 'tool' | 'category'
  /** Where that is remembered. Default: in the thread. */
  readonly scope?: GrantScope
}

export interface DenyCommand extends CommandBase {
  readonly type: 'deny'
  readonly toolCallId: string
  readonly reason?: string
}

/** Opens a session, ours or a native one, and continues it. */
export interface ResumeCommand extends CommandBase {
  readonly type: 'resume'
  readonly prompt: string
  readonly sessionId: string
}

/** `default`: the rules decide. `acceptEdits`: edits are allowed. `fullAuto`: everything is. A deny beats all three. */
export type PermissionMode = 'default' | 'acceptEdits' | 'fullAuto'

export type WireEffort = 'low' | 'medium' | 'high' | 'max'

export interface RuntimeConfig {
  readonly permissionMode?: PermissionMode
  readonly maxTurns?: number
  readonly model?: string
  readonly systemPrompt?: string
  readonly effort?: WireEffort
  /** One of the harness's modes. */
  readonly mode?: string
  /** The agent that takes the next turn. */
  readonly agent?: string
}

export interface ConfigureCommand extends CommandBase {
  readonly type: 'configure'
  readonly config: RuntimeConfig
}

export interface ModeCommand extends CommandBase {
  readonly type: 'mode'
  readonly mode: string
}

export interface ModelCommand extends CommandBase {
  readonly type: 'model'
  readonly model: string
}

/** Starts a thread of its own that shares the conversation so far. */
export interface ForkCommand extends CommandBase {
  readonly type: 'fork'
  /** The last message that the fork shares. Default: everything before the run in progress. */
  readonly messageId?: string
  readonly title?: string
  /** The fork works in a git worktree of its own, where the server offers that. */
  readonly worktree?: boolean
}

export interface RenameCommand extends CommandBase {
  readonly type: 'rename'
  readonly title: string
}

/** Ends the run and deletes the thread. */
export interface DeleteCommand extends CommandBase {
  readonly type: 'delete'
}

/** Takes back an "always": that of a tool, of a category, or all of them. */
export interface RevokeCommand extends CommandBase {
  readonly type: 'revoke'
  readonly tool?: string
  readonly category?: ToolCategory
  /** Default: those of the thread. */
  readonly scope?: GrantScope
}

/**
 * Restores the state before a message: that of the files, of the conversation, or of both. Nothing is erased.
 */
export interface RewindCommand extends CommandBase {
  readonly type: 'rewind'
  readonly messageId: string
  /** Only reports what would change. */
  readonly dryRun?: boolean
  /** Default: `files`. */
  readonly scope?: 'files' | 'conversation' | 'both'
}

export type Command =
  | SubmitCommand
  | CancelCommand
  | SteerCommand
  | ApproveCommand
  | DenyCommand
  | ResumeCommand
  | ConfigureCommand
  | RewindCommand
  | FollowUpCommand
  | EditQueuedCommand
  | MoveQueuedCommand
  | RemoveQueuedCommand
  | AnswerCommand
  | ModeCommand
  | ModelCommand
  | ForkCommand
  | RenameCommand
  | DeleteCommand
  | RevokeCommand

export type CommandType = Command['type']

export const COMMAND_TYPES = [
  'submit',
  'cancel',
  'steer',
  'approve',
  'deny',
  'resume',
  'configure',
  'rewind',
  'follow-up',
  'queue-edit',
  'queue-move',
  'queue-remove',
  'answer',
  'mode',
  'model',
  'fork',
  'rename',
  'delete',
  'revoke',
] as const
