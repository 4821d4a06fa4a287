import { EvenerError, type RawSpool, type RecordBody, type Store } from '@evener/protocol'
import { copiesBefore, copiesIn, quotes } from './erased-copies.ts'
import { eraseForks, type ForkAccess } from './erase-forks.ts'
import { extendRange } from './erase-range.ts'
import { EraseTally, removeSpools, type EraseReport } from './erase-report.ts'
import { taskTexts, type ErasedContent } from './erased-content.ts'
import type { ThreadLog } from './thread-log.ts'
import { rewindThread, stateAt } from './threads.ts'

export interface EraseOptions extends ForkAccess {
  readonly from: number
  readonly to: number
  readonly reason?: string
  /** Where the raw output of runs is kept, if it is. */
  readonly spool?: RawSpool
}

/**
 * Overwrites what was said in a range of the thread: in its records, views, head, blobs and raw output, and what was
 * written down elsewhere because of it: titles, later lists of tasks, goals and notifications, memory, and all of this in
 * the threads that were forked from it. That it was done is recorded, and agents' own sessions are marked as knowing too
 * much.
 */
export async function eraseRange(store: Store, log: ThreadLog, options: EraseOptions): Promise<EraseReport> {
  const { head } = log.state
  const info = await store.getThread(log.stream)
  checkRange(log, options, info?.forkedFrom)
  await log.flush()
  const { from, to, content } = await extendRange(store, log.stream, options)
  await forgetOldTasks(store, log.stream, content)
  const before = await copiesBefore(store, log.stream, content)
  const { quotedIn, runs, seqs, titles } = await copiesIn(store, log.stream, content, to)
  const title = head.title ?? info?.title ?? null
  const isTitleCleared =
    title !== null &&
    ((head.titleAt >= from && head.titleAt <= to) || seqs.includes(head.titleAt) || quotes(content, title))
  const cleared = new Set([...titles, ...(isTitleCleared ? [title] : [])])
  const tally = new EraseTally()
  // First, while it can still be seen what is a copy: an erasure that was cut short is simply started again.
  await eraseForks(store, { ...options, stream: log.stream, from, to, content, titles: cleared }, tally)
  // Before the rest: the store cleans its files once, when it erases.
  if (isTitleCleared) await log.commit([{ type: 'config.changed', title: null }], {}, { thread: { title: null } })
  await removeSpools(options.spool, log.stream, [...content.runs, ...runs], tally)
  const points = [...before, ...seqs].map((seq) => ({ from: seq, to: seq }))
  tally.count(await store.erase(log.stream, log.fence, ...points, { from, to }))
  const reason = options.reason === undefined ? {} : { reason: options.reason }
  await log.commit([{ from, to }, ...points].map((range): RecordBody => ({ type: 'erased', ...range, ...reason })))
  tally.noteBindings(log.state.head.bindings)
  tally.noteQuotes(log.stream, quotedIn)
  await tally.noteKept(store, log.stream, content)
  return {
    ...tally.report(),
    from,
    to,
    isTitleCleared,
    isMemoryCleared: head.om !== null && log.state.head.om === null,
  }
}

/** Back to the start, and nothing of what was said is left: the thread is as new, with its rules and settings. */
export async function clearHistory(
  store: Store,
  log: ThreadLog,
  options: Omit<EraseOptions, 'from' | 'to'> = {},
): Promise<EraseReport> {
  const { forkedFrom } = (await store.getThread(log.stream)) ?? {}
  await rewindThread(store, log, 0)
  const at = forkedFrom?.at ?? 0
  const report = await eraseRange(store, log, { ...options, from: at + 1, to: log.state.head.seq })
  // What a fork shares with its parent is the parent's to erase.
  if (forkedFrom === undefined || at === 0) return report
  return { ...report, remains: [...report.remains, { kind: 'parent', threadId: forkedFrom.thread, to: at }] }
}

function checkRange(
  log: ThreadLog,
  { from, to }: EraseOptions,
  forkedFrom: { readonly thread: string; readonly at: number } | undefined,
): void {
  const { head } = log.state
  if (head.run !== null) {
    throw new EvenerError('misuse', `Thread ${log.stream} cannot be erased while run ${head.run.runId} is open.`, {
      hint: 'Abort the run first.',
    })
  }
  if (!(from >= 1 && from <= to && to <= head.seq)) {
    throw new EvenerError('invalid-input', `${from}–${to} is not a range of 1–${head.seq}.`)
  }
  if (forkedFrom !== undefined && from <= forkedFrom.at) {
    throw new EvenerError('invalid-input', `${from}–${to} reaches into what ${log.stream} shares with its parent.`, {
      hint: `Erase up to ${forkedFrom.at} in thread ${forkedFrom.thread}; what is this thread's own begins at ${forkedFrom.at + 1}.`,
      details: { parent: forkedFrom.thread, first: forkedFrom.at + 1 },
    })
  }
}

/** What the tasks said before the range is not what is erased. */
async function forgetOldTasks(store: Store, stream: string, content: ErasedContent): Promise<void> {
  if (content.tasks.size === 0) return
  const { tasks } = await stateAt(store, [{ stream, from: 1, to: null }], content.from - 1)
  for (const text of taskTexts(tasks)) content.tasks.delete(text)
}
