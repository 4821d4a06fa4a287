export { summarizeCall, type CallKind, type CallSummary } from './call-summary.ts'
export { describeCost, type KnownCost } from './describe-cost.ts'
export type { BackoffOptions } from './backoff.ts'
export { connect, createClient, type ConnectOptions } from './connect.ts'
export { Client, type SentCommand } from './client.ts'
export type { ClientState, ConnectionStatus } from './client-state.ts'
export { webStorageOutbox, type OutboxContents, type OutboxStorage, type PendingCommand } from './outbox.ts'
export {
  webSocketTransport,
  type Disconnect,
  type Transport,
  type TransportConnection,
  type TransportEvents,
} from './transport.ts'
export {
  ServerRoutes,
  type AgentLimitReport,
  type ThreadFileChange,
  type MemoryProgress,
  type StoredMessagePage,
  type ModeInfo,
  type NativeSession,
  type Overview,
  type ThreadGrants,
  type ThreadLimits,
  type ThreadList,
  type ThreadOverview,
  type ThreadSummary,
  type TokenSummary,
} from './routes.ts'
export { lineDiff, type DiffLine } from './line-diff.ts'
