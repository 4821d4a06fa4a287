import type { Binding } from './binding.ts'
import type { OmPointer, ProcessNote, QueueItem, RunOutcome } from './control-record.ts'
import type { TurnDefaults } from './driver.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { rootLineage, type Lineage } from './lineage.ts'
import { NO_GRANTS, NO_RULES, type Grants, type PermissionRules } from './permission.ts'
import type { Goal, TaskItem } from './task.ts'
import { NO_USAGE, type UsageMetadata, type UsageTotals } from './usage.ts'
import type { Answer, Wait } from './wait.ts'

/** Raised whenever the fold gives other heads for the same records; stored heads of another version are rebuilt. */
export const REDUCER_VERSION = 4

export interface RunState {
  readonly runId: string
  readonly agentId: string
  readonly status: 'running' | 'parked'
  readonly attempt: number
  readonly startedAt: number
  /** The seq of `run.started`. */
  readonly startedSeq: number
  readonly turnId: string | null
  readonly step: number | null
  /** The model has been asked and its answer has not ended. */
  readonly isStepOpen: boolean
  /** What was started for the open turn and may outlive us. */
  readonly processes: readonly ProcessNote[]
  /** The denies in force at the start stay in force. */
  readonly rules: PermissionRules
  /** What the thread had used before: the rest is this run's. */
  readonly usageBefore?: UsageTotals
  readonly requestContext?: JsonObject
  readonly turn?: TurnDefaults
  /** What was answered when the asker was gone. Each counts once, when the same is asked again. */
  readonly kept?: readonly KeptAnswer[]
}

export interface KeptAnswer {
  readonly hash: string
  readonly answer: Answer
}

export interface LastRun {
  readonly runId: string
  readonly outcome: RunOutcome
  readonly endedAt: number
  /** The seq of `run.ended`. */
  readonly endedSeq: number
  readonly error?: ErrorData
  /** The answer as data, where that was asked for. */
  readonly output?: JsonValue
}

export interface QueuedItem extends QueueItem {
  /** The seq of the record that queued it. */
  readonly addedAt: number
}

/** Everything that decides how a thread goes on, of bounded size whatever the length of its history. */
export interface Head {
  readonly stream: string
  readonly seq: number
  readonly lineage: Lineage
  readonly title: string | null
  /** The seq of the record that set it. */
  readonly titleAt: number
  readonly mode: string | null
  readonly model: string | null
  readonly agentId: string | null
  readonly rules: PermissionRules
  readonly grants: Grants
  readonly yolo: boolean
  readonly settings: JsonObject
  /** The seqs of the records that set those of them that hold what was said. */
  readonly settingsAt: { readonly [key: string]: number }
  /** The user's own state, validated by the user's schema. */
  readonly state: JsonObject
  /** The seqs of the records that set its keys. */
  readonly stateAt: { readonly [key: string]: number }
  readonly goal: Goal | null
  /** The seq of the record that set it. */
  readonly goalAt: number
  readonly queue: readonly QueuedItem[]
  readonly queueHeld: boolean
  /** Pending ones only. */
  readonly waits: { readonly [waitId: string]: Wait }
  /** Hashes of calls nobody knows the outcome of, until somebody approves the same call or it begins again. */
  readonly inDoubt: readonly string[]
  /** What tools were when a call of theirs was last allowed. */
  readonly definitions: readonly { readonly tool: string; readonly hash: string }[]
  readonly tasks: readonly TaskItem[]
  /** The seq of the record that set them. */
  readonly tasksAt: number
  readonly usage: { readonly own: UsageTotals; readonly subagents: UsageTotals; readonly lastStep: UsageMetadata }
  readonly bindings: { readonly [agentId: string]: Binding }
  readonly om: OmPointer | null
  readonly run: RunState | null
  readonly lastRun: LastRun | null
}

export function emptyHead(stream: string): Head {
  return {
    stream,
    seq: 0,
    lineage: rootLineage(stream),
    title: null,
    titleAt: 0,
    mode: null,
    model: null,
    agentId: null,
    rules: NO_RULES,
    grants: NO_GRANTS,
    yolo: false,
    settings: {},
    settingsAt: {},
    state: {},
    stateAt: {},
    goal: null,
    goalAt: 0,
    queue: [],
    queueHeld: false,
    waits: {},
    inDoubt: [],
    definitions: [],
    tasks: [],
    tasksAt: 0,
    usage: { own: NO_USAGE, subagents: NO_USAGE, lastStep: {} },
    bindings: {},
    om: null,
    run: null,
    lastRun: null,
  }
}
