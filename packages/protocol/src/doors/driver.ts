/** For agents: the port a driver implements, what its host offers, tools, turns. */
export { noFaults, type FaultPoints } from '../fault-points.ts'
export type { Binding } from '../binding.ts'
export type { RawSpool } from '../raw-spool.ts'
export type {
  AgentDriver,
  AgentLimit,
  AgentSession,
  Budget,
  BudgetLimit,
  Capabilities,
  ContextRequest,
  Decision,
  Effort,
  HandoverBudget,
  HandoverNote,
  HistoryQuery,
  Host,
  HostTool,
  LogLevel,
  ModelContext,
  ModelOutput,
  ModelOutputPart,
  NativeMessage,
  NativeSessionInfo,
  NativeSessions,
  ToolCallRequest,
  ToolOutcome,
  ToolServer,
  Turn,
  TurnDefaults,
  TurnOutput,
} from '../driver.ts'
export { DRIVER_PORT } from '../driver.ts'
export { checkEffort } from '../check-effort.ts'
export { createHost } from '../create-host.ts'
export type {
  Embed,
  MemoryBasis,
  MemoryPlace,
  MemoryContent,
  MemoryModel,
  MemoryServices,
  MemoryThread,
  MessageSearch,
  ThreadMemory,
} from '../memory.ts'
export { TOOL_SERVER_NAME } from '../driver.ts'
export { streamTurn } from '../stream-turn.ts'
export type {
  OnInterrupted,
  RunnableTool,
  ToolRunContext,
  ToolSuspension,
  ToolSource,
  ToolSourceContext,
  SourcedTool,
} from '../runnable-tool.ts'
