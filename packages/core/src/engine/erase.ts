import {
  EvenerError,
  type EraseResult,
  type LogRecord,
  type RawSpool,
  rootLineage,
  type RecordBody,
  type Store,
} from '@evener/protocol'
import { wordsOf, type ErasedContent } from './erased-content.ts'
import { extendRange } from './erase-range.ts'
import type { ThreadLog } from './thread-log.ts'
import { rewindThread } from './threads.ts'

export interface EraseOptions {
  readonly from: number
  readonly to: number
  readonly reason?: string
  /** Where the raw output of runs is kept, if it is. */
  readonly spool?: RawSpool
}

/** A copy of what was erased that is not ours to clean, or could not be cleaned. */
export type EraseRemainder =
  | { readonly kind: 'native-session'; readonly agentId: string; readonly nativeId: string }
  | { readonly kind: 'memory'; readonly generation: number }
  | { readonly kind: 'raw'; readonly runId: string; readonly reason: string }

export interface EraseReport extends EraseResult {
  /** What was really erased: whole messages, and whole waits with their answers. */
  readonly from: number
  readonly to: number
  /** Runs whose raw output was removed. A run's output goes as a whole. */
  readonly spools: readonly string[]
  readonly isTitleCleared: boolean
  /** What still knows of it. Empty when nothing does. */
  readonly remains: readonly EraseRemainder[]
}

/**
 * Overwrites what was said in a range of the thread: in its records, views, head, blobs and raw output, and in the title
 * if that was made from it. That it was done is recorded, and agents' own sessions are marked as knowing too much.
 */
export async function eraseRange(store: Store, log: ThreadLog, options: EraseOptions): Promise<EraseReport> {
  const { head } = log.state
  if (head.run !== null) {
    throw new EvenerError('misuse', `Thread ${log.stream} cannot be erased while run ${head.run.runId} is open.`, {
      hint: 'Abort the run first.',
    })
  }
  if (!(options.from >= 1 && options.from <= options.to && options.to <= head.seq)) {
    throw new EvenerError('invalid-input', `${options.from}–${options.to} is not a range of 1–${head.seq}.`)
  }
  await log.flush()
  const { from, to, content } = await extendRange(store, log.stream, options)
  const titles = await titlesMadeFrom(store, log, content, to)
  const title = head.title ?? (await store.getThread(log.stream))?.title ?? null
  const isTitleCleared =
    title !== null &&
    ((head.titleAt >= from && head.titleAt <= to) || titles.includes(head.titleAt) || quotes(content, title))
  // Before the rest: the store cleans its files once, when it erases.
  if (isTitleCleared) await log.commit([{ type: 'config.changed', title: null }], {}, { thread: { title: null } })
  const { spools, failures } = await removeSpools(options.spool, log.stream, content.runs)
  const ranges = [{ from, to }, ...titles.map((seq) => ({ from: seq, to: seq }))]
  const done = { records: 0, messages: 0, blobs: 0 }
  for (const range of ranges) {
    const { records, messages, blobs } = await store.erase(log.stream, log.fence, range)
    done.records += records
    done.messages += messages
    done.blobs += blobs
  }
  const reason = options.reason === undefined ? {} : { reason: options.reason }
  const bodies = ranges.map((range): RecordBody => ({ type: 'erased', ...range, ...reason }))
  await log.commit(bodies)
  return {
    ...done,
    from,
    to,
    spools,
    isTitleCleared,
    remains: [
      ...Object.values(log.state.head.bindings)
        .filter((binding) => binding.stale === 'erased')
        .map(({ agentId, nativeId }) => ({ kind: 'native-session', agentId, nativeId }) as const),
      ...(head.om !== null && head.om.coversTo >= from
        ? [{ kind: 'memory', generation: head.om.generation } as const]
        : []),
      ...failures,
    ],
  }
}

/** Back to the start, and nothing of what was said is left: the thread is as new, with its rules and settings. */
export async function clearHistory(
  store: Store,
  log: ThreadLog,
  options: Pick<EraseOptions, 'reason' | 'spool'> = {},
): Promise<EraseReport> {
  const info = await store.getThread(log.stream)
  await rewindThread(store, log, 0)
  // What a fork shares with its parent is the parent's to erase.
  return eraseRange(store, log, { ...options, from: (info?.forkedFrom?.at ?? 0) + 1, to: log.state.head.seq })
}

/** Where titles were given later that quote the erased words, or that came out of the erased runs. */
async function titlesMadeFrom(store: Store, log: ThreadLog, content: ErasedContent, after: number): Promise<number[]> {
  const seqs: number[] = []
  for (let upTo = log.state.head.seq; ;) {
    const record: LogRecord | null = await store.latestRecord(rootLineage(log.stream), 'config.changed', upTo)
    if (record === null || record.seq <= after) return seqs
    const { body, run, seq } = record
    if (body.type === 'config.changed' && typeof body.title === 'string') {
      if (quotes(content, body.title) || (run !== undefined && content.runs.has(run))) seqs.push(seq)
    }
    upTo = seq - 1
  }
}

function quotes(content: ErasedContent, title: string): boolean {
  const words = wordsOf(title)
  return words !== '' && content.texts.some((text) => text.includes(words))
}

async function removeSpools(
  spool: RawSpool | undefined,
  threadId: string,
  runs: ReadonlySet<string>,
): Promise<{ spools: string[]; failures: EraseRemainder[] }> {
  const spools: string[] = []
  const failures: EraseRemainder[] = []
  for (const runId of spool === undefined ? [] : runs) {
    try {
      if ((await spool?.remove({ threadId, runId })) === true) spools.push(runId)
    } catch (error) {
      failures.push({ kind: 'raw', runId, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { spools, failures }
}
