export { capabilities } from './capabilities.ts'
export type { RunCapabilities } from './capabilities.ts'
export type { KillOptions, KillReceipt } from './kill-receipt.ts'
export { findTagged } from './kill-tree.ts'
export { Line } from './line.ts'
export type { LineEnding, LineSpan } from './line.ts'
export { LineSplitter } from './line-splitter.ts'
export type { LineSplitterOptions } from './line-splitter.ts'
export { LineStream } from './line-stream.ts'
export type { LineStreamOptions } from './line-stream.ts'
export { makeFolder } from './make-folder.ts'
export { whatEscapes } from './marked-command.ts'
export type { ProcessRef } from './membership.ts'
export { reap } from './reap.ts'
export type { ReapReceipt, RunRecord } from './reap.ts'
export { StdinClosedError } from './run-process.ts'
export type { RunExit, RunProcess } from './run-process.ts'
export { runTagVariable } from './run-tag.ts'
export { SpawnError } from './spawn-error.ts'
export type { SpawnErrorCode } from './spawn-error.ts'
export { spawnRun } from './spawn-run.ts'
export type { SpawnRunOptions } from './spawn-run.ts'
export { openSpool, Spool, spoolFileName } from './spool.ts'
export type { SpoolOptions, SpoolPlace, SpoolSummary } from './spool.ts'
export { SpoolFolder } from './spool-folder.ts'
export type { SpooledTurn } from './spool-folder.ts'
export { pruneSpool } from './spool-prune.ts'
export type { PruneOptions, PruneResult } from './spool-prune.ts'
export { readSpool } from './spool-read.ts'
export { parseRecord, recordedBytes } from './spool-record.ts'
export type {
  SpoolRedactor,
  SpoolBytesRecord,
  SpoolDamagedRecord,
  SpoolLimitRecord,
  SpoolLineRecord,
  SpoolNoteRecord,
  SpoolRecord,
  SpoolStream,
  SpoolTextRecord,
  SpoolWithheldRecord,
} from './spool-record.ts'
export type { Stall, WatchdogOptions } from './watchdog.ts'
