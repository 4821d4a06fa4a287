import type { ErrorData, JsonObject, UsageTotals } from '@evener/protocol'
import { asObject } from '../kit/fields.ts'

/** What is known of a run before its first line. */
export interface RunHeader {
  readonly harness: string
  /** Of the program. */
  readonly version?: string
  readonly cwd?: string
  /** Given by the launcher for programs that do not tell it. */
  readonly sessionId?: string
  readonly usageBaseline?: UsageTotals | 'unknown'
  /** Said with the run's failure, if it fails: what is probably wrong with the set-up. */
  readonly failureHint?: string
}

/**
 * `cancelled` by whoever asked for the run · `deadline` `stalled` it lasted or was silent too long · `left` nobody reads
 * its events any more · `failed` it could not be started or read · `lingering` it has told its result, which stands, but did
 * not end.
 */
export type StopReason = 'cancelled' | 'deadline' | 'stalled' | 'left' | 'failed' | 'lingering'

/** We ended the run: what the program says and does from here on is our doing. */
export interface RunStop {
  readonly reason: StopReason
  /** The run's failure; absent when it was ended on purpose. */
  readonly error?: ErrorData
}

export interface RunWarning {
  readonly message: string
  readonly code?: string
}

export interface RunExitNote {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** What the streams of a program do not tell of its run. Recorded among their lines, so that a recording is complete. */
export type RunNote =
  | { readonly run: RunHeader }
  | { readonly warning: RunWarning }
  | { readonly stop: RunStop }
  | { readonly end: RunExitNote }

/** A note as it is recorded. Everything in it is plain data. */
export function noteToJson(note: RunNote): JsonObject {
  return note as unknown as JsonObject
}

/** Only what `noteToJson` has written is read back, so the shape is looked at and the rest believed. */
export function noteFromJson(note: JsonObject): RunNote | undefined {
  const known = ['run', 'warning', 'stop', 'end'].some((key) => asObject(note[key]) !== undefined)
  return known ? (note as unknown as RunNote) : undefined
}
