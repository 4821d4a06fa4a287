export {
  Agent,
  createTool,
  hasToolCall,
  nativeDriver,
  RequestContext,
  stepCountIs,
  type AgentContext,
  type AgentOptions,
  type LanguageModel,
  type LoopHooks,
  type NativeDriverOptions,
  type OutputOptions,
  type ResolveModel,
  type RetryOptions,
  type SchemaInput,
  type StopCondition,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type ToolsInput,
  type TurnStep,
} from '@inspan/agent'
export {
  ErrorCode,
  InspanError,
  type Goal,
  type Grants,
  type PatternRule,
  type PermissionRules,
  type Policy,
  type TaskItem,
  type ToolCategory,
} from '@inspan/protocol'
export { type AgentDriver, type Budget, type Decision, type ToolCallRequest } from '@inspan/protocol/driver'
export {
  defaultDisplayState,
  defaultOMProgressState,
  toWireEvent,
  type ActiveSubagentState,
  type ActiveToolState,
  type GoalEvaluation,
  type HarnessDisplayState,
  type HarnessEvent,
  type EventPlace,
  type HarnessEventListener,
  type PlacedEvent,
  type HarnessEventType,
  type HarnessMessage,
  type HarnessMessageContent,
  type HarnessThread,
  type OMBufferedStatus,
  type OMProgressState,
  type OMStatus,
  type PendingToolApproval,
  type PendingToolSuspension,
  type TokenUsage,
} from '@inspan/protocol/harness'
export { type Store } from '@inspan/protocol/store'
export {
  BrowserTools,
  openPlaywright,
  redactSecrets,
  SECRET_DETECTORS,
  Workspace,
  type Browser,
  type BrowserToolsOptions,
  type ChangedFile,
  type CheckpointOptions,
  type CommandExit,
  type CommandOptions,
  type WorkspaceFileContent,
  type FileInfo,
  type GrepOptions,
  type ListedFile,
  type ListOptions,
  type LocalShellOptions,
  type Match,
  type PageView,
  type PlaywrightOptions,
  type RedactSecretsOptions,
  type RewindReport,
  type RunningCommand,
  type SecretDetector,
  type WorkspaceFiles,
  type WorkspaceOptions,
  type WorkspaceShell,
  type WorkspaceToolConfig,
  type WorkspaceToolName,
  type WorkspaceToolsConfig,
  type WriteOptions,
} from '@inspan/tools'
export {
  type MCPConfiguration,
  type MCPServerConfig,
  type McpServerInfo,
  type McpToolInfo,
} from '@inspan/protocol/chat'
export {
  loadRules,
  McpOAuth,
  McpServers,
  nearestAgentsFile,
  Skills,
  TrustedFolders,
  type AlwaysActive,
  type McpEvent,
  type McpOAuthOptions,
  type McpServersOptions,
  type Skill,
  type SkillsOptions,
  type ToolSearchOptions,
} from '@inspan/tools'
export type { Redactor } from './engine/log/redactor.ts'
export { Harness, type SessionInfo } from './harness/harness.ts'
export type {
  HarnessDynamic,
  DynamicContext,
  HarnessAgent,
  HarnessConfig,
  HarnessMode,
  HarnessOMConfig,
  StateShape,
  HarnessSubagent,
  PubSub,
  StandingRules,
  StateSchema,
  ThreadLock,
} from './harness/harness-config.ts'
export type { MessageInput } from './harness/runs/conversation.ts'
export type { QueuedFollowUp } from './harness/runs/follow-ups.ts'
export type { Objectives } from './harness/goals/current-agent.ts'
export type { ObjectiveChanges, ObjectiveOptions } from './harness/goals/goal-keeper.ts'
export type { HarnessMemory } from './harness/harness-memory.ts'
export type { HarnessRuntime } from './harness/harness-runtime.ts'
export type { HeartbeatHandler } from './harness/runs/heartbeats.ts'
export type { MessageFile } from './harness/runs/message-files.ts'
export type { Observability, RunFeedback, RunScore } from './harness/runs/observability.ts'
export type { ObservationalMemoryRecord } from './harness/observational-memory.ts'
export type { ScoredRun, Scorer } from './harness/runs/run-scorers.ts'
export type {
  AvailableModel,
  CustomModel,
  CustomModelCatalogProvider,
  ModelAuthChecker,
  ModelAuthStatus,
  ModelGateway,
  ModelPrice,
  ModelUseCountProvider,
  ModelUseCountTracker,
} from './harness/models/model-types.ts'
export { priceOf } from './harness/models/price-list.ts'
export { keyVariablesOf, knownKeyVariables } from './harness/models/known-providers.ts'
export type {
  HarnessRequestContext,
  RequestContextInput,
  RestoreRequestContext,
} from './harness/agents/request-context.ts'
export { Session, type SessionDisplay } from './harness/session.ts'
export type { ToolApprovalResponse, ToolSuspensionResponse } from './harness/sessions/suspensions.ts'
export type { ModelSwitch } from './harness/sessions/session-model.ts'
export type {
  DeliveryAction,
  DeliveryPolicy,
  DeliveryRule,
  NotificationInput,
  NotificationRecord,
} from './harness/signals/notification.ts'
export type { SentNotification } from './harness/signals/notifications.ts'
export type {
  SentSignal,
  SignalAccepted,
  SignalInput,
  SignalRouting,
  StateSignalResult,
} from './harness/signals/send-signal.ts'
export type { SessionSignals } from './harness/signals/session-signals.ts'
export type { Signal } from './harness/signals/signal-part.ts'
export type { StateSignal } from './harness/signals/state-lane.ts'
export type { SystemReminder } from './harness/signals/system-reminder.ts'
export { allowedPaths } from './engine/tools/allowed-paths.ts'
export { assignTaskIds } from './harness/tools/tasks.ts'
export type { StateUpdate } from './harness/sessions/session-state.ts'
export { parseSubagentMeta, type SubagentMeta } from './harness/agents/subagent-meta.ts'
export type { MessagePage, ThreadListQuery, ThreadPage, ThreadRewind } from './harness/sessions/session-thread.ts'
export type { Listed, MessageListQuery } from './harness/threads/thread-reads.ts'
export type { ApprovalDecision } from './harness/sessions/suspensions.ts'
export type { CloneRequest } from './harness/threads/thread-lifecycle.ts'
export { askUserTool, type BuiltinToolId } from './harness/tools/builtin-tools.ts'
export {
  submitPlanTool,
  taskCheckTool,
  taskCompleteTool,
  taskUpdateTool,
  taskWriteTool,
} from './harness/tools/thread-tools.ts'
export type {
  HarnessWorkspace,
  WorkspaceConfig,
  WorkspaceFactory,
  WorkspaceInput,
} from './harness/agents/workspace-slot.ts'
export { Memory, type MemoryOptions } from '@inspan/memory'
export { MemoryStore, SqliteStore, type SqliteStoreOptions } from '@inspan/stores'
export {
  createPolicy,
  type Explained,
  type GrantResult,
  type PathTool,
  type PermissionPolicy,
  type PolicyContext,
  type PolicyOptions,
  type PolicyStep,
  type RuleLevel,
  type ShellTool,
  type ToolSubjects,
} from './policy/index.ts'
