import type { Budget, Effort } from './driver.ts'
import type { MCPConfiguration, McpToolAnnotations } from './mcp.ts'

/** A tool that the caller runs itself. */
export interface ToolDefinition {
  name: string
  description?: string
  /** JSON Schema. */
  inputSchema: Record<string, unknown>
  annotations?: McpToolAnnotations
}

/** A model's name in the catalogue, e.g. `anthropic/claude-sonnet-4-5`. */
export type ModelName = string

/** The limit a model sets for one kind of attachment. */
export interface FormatLimit {
  readonly mimeType: string
  /** Counts the decoded bytes. */
  readonly maxBytes: number
}

export interface SupportedFormats {
  readonly formats: readonly FormatLimit[]
  readonly maxFiles: number
}

/** A model as data, so that a model missing from the catalogue survives a restart too. */
export interface Model {
  readonly id: ModelName
  readonly provider: string
  /** The provider's name for the model. */
  readonly nativeId: string
  readonly contextWindow: number
  readonly maxOutputTokens?: number
  /** `null`: no attachments. */
  readonly supportedFormats: SupportedFormats | null
  readonly reasoning?: boolean
}

export interface AgentConfig {
  /** The credentials to use; falls back to the project's, then the user's own. */
  profile?: string
  /** An older name of `profile`. */
  orgAlias?: string
  modelId?: ModelName | Model
  name?: string
  description?: string
  /** The system prompt. */
  instructions?: string
  /** Tools that the caller runs. */
  tools?: ToolDefinition[]
  mcpServers?: MCPConfiguration
  /** Skill folders, or folders that contain skill folders. Relative paths start at the project's root. */
  skills?: string[]
  /** Markdown files, or folders of Markdown files. Their text goes into the system prompt word for word. */
  rules?: string[]
}

/** The config a harness gets, after profile and model were resolved. Fields of the harness's own are passed on. */
export type HarnessAgentConfig<Config extends AgentConfig = AgentConfig> = Omit<
  Config,
  'profile' | 'orgAlias' | 'modelId'
>

/** `serial`: one request at a time. `batch`: all requests of a step; the step goes on when every one is settled. */
export type ToolApprovalMode = 'serial' | 'batch'

export interface StreamOptions {
  /** Stops the turn. */
  abortSignal?: AbortSignal
  /** `true` or `serial`: one request at a time. `batch`: all requests of a step at once. Default: tools run without asking. */
  requireToolApproval?: boolean | ToolApprovalMode
  /** How many model calls the turn may take, at least 1. Default: 1,024. */
  maxSteps?: number
  /** Your name for the turn. It runs once: a second call with the same id, even after a crash, returns the same turn. */
  operationId?: string
  /**
   * What happens while another turn is open. `reject` refuses. `queue` sends the message after that turn. `steer` sends it
   * to the working agent at once and returns the open turn. Default: `reject`.
   */
  whenBusy?: 'reject' | 'queue' | 'steer'
  /** The model for this turn, as `provider/model`. */
  model?: ModelName
  /** The reasoning effort for this turn. */
  effort?: Effort
  /** Tokens, dollars or milliseconds at which the turn ends. */
  budget?: Budget
  /** What happens at a provider's limit: `fail` ends the turn, `park` waits until the limit ends. Default: `fail`. */
  onLimit?: 'fail' | 'park'
}

export const DEFAULT_MAX_STEPS = 1024
