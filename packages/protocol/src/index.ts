export type { JsonObject, JsonValue } from './json.ts'
export { toError, toErrorData, type ErrorData } from './error-data.ts'
export { ErrorCode, InspanError } from './errors.ts'
export { BLOB_THRESHOLD, type BlobRef } from './blob.ts'
export {
  addUsage,
  contextUsage,
  NO_USAGE,
  subtractUsage,
  type ContextUsage,
  type FinishReason,
  type UsageIncrement,
  type CostedUsage,
  type UsageMetadata,
  type UsageTotals,
} from './usage.ts'
export type {
  ActivityBase,
  ActivityEvent,
  ActivityNote,
  ActivityType,
  AgentActivity,
  CommandActivity,
  ErrorActivity,
  ListActivity,
  OrchestrationAction,
  OrchestrationActivity,
  ReadActivity,
  SearchActivity,
  SkillActivity,
  UnknownActivity,
  WarningActivity,
  WriteActivity,
} from './activity.ts'
export type {
  AgentEvent,
  AgentEventType,
  ErrorEvent,
  EventExtras,
  EventMeta,
  FileEvent,
  FinishEvent,
  NativeRef,
  ReasoningDeltaEvent,
  StartEvent,
  StepFinishEvent,
  StepRequest,
  StepStartEvent,
  TextDeltaEvent,
  ToolAnnotations,
  ToolApprovalRequestEvent,
  ToolCallDeltaEvent,
  ToolCallEvent,
  ToolCallInfo,
  ToolOrigin,
  ToolProgressEvent,
  ToolResultEvent,
} from './agent-event.ts'
export { isShownOnly } from './message.ts'
export type {
  FilePart,
  ImagePart,
  MessageFields,
  MessageRole,
  MessageState,
  Part,
  PartBase,
  PartState,
  ReasoningPart,
  SignalKind,
  SignalPart,
  StoredMessage,
  TextPart,
  ThreadMessage,
  ToolCallPart,
  ToolResultPart,
} from './message.ts'
export type { CallOutcome, CallStage, CallState } from './call.ts'
export type {
  Answer,
  Wait,
  WaitCancelReason,
  WaitDecision,
  WaitKind,
  WaitRequest,
  WaitState,
  WaitSubject,
} from './wait.ts'
export {
  NO_GRANTS,
  NO_RULES,
  type Grants,
  type GrantScope,
  type PatternRule,
  type PermissionRules,
  type Policy,
  type ToolCategory,
} from './permission.ts'
export type { Goal, TaskItem, TaskStatus } from './task.ts'
