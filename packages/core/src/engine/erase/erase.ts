import { InspanError } from '@inspan/protocol'
import type { RawSpool } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { copiesBefore, copiesIn, quotes, type Copies } from './erased-copies.ts'
import { eraseForks, type ForkAccess } from './erase-forks.ts'
import { extendRange } from './erase-range.ts'
import { EraseTally, removeSpools, type EraseReport } from './erase-report.ts'
import { taskTexts, type ErasedContent } from './erased-content.ts'
import { sharedStretches, wholeStream } from './shared-stretches.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import type { FilesPort } from '../thread-options.ts'
import { rewindThread, stateAt } from '../threads/threads.ts'

export interface EraseOptions extends ForkAccess {
  readonly from: number
  readonly to: number
  readonly reason?: string
  /** The raw spool, if there is one. */
  readonly spool?: RawSpool
  /** Where the files of the thread are kept, if they are. */
  readonly files?: Pick<FilesPort, 'forget'>
}

/**
 * Erases a range of the thread: in its records, views, head, blobs and raw output, and in what was written elsewhere
 * because of it: titles, later lists of tasks, goals and notifications, memory, and all of this in forks of the thread.
 * Records that it was done, and marks native sessions that know the content as stale. A fork erases what it shares with
 * a deleted thread; what it shares with a living thread, that thread has to erase.
 */
export async function eraseRange(store: Store, log: ThreadLog, options: EraseOptions): Promise<EraseReport> {
  checkRange(log, options)
  const { from, to } = options
  const shared = await sharedStretches(store, log.stream)
  const living = shared.find((stretch) => !stretch.isDeleted && stretch.from <= to && stretch.to >= from)
  if (living !== undefined) throw notOurs(log.stream, options, living)
  const own = { from: Math.max(from, (shared.at(-1)?.to ?? 0) + 1), to }
  const left = shared.map((stretch) => ({
    stream: stretch.stream,
    from: Math.max(from, stretch.from),
    to: Math.min(to, stretch.to),
  }))
  return eraseAll(
    store,
    log,
    options,
    [...left, { stream: log.stream, ...own }].filter((range) => range.from <= range.to),
  )
}

/** Rewinds the thread to its start and erases everything said in it. Its rules and settings stay. */
export async function clearHistory(
  store: Store,
  log: ThreadLog,
  options: Omit<EraseOptions, 'from' | 'to'> = {},
): Promise<EraseReport> {
  await rewindThread(store, log, 0)
  const shared = await sharedStretches(store, log.stream)
  const own = { stream: log.stream, from: (shared.at(-1)?.to ?? 0) + 1, to: log.state.head.seq }
  const report = await eraseAll(store, log, options, [...shared.filter(({ isDeleted }) => isDeleted), own])
  // What a fork shares with a living thread has to be erased there.
  const remains = shared
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ stream, to }) => ({ kind: 'parent' as const, threadId: stream, to }))
  return { ...report, remains: [...report.remains, ...remains] }
}

type StreamRange = { readonly stream: string; readonly from: number; readonly to: number }

async function eraseAll(
  store: Store,
  log: ThreadLog,
  options: Omit<EraseOptions, 'from' | 'to'>,
  ranges: readonly StreamRange[],
): Promise<EraseReport> {
  const { om } = log.state.head
  const title = await titleOf(store, log)
  await log.flush()
  const tally = new EraseTally()
  const done: StreamRange[] = []
  for (const range of ranges) {
    const erase = range.stream === log.stream ? eraseOwn : eraseLeft
    done.push(await erase(store, log, { ...options, ...range }, tally))
  }
  return {
    ...tally.report(),
    from: Math.min(...done.map(({ from }) => from)),
    to: Math.max(...done.map(({ to }) => to)),
    isTitleCleared: title !== null && (await titleOf(store, log)) === null,
    isMemoryCleared: om !== null && log.state.head.om === null,
  }
}

