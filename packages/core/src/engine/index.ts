export { askModel } from '@inspan/agent'
export { compactThread } from '@inspan/memory'
export type { Answer, Part, Wait } from '@inspan/protocol'
export type { TurnDefaults } from '@inspan/protocol/driver'
export type { CancelReceipt, DeltaFrame, LogRecord, RecordBody, RunOutcome, ThreadState } from '@inspan/protocol/log'
export type { RecordOrigin } from './log/record-body.ts'
export {
  ThreadLog,
  type CommitExtras,
  type LogEntry,
  type ThreadLogOptions,
  type ThreadLoss,
} from './log/thread-log.ts'
export { SideLog } from './log/side-log.ts'
export { readResourceGrants } from './rules/resource-grants.ts'
export type { PriceOf } from './runs/priced-usage.ts'
export { spentInRun } from './runs/run-spending.ts'
export { handOffFact } from './runs/run-queue.ts'
export type { Redactor } from './log/redactor.ts'
export type { RunnableTool, ToolRunContext } from './calls/runnable-tool.ts'
export { noSuchThread, readThread } from './threads/read-thread.ts'
export { createThread, forkThread, rewindThread, type Fork, type NewThread } from './threads/threads.ts'
export { deleteThread, type DeleteOptions, type DeleteRemainder, type DeleteReport } from './erase/delete-thread.ts'
export { boundaryAt } from './threads/boundaries.ts'
export { isDead, ProcessOwner } from './threads/ownership.ts'
export { ThreadRegistry, type ThreadServer, type ThreadWatcher } from './threads/thread-registry.ts'
export { readStreamState, recordsAfter } from './log/load-state.ts'
export { allItems } from '../common/all-items.ts'
export { inflateMessage } from './log/blobs.ts'
export { recordedActivity } from './log/recorded-activity.ts'
export type { RunHandle, RuntimeAgent, RuntimeAgents, TurnContext } from './turns/active-run.ts'
export type { Feedback, RunOpinions, Score } from './runs/opinions.ts'
export { isForeign, isWaitingForChildren } from './turns/active-run.ts'
export { PASSED_ON } from './rules/remembered.ts'
export { describeInTime } from './turns/time-limits.ts'
export type { MemoryOf, WindowOf } from './context/thread-context.ts'
export { runtimeAgent, type AgentLike, type RuntimeAgentOptions } from './turns/runtime-agent.ts'
export { toolsOfSources, type ReportSource, type UnionOptions } from './tools/tools-of-sources.ts'
export { threadToolSearch } from './tools/thread-tool-search.ts'
export { ACCESS_SETTING, allowedPaths } from './tools/allowed-paths.ts'
export type { TracerSource } from './telemetry/tracing.ts'
export { requireOpenTelemetry } from './telemetry/require-open-telemetry.ts'
export { ThreadRuntime } from './thread-runtime.ts'
export { admitCommand } from './commands/ledger.ts'
export type { ThreadCommand } from './commands/thread-command.ts'
export type {
  ConfigChange,
  ControlFact,
  Door,
  FilesPort,
  FilesRewind,
  FilesTurn,
  HandOff,
  Rewound,
  Submission,
  ThreadRuntimeOptions,
} from './thread-options.ts'
export { recordedRequest, requestPrefix, toolsSentBeforeFork, type RequestPrefix } from './context/request-prefix.ts'
export { clearHistory, eraseRange, type EraseOptions } from './erase/erase.ts'
export type { EraseRemainder, EraseReport } from './erase/erase-report.ts'
export type { ForkAccess } from './erase/erase-forks.ts'
