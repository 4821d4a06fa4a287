import { InspanError, NO_GRANTS, type Grants, type JsonObject, type JsonValue, type TaskItem } from '@inspan/protocol'
import type { Binding } from '@inspan/protocol/driver'
import {
  aCount,
  aFlag,
  aNumber,
  anObject,
  aText,
  checkFields,
  checkOptions,
  words,
  type OptionRules,
  type Keyed,
} from '@inspan/protocol/internal'
import {
  emptyState,
  isContentSetting,
  isSafeSegment,
  lineageUpTo,
  RECORD_VERSIONS,
  reduce,
  type ForkRecord,
  type Lineage,
  type LogRecord,
  type OmPointer,
  type RecordBody,
  type RewindRecord,
  type ThreadState,
} from '@inspan/protocol/log'
import type { CommandOutcome, Store, ThreadInfo } from '@inspan/protocol/store'
import { requireBoundary } from './boundaries.ts'
import type { ProcessOwner } from './ownership.ts'
import type { CommitExtras, ThreadLog } from '../log/thread-log.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'

export interface NewThread {
  /** Default: a new one. */
  readonly id?: string
  /** Whose thread it is: a user, a project, a folder. Threads are listed by it. */
  readonly resourceId: string
  readonly title?: string
  /** The application's own data; never changed afterwards. */
  readonly metadata?: JsonObject
  /** Milliseconds since the epoch. */
  readonly now?: number
  /** Leaves the thread out of lists, unless hidden ones are asked for. */
  readonly hidden?: boolean
  /** For the thread of a subagent: the thread that started it, the call there, and the thread at the top. */
  readonly parent?: string
  readonly parentCall?: string
  readonly root?: string
}

/** Creates an empty thread. It has no owner yet: `ThreadRuntime.open` takes it. */
export async function createThread(store: Store, thread: NewThread): Promise<ThreadInfo> {
  const info = threadInfo(thread)
  await store.createStream({ kind: 'thread', info, headSeq: 0 })
  return info
}

export interface Fork extends NewThread {
  /** The last seq of the parent that the fork shares: a message end or a step start. */
  readonly at: number
  /** A forked subagent keeps the session's grants; a user's fork does not. */
  readonly grants?: Grants
  /** Keeps yolo, if the parent has it. Default: false. */
  readonly yolo?: boolean
}

/**
 * Creates a thread that continues another one from a point. Nothing is copied: its lineage refers to the parent's
 * records. Fails with `invalid-input` where no message ends and no step begins.
 */
export async function forkThread(
  store: Store,
  owner: ProcessOwner,
  parent: ThreadState,
  fork: Fork,
  outcomes: readonly CommandOutcome[] = [],
): Promise<ThreadInfo> {
  const parentId = parent.head.stream
  checkOptions('a fork', fork, NEW_THREAD, ['resourceId', 'at'])
  await requireBoundary(store, parent.head.lineage, fork.at)
  const info: ThreadInfo = {
    ...threadInfo(fork),
    forkedFrom: { thread: parentId, at: fork.at },
  }
  const { tasks, om } = await stateAt(store, parent.head.lineage, fork.at)
  const lineage = lineageUpTo(parent.head.lineage, fork.at)
  const body: ForkRecord = {
    type: 'fork',
    parent: parentId,
    at: fork.at,
    lineage,
    keep: {
      mode: parent.head.mode,
      model: parent.head.model,
      agentId: parent.head.agentId,
      rules: parent.head.rules,
      yolo: fork.yolo === true && parent.head.yolo,
      settings: await settingsAt(store, lineage, parent.head.settings.entries()),
      tasks,
      om,
      grants: fork.grants ?? NO_GRANTS,
      origins: originsOf(parent.head.bindings),
    },
  }
  // One transaction, so that no fork is ever seen without its fork record.
  const { epoch } = await store.createStream({
    kind: 'thread',
    info,
    headSeq: fork.at,
    start: {
      owner: owner.id,
      records: [{ v: RECORD_VERSIONS.fork, stream: info.id, seq: fork.at + 1, at: info.createdAt, body }],
      outcomes,
    },
  })
  await owner.release(info.id, { owner: owner.id, epoch })
  return info
}

/** What is recorded along with a rewind, in the same transaction. */
interface RewindAlong {
  readonly more?: Pick<RewindRecord, 'files'>
  readonly before?: readonly RecordBody[]
  readonly notes?: readonly RecordBody[]
  readonly origin?: { readonly by?: string }
  readonly extras?: CommitExtras
}

/**
 * Moves the conversation back to `to`; call it inside `runtime.change`. Nothing is removed: with the former lineage as
 * `target` it moves forward again. Fails with `invalid-input` where no message ends and no step begins.
 */