/** Erases a range of the thread's own stream. */
async function eraseOwn(store: Store, log: ThreadLog, options: EraseOptions, tally: EraseTally): Promise<StreamRange> {
  const { stream } = log
  const { from, to, content, before, after } = await copiesOf(store, stream, options)
  const { head } = log.state
  const title = await titleOf(store, log)
  const isTitleCleared =
    title !== null &&
    ((head.titleAt >= from && head.titleAt <= to) || after.seqs.includes(head.titleAt) || quotes(content, title))
  const titles = new Set([...after.titles, ...(isTitleCleared ? [title] : [])])
  // Forks first, while copies can still be recognised: an erasure that was cut short is simply repeated.
  await eraseForks(store, { ...options, stream, from, to, content, titles }, tally)
  // Before `store.erase`, in which the store cleans its files once.
  if (isTitleCleared) await log.commit([{ type: 'config.changed', title: null }], {}, { thread: { title: null } })
  await removeSpools(options.spool, stream, [...content.runs, ...after.runs], tally)
  await options.files?.forget?.(stream, { from, to })
  const points = [...before, ...after.seqs].map((seq) => ({ from: seq, to: seq }))
  tally.count(await store.erase(stream, log.fence, ...points, { from, to }))
  const reason = options.reason === undefined ? {} : { reason: options.reason }
  await log.commit([{ from, to }, ...points].map((range): RecordBody => ({ type: 'erased', ...range, ...reason })))
  tally.noteBindings(log.state.head.bindings)
  tally.noteQuotes(stream, after.quotedIn)
  await tally.noteKept(store, stream, content)
  return { stream, from, to }
}

/** Erases a range of a deleted thread's stream. It has no log, so its forks record it, this thread included. */
async function eraseLeft(
  store: Store,
  log: ThreadLog,
  options: EraseOptions & StreamRange,
  tally: EraseTally,
): Promise<StreamRange> {
  const { stream } = options
  const { from, to, content, before, after } = await copiesOf(store, stream, options)
  const titles = new Set(after.titles)
  await eraseForks(store, { ...options, stream, from, to, content, titles, held: log }, tally)
  await removeSpools(options.spool, stream, [...content.runs, ...after.runs], tally)
  await options.files?.forget?.(stream, { from, to })
  const points = [...before, ...after.seqs].map((seq) => ({ from: seq, to: seq }))
  tally.count(await store.erase(stream, log.fence, ...points, { from, to }))
  tally.noteQuotes(log.stream, after.quotedIn)
  await tally.noteKept(store, log.stream, content)
  return { stream, from, to }
}

interface FoundContent {
  readonly from: number
  readonly to: number
  readonly content: ErasedContent
  readonly before: readonly number[]
  readonly after: Copies
}

async function copiesOf(store: Store, stream: string, range: { from: number; to: number }): Promise<FoundContent> {
  const { from, to, content } = await extendRange(store, stream, range)
  await forgetOldTasks(store, stream, content)
  const before = await copiesBefore(store, stream, content)
  return { from, to, content, before, after: await copiesIn(store, stream, content, to) }
}

async function titleOf(store: Store, log: ThreadLog): Promise<string | null> {
  return log.state.head.title ?? (await store.getThread(log.stream))?.title ?? null
}

function checkRange(log: ThreadLog, { from, to }: EraseOptions): void {
  const { head } = log.state
  if (head.run !== null) {
    throw new InspanError('misuse', `Thread ${log.stream} cannot be erased while run ${head.run.runId} is open.`, {
      hint: 'Abort the run first.',
    })
  }
  if (!(from >= 1 && from <= to && to <= head.seq)) {
    throw new InspanError('invalid-input', `${from}–${to} is not a range of 1–${head.seq}.`)
  }
}

function notOurs(thread: string, { from, to }: EraseOptions, living: StreamRange): InspanError {
  const first = living.to + 1
  return new InspanError('invalid-input', `${from}–${to} reaches into what ${thread} shares with ${living.stream}.`, {
    hint: `Erase ${living.from}–${living.to} in thread ${living.stream}; what is not that thread's begins at ${first}.`,
    details: { parent: living.stream, first },
  })
}

/** Removes task texts from before the range, which are not to be erased. */
async function forgetOldTasks(store: Store, stream: string, content: ErasedContent): Promise<void> {
  if (content.tasks.size === 0) return
  const { tasks } = await stateAt(store, wholeStream(stream), content.from - 1)
  for (const text of taskTexts(tasks)) content.tasks.delete(text)
}
