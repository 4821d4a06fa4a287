import { InspanError } from '@inspan/protocol'
import type { RawSpool } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { ForkReach, Store } from '@inspan/protocol/store'
import { copiesIn, quotes } from './erased-copies.ts'
import type { ErasedContent } from './erased-content.ts'
import { removeSpools, type EraseTally } from './erase-report.ts'
import type { ProcessOwner } from '../threads/ownership.ts'
import { sharedStretches } from './shared-stretches.ts'
import { ThreadLog } from '../log/thread-log.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'
import { allItems } from '../../common/all-items.ts'
import { messageOf } from '../../common/message-of.ts'

/** How to get the logs of other threads. Forks that cannot be accessed are named in the report. */
export interface ForkAccess {
  /** The owner that takes the forks. */
  readonly owner?: ProcessOwner
  /** Returns the thread if this process has it open. */
  readonly open?: (threadId: string) => Pick<ThreadRuntime, 'change'> | undefined
}

export interface ForkErasure extends ForkAccess {
  readonly stream: string
  readonly from: number
  readonly to: number
  readonly content: ErasedContent
  /** Titles that are cleared; forks may have the same. */
  readonly titles: ReadonlySet<string>
  readonly reason?: string
  readonly spool?: RawSpool
  /** The log of the fork that erases, if its parent thread is deleted. */
  readonly held?: ThreadLog
}

/** Erases in all forks what they took over from the range: tasks, notifications, titles, and what came of these. */
export async function eraseForks(store: Store, erasure: ForkErasure, tally: EraseTally): Promise<void> {
  const { stream, from, to, held } = erasure
  for await (const fork of allItems((page) => store.listForks({ stream, from, to, ...page }))) {
    if (fork.thread === held?.stream) {
      await eraseInFork(store, held, erasure, fork, tally)
      continue
    }
    try {
      await withLog(store, erasure, fork.thread, (log) => eraseInFork(store, log, erasure, fork, tally))
      tally.noteFork(fork.thread)
    } catch (error) {
      tally.noteRemainder({ kind: 'fork', threadId: fork.thread, reason: messageOf(error) })
    }
  }
}

async function eraseInFork(
  store: Store,
  log: ThreadLog,
  { content, from, reason, spool, stream, titles }: ForkErasure,
  fork: ForkReach,
  tally: EraseTally,
): Promise<void> {
  await log.flush()
  const copies = await copiesIn(store, log.stream, content, 0)
  const title = log.state.head.title ?? (await store.getThread(log.stream))?.title ?? null
  if (title !== null && (titles.has(title) || copies.titles.includes(title) || quotes(content, title))) {
    await log.commit([{ type: 'config.changed', title: null }], {}, { thread: { title: null } })
  }
  await removeSpools(spool, log.stream, copies.runs, tally)
  const points = copies.seqs.map((seq) => ({ from: seq, to: seq }))
  tally.count(await store.erase(log.stream, log.fence, ...points))
  const ranges = [{ from, to: fork.to }, ...points]
  await log.commit(
    ranges.map((range): RecordBody => ({ type: 'erased', ...range, ...(reason === undefined ? {} : { reason }) })),
  )
  tally.noteBindings(log.state.head.bindings)
  tally.noteQuotes(log.stream, copies.quotedIn)
  for (const left of await sharedStretches(store, log.stream)) {
    if (left.isDeleted && left.stream !== stream) await eraseBetween(store, log, content, left.stream, tally)
  }
}

/** Erases copies in a deleted thread between parent and fork: nobody else can clean what is left of it. */
async function eraseBetween(
  store: Store,
  log: ThreadLog,
  content: ErasedContent,
  stream: string,
  tally: EraseTally,
): Promise<void> {
  const { quotedIn, seqs } = await copiesIn(store, stream, content, content.from - 1)
  const points = seqs.map((seq) => ({ from: seq, to: seq }))
  if (points.length > 0) tally.count(await store.erase(stream, log.fence, ...points))
  tally.noteQuotes(log.stream, quotedIn)
}

async function withLog(
  store: Store,
  { open, owner }: ForkAccess,
  thread: string,
  task: (log: ThreadLog) => Promise<void>,
): Promise<void> {
  const runtime = open?.(thread)
  if (runtime !== undefined) return runtime.change(task)
  if (owner === undefined)
    throw new InspanError(
      'misuse',
      `Thread ${thread} cannot be erased: neither \`open\` nor \`owner\` gives access to it.`,
    )
  owner.enter(thread)
  try {
    const fence = await owner.claim(thread)
    try {
      const log = await ThreadLog.open({ store, stream: thread, fence })
      await task(log)
      await log.close()
    } finally {
      await owner.release(thread, fence)
    }
  } finally {
    owner.leave(thread)
  }
}
