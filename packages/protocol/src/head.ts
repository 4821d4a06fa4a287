import type { Binding } from './binding.ts'
import type { OmPointer, ProcessNote, QueueItem, RunOutcome } from './control-record.ts'
import type { TurnDefaults } from './driver.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { Keyed } from './keyed.ts'
import { rootLineage, type LineageRange } from './lineage.ts'
import { List } from './list.ts'
import { NO_GRANTS, NO_RULES, type Grants, type PermissionRules } from './permission.ts'
import type { Goal, TaskItem } from './task.ts'
import { NO_USAGE, type UsageMetadata, type UsageTotals } from './usage.ts'
import type { Answer, Wait } from './wait.ts'

/** Raised whenever the fold gives other heads for the same records; stored heads of another version are rebuilt. */
export const REDUCER_VERSION = 5

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
  /** What was started for the open turn and may outlive us, by the seq of the record that says so. */
  readonly processes: Keyed<ProcessNote>
  /** The denies in force at the start stay in force. */
  readonly rules: PermissionRules
  /** What the thread had used before: the rest is this run's. */
  readonly usageBefore?: UsageTotals
  readonly requestContext?: JsonObject
  readonly turn?: TurnDefaults
  /** What was answered when the asker was gone, by the hash. Each counts once, when the same is asked again. */
  readonly kept?: Keyed<readonly Answer[]>
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
  /** Put before all that was queued then. */
  readonly front?: true
}

/**
 * Everything that decides how a thread goes on, whatever the length of its history. What there may be many of is kept by
 * id: a record changes its own entry and copies no other.
 */
export interface Head {
  readonly stream: string
  readonly seq: number
  /** Every rewind adds a range, unless it drops some. */
  readonly lineage: List<LineageRange>
  readonly title: string | null
  /** The seq of the record that set it. */
  readonly titleAt: number
  readonly mode: string | null
  readonly model: string | null
  readonly agentId: string | null
  readonly rules: PermissionRules
  readonly grants: Grants
  readonly yolo: boolean
  readonly settings: Keyed<JsonValue>
  /** The seqs of the records that set those of them that hold what was said. */
  readonly settingsAt: Keyed<number>
  /** The user's own state, validated by the user's schema. */
  readonly state: Keyed<JsonValue>
  /** The seqs of the records that set its keys. */
  readonly stateAt: Keyed<number>
  readonly goal: Goal | null
  /** The seq of the record that set it. */
  readonly goalAt: number
  /** The next one first. */
  readonly queue: Keyed<QueuedItem>
  readonly queueHeld: boolean
  /** Pending ones only, the oldest first. */
  readonly waits: Keyed<Wait>
  /** Hashes of calls nobody knows the outcome of, until somebody approves the same call or it begins again: 100 at most. */
  readonly inDoubt: readonly string[]
  /** What tools were when a call of theirs was last allowed: the 1,000 that were noted last. */
  readonly definitions: Keyed<NotedDefinition>
  readonly tasks: readonly TaskItem[]
  /** The seq of the record that set them. */
  readonly tasksAt: number
  readonly usage: { readonly own: UsageTotals; readonly subagents: UsageTotals; readonly lastStep: UsageMetadata }
  readonly bindings: Keyed<Binding>
  readonly om: OmPointer | null
  readonly run: RunState | null
  readonly lastRun: LastRun | null
}

export interface NotedDefinition {
  readonly hash: string
  /** The seq of the record that noted it. */
  readonly at: number
}

export function emptyHead(stream: string): Head {
  return {
    stream,
    seq: 0,
    lineage: List.from(rootLineage(stream)),
    title: null,
    titleAt: 0,
    mode: null,
    model: null,
    agentId: null,
    rules: NO_RULES,
    grants: NO_GRANTS,
    yolo: false,
    settings: Keyed.empty(),
    settingsAt: Keyed.empty(),
    state: Keyed.empty(),
    stateAt: Keyed.empty(),
    goal: null,
    goalAt: 0,
    queue: Keyed.empty(),
    queueHeld: false,
    waits: Keyed.empty(),
    inDoubt: [],
    definitions: Keyed.empty(),
    tasks: [],
    tasksAt: 0,
    usage: { own: NO_USAGE, subagents: NO_USAGE, lastStep: {} },
    bindings: Keyed.empty(),
    om: null,
    run: null,
    lastRun: null,
  }
}
