import type { ErrorData, JsonObject, UsageTotals } from '@inspan/protocol'
import { asObject } from '../kit/fields.ts'

/** What is known of a run before its first line. */
export interface RunHeader {
  /** The id of the dialect. Recordings store it under this name. */
  readonly harness: string
  /** Version of the CLI. */
  readonly version?: string
  readonly cwd?: string
  /** The native session's id, from the launcher, for CLIs that do not print it. */
  readonly sessionId?: string
  readonly usageBaseline?: UsageTotals | 'unknown'
  /** Added to the message if the run fails: what is probably wrong with the set-up. */
  readonly failureHint?: string
}

/**
 * Why we ended a run. `cancelled`: the caller asked for it. `deadline`, `stalled`: it took or was silent too long.
 * `left`: nobody reads its events any more. `failed`: it could not be started or read. `lingering`: it reported its
 * result, which stands, but did not exit.
 */
export type StopReason = 'cancelled' | 'deadline' | 'stalled' | 'left' | 'failed' | 'lingering'

/** We ended the run: what the CLI prints from here on is our doing. */
export interface RunStop {
  readonly reason: StopReason
  /** The run's failure; absent if it was ended on purpose. */
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

/** What the output of a CLI does not tell about its run. Recorded among the lines, so that a recording is complete. */
export type RunNote =
  | { readonly run: RunHeader }
  | { readonly warning: RunWarning }
  | { readonly stop: RunStop }
  | { readonly end: RunExitNote }

/** Returns a note as it is recorded. It is plain data already. */
export function noteToJson(note: RunNote): JsonObject {
  return note as unknown as JsonObject
}

/** Reads back what `noteToJson` wrote. Checks the kind of the note and trusts the rest. */
export function noteFromJson(note: JsonObject): RunNote | undefined {
  const known = ['run', 'warning', 'stop', 'end'].some((key) => asObject(note[key]) !== undefined)
  return known ? (note as unknown as RunNote) : undefined
}
