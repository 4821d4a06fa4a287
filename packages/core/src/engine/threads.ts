import { randomUUID } from 'node:crypto'
import {
  EvenerError,
  isContentSetting,
  isSafeSegment,
  lineageUpTo,
  NO_GRANTS,
  RECORD_VERSIONS,
  type Binding,
  type ForkRecord,
  type Grants,
  type JsonObject,
  type JsonValue,
  type Lineage,
  type OmPointer,
  type RewindRecord,
  type Store,
  type TaskItem,
  type ThreadInfo,
  type ThreadState,
} from '@evener/protocol'
import type { ProcessOwner } from './ownership.ts'
import type { ThreadLog } from './thread-log.ts'

export interface NewThread {
  readonly id?: string
  readonly resourceId: string
  readonly title?: string
  readonly metadata?: JsonObject
  readonly now?: number
}

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
  readonly hidden?: boolean
}

/** A new thread that goes on from a point of another. Nothing is copied: it names its parent's records. */
export async function forkThread(
  store: Store,
  owner: ProcessOwner,
  parent: ThreadState,
  fork: Fork,
): Promise<ThreadInfo> {
  const parentId = parent.head.stream
  const info: ThreadInfo = {
    ...threadInfo(fork),
    hidden: fork.hidden ?? false,
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
      yolo: parent.head.yolo,
      settings: await settingsAt(store, lineage, parent.head.settings),
      tasks,
      om,
      grants: fork.grants ?? NO_GRANTS,
      origins: originsOf(parent.head.bindings),
    },
  }
  // Creation and fork record are one transaction: nobody ever sees a fork that does not know where it came from.
  const { epoch } = await store.createStream({
    kind: 'thread',
    info,
    headSeq: fork.at,
    start: {
      owner: owner.id,
      records: [{ v: RECORD_VERSIONS.fork, stream: info.id, seq: fork.at + 1, at: info.createdAt, body }],
    },
  })
  await owner.release(info.id, { owner: owner.id, epoch })
  return info
}

/** Moves the conversation back (or, after a rewind, forward again) to `to`. Nothing is cut off. */
export async function rewindThread(store: Store, log: ThreadLog, to: number, target?: Lineage): Promise<void> {
  const { head } = log.state
  if (head.run !== null) {
    throw new EvenerError('misuse', `Thread ${log.stream} cannot be rewound while run ${head.run.runId} is open.`, {
      hint: 'Abort the run first.',
    })
  }
  const lineage = lineageUpTo(target ?? head.lineage, to)
  const { tasks, om } = await stateAt(store, lineage, to)
  const body: RewindRecord = { type: 'rewind', to, lineage, tasks, om }
  await log.commit([body])
}

/** Tasks and memory pointer as they were at a point: the newest records about them that the lineage shows. */
export async function stateAt(
  store: Store,
  lineage: Lineage,
  at: number,
): Promise<{ tasks: readonly TaskItem[]; om: OmPointer | null }> {
  const newest = await Promise.all(
    (['tasks.changed', 'om.committed', 'fork', 'rewind'] as const).map((type) => store.latestRecord(lineage, type, at)),
  )
  const [tasksRecord, omRecord, ...bases] = newest
  // A fork or rewind record carries both values itself and so overrules everything before it.
  const base = bases.filter((record) => record !== null).sort((a, b) => b.seq - a.seq)[0]
  const baseSeq = base?.seq ?? 0
  const carried = base?.body.type === 'fork' ? base.body.keep : base?.body.type === 'rewind' ? base.body : undefined
  return {
    tasks:
      tasksRecord?.body.type === 'tasks.changed' && tasksRecord.seq > baseSeq
        ? tasksRecord.body.tasks
        : (carried?.tasks ?? []),
    om: await stillKept(
      store,
      omRecord?.body.type === 'om.committed' && omRecord.seq > baseSeq ? omRecord.body.om : (carried?.om ?? null),
    ),
  }
}

/** Memory that was erased with what it was made of is none. */
async function stillKept(store: Store, om: OmPointer | null): Promise<OmPointer | null> {
  return om === null || (await store.readBlob(om.blob)) === null ? null : om
}

/** What was sent to the parent is not the fork's; what a model was told is, where the fork shows it. */
async function settingsAt(store: Store, lineage: Lineage, settings: JsonObject): Promise<JsonObject> {
  const kept: [string, JsonValue][] = []
  for (const [key, value] of Object.entries(settings)) {
    if (!isContentSetting(key) || (await isShown(store, lineage, value))) kept.push([key, value])
  }
  return Object.fromEntries(kept)
}

async function isShown(store: Store, lineage: Lineage, note: JsonValue): Promise<boolean> {
  const messageId = typeof note === 'object' && note !== null && 'messageId' in note ? note['messageId'] : undefined
  return lineage.length > 0 && typeof messageId === 'string' && (await store.getMessage(lineage, messageId)) !== null
}

function originsOf(bindings: { readonly [agentId: string]: Binding }): { [agentId: string]: Binding } {
  return Object.fromEntries(Object.entries(bindings).map(([id, binding]) => [id, { ...binding, origin: true }]))
}

function threadInfo(thread: NewThread): ThreadInfo {
  const id = thread.id ?? randomUUID()
  if (!isSafeSegment(id)) throw new EvenerError('invalid-input', `${JSON.stringify(id)} cannot be used as a thread id.`)
  const now = thread.now ?? Date.now()
  return {
    id,
    resourceId: thread.resourceId,
    title: thread.title ?? null,
    createdAt: now,
    updatedAt: now,
    hidden: false,
    metadata: thread.metadata ?? {},
  }
}
