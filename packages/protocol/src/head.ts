import type { Binding } from './binding.ts'
import type { ChildLink, OmPointer, ProcessNote, QueueItem, RunOutcome } from './control-record.ts'
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

/** Raised whenever the fold makes other heads from the same records. Stored heads of another version are rebuilt. */
export const REDUCER_VERSION = 2

export interface RunState {
  readonly runId: string
  readonly agentId: string
  /** Who started it, as in its `run.started`. */
  readonly door?: string
  readonly status: 'running' | 'parked'
  readonly attempt: number
  readonly startedAt: number
  /** The seq of `run.started`. */
  readonly startedSeq: number
  readonly turnId: string | null
  readonly step: number | null
  /** True while the model is answering: the step was started and has not ended. */
  readonly isStepOpen: boolean
  /** Processes that were started for the open turn and may outlive us, by the seq of their record. */
  readonly processes: Keyed<ProcessNote>
  /** The rules at the start. Their denies stay in force. */
  readonly rules: PermissionRules
  /** The thread's usage before this run. The difference to the present usage is this run's. */
  readonly usageBefore?: UsageTotals
  readonly requestContext?: JsonObject
  readonly turn?: TurnDefaults
  /** Answers whose asker was gone, by the question's hash. Each is used once, when the same is asked again. */
  readonly kept?: Keyed<readonly Answer[]>
}

export interface LastRun {
  readonly runId: string
  readonly outcome: RunOutcome
  readonly endedAt: number
  /** The seq of `run.ended`. */
  readonly endedSeq: number
  readonly error?: ErrorData
  /** The answer as data, if the turn asked for one. */
  readonly output?: JsonValue
}

export interface QueuedItem extends QueueItem {
  /** The seq of the record that queued it. */
  readonly addedAt: number
  /** Set when the item was put before everything queued at that time. */
  readonly front?: true
}

/**
 * Everything that decides how a thread goes on, whatever the length of its history. Collections that may grow are kept
 * by id, so that a record changes its own entry and copies no other.
 */
export interface Head {
  readonly stream: string
  readonly seq: number
  /** Every rewind adds a range, unless it drops ranges. */
  readonly lineage: List<LineageRange>
  readonly title: string | null
  /** The seq of the record that set the title. */
  readonly titleAt: number
  /** The seq of the last rewind or erasure. Messages that were read before it may be gone. */
  readonly rewrittenAt: number
  readonly mode: string | null
  readonly model: string | null
  readonly agentId: string | null
  readonly rules: PermissionRules
  readonly grants: Grants
  readonly yolo: boolean
  readonly settings: Keyed<JsonValue>
  /** The seqs of the records that set the content settings (see `isContentSetting`). */
  readonly settingsAt: Keyed<number>
  /** The user's own state, validated by the user's schema. */
  readonly state: Keyed<JsonValue>
  /** The seqs of the records that set the keys of `state`. */
  readonly stateAt: Keyed<number>
  readonly goal: Goal | null
  /** The seq of the record that set the goal. */
  readonly goalAt: number
  /** The next item first. */
  readonly queue: Keyed<QueuedItem>
  readonly queueHeld: boolean
  /** Pending waits only, the oldest first. */
  readonly waits: Keyed<Wait>
  /** Hashes of calls in doubt, until somebody approves the same call or it starts again. At most 100. */
  readonly inDoubt: readonly string[]
  /** Definitions of tools when a call of theirs was last allowed: the 1,000 noted last. */
  readonly definitions: Keyed<NotedDefinition>
  readonly tasks: readonly TaskItem[]
  /** The seq of the record that set the tasks. */
  readonly tasksAt: number
  readonly usage: { readonly own: UsageTotals; readonly subagents: UsageTotals; readonly lastStep: UsageMetadata }
  readonly bindings: Keyed<Binding>
  readonly om: OmPointer | null
  /** Subagents that have not ended, by their thread. */
  readonly children: Keyed<ChildLink>
  readonly run: RunState | null
  readonly lastRun: LastRun | null
}

export interface NotedDefinition {
  readonly hash: string
  /** The seq of the record that noted the definition. */
  readonly at: number
}

export function emptyHead(stream: string): Head {
  return {
    stream,
    seq: 0,
    lineage: List.from(rootLineage(stream)),
    title: null,
    titleAt: 0,
    rewrittenAt: 0,
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
    children: Keyed.empty(),
    run: null,
    lastRun: null,
  }
}
