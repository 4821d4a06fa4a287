export { Emitter } from './emitter.ts'
export { ThreadLog, type CommitExtras, type LogEntry, type RecordOrigin, type ThreadLogOptions } from './thread-log.ts'
export { TurnRecorder, type RecorderOptions } from './turn-recorder.ts'
export type { RunnableTool, ToolRunContext } from './runnable-tool.ts'
export { closeInterruptedRun } from './recover.ts'
export { createThread, forkThread, rewindThread, type Fork, type NewThread } from './threads.ts'
export { isDead, ProcessOwner } from './ownership.ts'
export { recordsAfter } from './load-state.ts'
export { foldWithViews, type Folded } from './view-writes.ts'
export { blobOf, type UnplacedBlob } from './blobs.ts'
export {
  ThreadRuntime,
  type RunHandle,
  type RuntimeAgent,
  type Submission,
  type ThreadRuntimeOptions,
} from './thread-runtime.ts'
