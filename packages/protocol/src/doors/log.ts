/** For readers and writers of the log: records, the fold over them, ops, views, replay. */
export { contentEnd } from '../content-end.ts'
export {
  forkLineage,
  lineageHolds,
  lineageUpTo,
  rewindLineage,
  rootLineage,
  type Lineage,
  type LineageRange,
  type StoredLineage,
} from '../lineage.ts'
export type {
  BatchEvent,
  CancelReceipt,
  CheckpointFile,
  CheckpointMadeRecord,
  ChildEndedRecord,
  ChildLink,
  ConfigChangedRecord,
  ContextCutRecord,
  ControlRecord,
  ForkRecord,
  MessageAddedRecord,
  MessageEndedRecord,
  NoteRecord,
  OmPointer,
  PartAddress,
  ProcessNote,
  QueueAddedRecord,
  QueueItem,
  RecordedFile,
  RecordedToolResult,
  RecordType,
  RequestRef,
  RewindRecord,
  RunEndedRecord,
  RunOutcome,
  StepEndedRecord,
} from '../control-record.ts'
export type { LogRecord, RecordBody, SealedPart } from '../record.ts'
export { configuredNote } from '../shown-config.ts'
export { isContentSetting, NOTIFICATION_SETTING, REWIND_SETTING, STATE_SIGNAL_SETTING } from '../content-settings.ts'
export { BARRIER_TYPES, eraseBody, isSealedPart, RECORD_VERSIONS, redactBody } from '../record-definition.ts'
export type { Redaction } from '../redact.ts'
export { handOffId } from '../hand-off.ts'
export {
  type Head,
  type LastRun,
  type NotedDefinition,
  type QueuedItem,
  REDUCER_VERSION,
  type RunState,
  emptyHead,
} from '../head.ts'
export { type StoredHead, type StoredRunState, reviveHead, storedHead } from '../stored-head.ts'
export {
  asJson,
  isSafeSegment,
  type AppendTextOp,
  type DeltaFrame,
  type Op,
  type Path,
  type RemoveOp,
  type SetOp,
} from '../op.ts'
export { emptyState, reduce, reducePiece, reduceShown, restingState, type Reduced } from '../reduce/reduce.ts'
export { storedMessage, type ThreadState } from '../reduce/draft.ts'
export {
  applyFrame,
  applyOps,
  shortOps,
  emptyView,
  reviveMessage,
  viewFrom,
  type ThreadView,
  type ViewSnapshot,
} from '../view.ts'
export { agentEventsOf, createReplay } from '../replay.ts'