export async function rewindThread(
  store: Store,
  log: ThreadLog,
  to: number,
  target?: Lineage,
  { before = [], extras, more = {}, notes = [], origin = {} }: RewindAlong = {},
): Promise<void> {
  const { head } = log.state
  requireNoRun(log)
  checkFields('a rewind', { to }, { to: aCount }, ['to'])
  await log.flush()
  await requireBoundary(store, target ?? head.lineage, to)
  const { tasks, om } = await stateAt(store, target ?? head.lineage, to)
  const lineage = target === undefined ? {} : { lineage: lineageUpTo(target, to) }
  const body: RewindRecord = { type: 'rewind', to, ...lineage, tasks, om, ...more }
  await log.commit([...before, body, ...notes], origin, extras)
}

/** Throws if a run is open: a thread is rewound only between runs. */
export function requireNoRun(log: ThreadLog): void {
  const { run } = log.state.head
  if (run === null) return
  throw new InspanError('misuse', `Thread ${log.stream} cannot be rewound while run ${run.runId} is open.`, {
    hint: 'Abort the run first.',
  })
}

/** Returns tasks and memory pointer as they were at a point, folded from the records of the lineage. */
export async function stateAt(
  store: Store,
  lineage: Lineage,
  at: number,
): Promise<{ tasks: readonly TaskItem[]; om: OmPointer | null }> {
  if (lineage.length === 0) return { tasks: [], om: null }
  const [fork, rewind, tasks] = await Promise.all(
    (['fork', 'rewind', 'tasks.changed'] as const).map((type) => store.latestRecord(lineage, type, at)),
  )
  // A fork or rewind record holds both values itself and overrules everything before it.
  const base = newer(fork, rewind)
  const records = [base, tasks, ...(await recordsSince(store, lineage, base?.seq ?? 0, at))]
  let state = emptyState('')
  for (const record of records.filter((each) => each !== null && each !== undefined).sort((a, b) => a.seq - b.seq)) {
    state = reduce(state, record).state
  }
  return { tasks: state.head.tasks, om: await stillKept(store, lineage, state.head.om) }
}

function newer(one: LogRecord | null | undefined, other: LogRecord | null | undefined): LogRecord | null {
  return (one?.seq ?? 0) > (other?.seq ?? 0) ? (one ?? null) : (other ?? null)
}

/** Returns memory commits and erasures: of two commits of one generation the first counts; erasures remove memory. */
async function recordsSince(store: Store, lineage: Lineage, after: number, upTo: number): Promise<LogRecord[]> {
  const found: LogRecord[] = []
  for (const type of ['om.committed', 'context.cut', 'compaction', 'erased'] as const) {
    let record = await store.latestRecord(lineage, type, upTo)
    while (record !== null && record.seq > after) {
      found.push(record)
      record = await store.latestRecord(lineage, type, record.seq - 1)
    }
  }
  return found
}

/** Returns `null` if the memory was erased with what it was made of. */
async function stillKept(store: Store, lineage: Lineage, om: OmPointer | null): Promise<OmPointer | null> {
  return om === null || (om.blob !== undefined && (await store.readBlob(om.blob, lineage)) === null) ? null : om
}

/** Returns the settings for a fork: no notifications, and notes of what a model was told only if it has the message. */
async function settingsAt(
  store: Store,
  lineage: Lineage,
  settings: Iterable<[string, JsonValue]>,
): Promise<JsonObject> {
  const kept: [string, JsonValue][] = []
  for (const [key, value] of settings) {
    if (!isContentSetting(key) || (await isShown(store, lineage, value))) kept.push([key, value])
  }
  return Object.fromEntries(kept)
}

async function isShown(store: Store, lineage: Lineage, note: JsonValue): Promise<boolean> {
  const messageId = typeof note === 'object' && note !== null && 'messageId' in note ? note['messageId'] : undefined
  return lineage.length > 0 && typeof messageId === 'string' && (await store.getMessage(lineage, messageId)) !== null
}

function originsOf(bindings: Keyed<Binding>): { [agentId: string]: Binding } {
  return Object.fromEntries([...bindings.entries()].map(([id, binding]) => [id, { ...binding, origin: true }]))
}

const NEW_THREAD: OptionRules<Fork> = {
  id: aText,
  resourceId: aText,
  title: words,
  metadata: anObject,
  now: aNumber,
  at: aCount,
  grants: anObject,
  yolo: aFlag,
  hidden: aFlag,
  parent: aText,
  parentCall: aText,
  root: aText,
}

function threadInfo(thread: NewThread): ThreadInfo {
  checkOptions<NewThread>('a new thread', thread, NEW_THREAD, ['resourceId'])
  const id = thread.id ?? timeOrderedId()
  if (!isSafeSegment(id)) throw new InspanError('invalid-input', `${JSON.stringify(id)} cannot be used as a thread id.`)
  const now = thread.now ?? Date.now()
  const { parent, parentCall, root } = thread
  return {
    id,
    resourceId: thread.resourceId,
    title: thread.title ?? null,
    createdAt: now,
    updatedAt: now,
    hidden: thread.hidden ?? false,
    ...(root === undefined ? {} : { root }),
    ...(parent === undefined ? {} : { parent }),
    ...(parentCall === undefined ? {} : { parentCall }),
    metadata: thread.metadata ?? {},
  }
}
