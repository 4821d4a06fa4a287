import { NO_GRANTS, NO_RULES, type TaskItem } from '@inspan/protocol'
import type { Binding } from '@inspan/protocol/driver'
import {
  contentEnd,
  lineageHolds,
  lineageUpTo,
  RECORD_VERSIONS,
  rewindLineage,
  rootLineage,
  type ForkRecord,
  type StoredLineage,
  type LogRecord,
  type OmPointer,
  type RecordBody,
} from '@inspan/protocol/log'
import type { OpenMessage } from './open-message.ts'

const START = 1_700_000_000_000

/** A point at which a thread can be forked or rewound to, with what the fork or rewind record needs. */
export interface Boundary {
  readonly seq: number
  readonly lineage: StoredLineage
  readonly tasks: readonly TaskItem[]
  readonly tasksAt: number
  readonly om: OmPointer | null
}

export interface OpenRun {
  readonly runId: string
  readonly agentId: string
  turnId: string | null
  step: number
  isStepOpen: boolean
  attempt: number
  isParked: boolean
}

export interface PendingWait {
  readonly id: string
  readonly openedAt: number
}

type Keep = ForkRecord['keep']

/**
 * Writes one stream the way the engine does, and knows just enough of the thread to write only what makes sense. It
 * does not use the reducer, because logs made by the fold could not find its faults.
 */
export class LogWriter {
  readonly stream: string
  readonly records: LogRecord[] = []
  readonly boundaries: Boundary[] = []
  readonly messages: OpenMessage[] = []
  waits: PendingWait[] = []
  queue: { readonly id: string; readonly addedAt: number }[] = []
  bindings: Map<string, Binding> = new Map()
  lineage: StoredLineage
  run: OpenRun | null = null
  tasks: readonly TaskItem[] = []
  tasksAt = 0
  om: OmPointer | null = null
  keep: Omit<Keep, 'tasks' | 'om' | 'grants' | 'origins'> = {
    mode: null,
    model: null,
    agentId: null,
    rules: NO_RULES,
    yolo: false,
    settings: {},
  }
  #seq = 0
  #ids = 0

  constructor(stream: string) {
    this.stream = stream
    this.lineage = rootLineage(stream)
  }

  /** Creates a stream that continues from a boundary of another one. */
  static fork(parent: LogWriter, at: Boundary, stream: string): LogWriter {
    const fork = new LogWriter(stream)
    const origins = Object.fromEntries(
      [...parent.bindings].map(([agentId, binding]) => [agentId, { ...binding, origin: true as const }]),
    )
    fork.#seq = at.seq
    fork.tasks = at.tasks
    fork.om = at.om
    fork.keep = { ...parent.keep, yolo: false }
    fork.bindings = new Map(Object.entries(origins))
    fork.boundaries.push(...parent.boundaries.filter((other) => lineageHolds(at.lineage, other.seq)))
    const keep: Keep = { ...parent.keep, yolo: false, tasks: at.tasks, om: at.om, grants: NO_GRANTS, origins }
    fork.append({ type: 'fork', parent: parent.stream, at: at.seq, lineage: at.lineage, keep })
    fork.lineage = [...at.lineage, { stream, from: at.seq + 1, to: null }]
    fork.tasksAt = at.seq + 1
    return fork
  }

  get seq(): number {
    return this.#seq
  }

  /** Ids are unique within a lineage, so they contain their stream. */
  newId(kind: string): string {
    this.#ids += 1
    return `${this.stream}-${kind}${this.#ids}`
  }

  append(body: RecordBody, more: Pick<LogRecord, 'first' | 'cause' | 'by'> = {}): number {
    this.#seq += 1
    this.records.push({
      v: RECORD_VERSIONS[body.type],
      stream: this.stream,
      seq: this.#seq,
      at: START + this.#seq * 40,
      ...(this.run === null ? {} : { run: this.run.runId }),
      ...(this.run?.turnId == null ? {} : { turn: this.run.turnId }),
      ...more,
      body,
    })
    return this.#seq
  }

  /** Only when no message is open, so that everything before a boundary is complete. */
  markBoundary(): void {
    if (this.messages.length > 0) return
    this.boundaries.push({
      seq: this.#seq,
      lineage: lineageUpTo(this.lineage, this.#seq),
      tasks: this.tasks,
      tasksAt: this.tasksAt,
      om: this.om,
    })
  }

  /** Rewinds to an earlier boundary, or to one that a rewind left behind, which must name its lineage. */
  rewind(to: Boundary, isNamed: boolean): void {
    const { tasks, om, lineage } = to
    const shown = lineageUpTo(this.lineage, to.seq)
    const isShown = JSON.stringify(shown) === JSON.stringify(lineage)
    const named = isShown && !isNamed ? {} : { lineage }
    const seq = this.append({ type: 'rewind', to: to.seq, ...named, tasks, om })
    this.lineage = rewindLineage(lineage, this.stream, to.seq, seq)
    this.run = null
    this.messages.length = 0
    this.tasks = tasks
    this.tasksAt = seq
    this.om = om
    this.waits = this.waits.filter((wait) => wait.openedAt <= to.seq)
  }

  erase(from: number, to: number): void {
    const isErased = (seq: number): boolean => seq >= from && seq <= to
    const seq = this.append({ type: 'erased', from, to })
    this.waits = this.waits.filter((wait) => !isErased(wait.openedAt))
    this.queue = this.queue.filter((item) => !isErased(item.addedAt))
    if (isErased(this.tasksAt)) {
      this.tasks = []
      this.tasksAt = seq
    }
    // Observations of the range go with it.
    const left = (om: OmPointer | null): OmPointer | null => (om !== null && contentEnd(om) >= from ? null : om)
    this.om = left(this.om)
    for (const [index, boundary] of this.boundaries.entries()) {
      const tasks = isErased(boundary.tasksAt) ? [] : boundary.tasks
      this.boundaries[index] = { ...boundary, tasks, om: left(boundary.om) }
    }
  }
}

/** Returns one item of the list for any number drawn. */
export function pickFrom<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(list.length, 1)]
}
