import type { ProcessNote } from '@inspan/protocol/log'
import type { RunProcess, RunRecord } from '@inspan/shell/run'

/** Returns what to record of a process so that it can be ended after a crash of ours. */
export function processNote({ runId, pid, startTime, bootId }: RunProcess): ProcessNote {
  return { runTag: runId, pid, startTime: startTime === null ? '' : String(startTime), bootId: bootId ?? '' }
}

/** Turns a process note back into what `reap` of `@inspan/shell/run` takes. */
export function runRecordOf({ runTag, pid, startTime, bootId }: ProcessNote): RunRecord {
  return {
    runId: runTag,
    pid,
    startTime: startTime === '' ? null : Number(startTime),
    bootId: bootId === '' ? null : bootId,
  }
}
