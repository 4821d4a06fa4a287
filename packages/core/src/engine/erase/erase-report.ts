import { MAX_PAGE, type Binding, type EraseResult, type RawSpool, type Store } from '@evener/protocol'
import type { ErasedContent } from './erased-content.ts'

/** A copy of what was erased that is not ours to clean or could not be cleaned, or what was left on purpose. */
export type EraseRemainder =
  /** An agent's own session, which was told. */
  | { readonly kind: 'native-session'; readonly agentId: string; readonly nativeId: string }
  | { readonly kind: 'raw'; readonly runId: string; readonly reason: string }
  /** A thread that goes on from what was erased and could not be cleaned of its copies. */
  | { readonly kind: 'fork'; readonly threadId: string; readonly reason: string }
  /** What a fork shares with a living thread it came from is there still. */
  | { readonly kind: 'parent'; readonly threadId: string; readonly to: number }
  /** Rules and settings that were made in the range: they hold on. */
  | { readonly kind: 'configuration'; readonly keys: readonly string[] }
  /** Messages outside the range in which somebody quotes it: they were not to be erased. */
  | { readonly kind: 'messages'; readonly threadId: string; readonly messageIds: readonly string[] }
  /** What was sent and is not carried out yet. */
  | { readonly kind: 'commands'; readonly count: number }

export interface EraseReport extends EraseResult {
  /** What was really erased: whole messages, and whole waits with their answers. */
  readonly from: number
  readonly to: number
  /** Runs whose raw output was removed: those of the range, and later ones, which were told. A run's goes as a whole. */
  readonly spools: readonly string[]
  /** Threads that go on from what was erased, and have no copy of it any more. */
  readonly forks: readonly string[]
  readonly isTitleCleared: boolean
  /** Memory had been made of it and is gone; it will be made anew of what is left. */
  readonly isMemoryCleared: boolean
  /** What still knows of it, or may. Empty when nothing does. */
  readonly remains: readonly EraseRemainder[]
}

/** Adds up what an erasure comes to, over all the threads it has to look at. */
export class EraseTally {
  readonly #total = { records: 0, messages: 0, blobs: 0 }
  readonly #spools: string[] = []
  readonly #forks: string[] = []
  readonly #natives = new Map<string, EraseRemainder>()
  readonly #remains: EraseRemainder[] = []

  count({ records, messages, blobs }: EraseResult): void {
    this.#total.records += records
    this.#total.messages += messages
    this.#total.blobs += blobs
  }

  noteSpool(runId: string): void {
    this.#spools.push(runId)
  }

  noteFork(threadId: string): void {
    this.#forks.push(threadId)
  }

  noteBindings(bindings: Iterable<Binding>): void {
    for (const { agentId, nativeId, stale } of bindings) {
      if (stale !== 'erased') continue
      this.#natives.set(`${agentId}/${nativeId}`, { kind: 'native-session', agentId, nativeId })
    }
  }

  noteQuotes(threadId: string, messageIds: ReadonlySet<string>): void {
    if (messageIds.size > 0) this.noteRemainder({ kind: 'messages', threadId, messageIds: [...messageIds] })
  }

  noteRemainder(remainder: EraseRemainder): void {
    this.#remains.push(remainder)
  }

  async noteKept(store: Store, stream: string, content: ErasedContent): Promise<void> {
    if (content.kept.size > 0) this.noteRemainder({ kind: 'configuration', keys: [...content.kept].sort() })
    const { items } = await store.listCommands({ target: stream, state: 'accepted', limit: MAX_PAGE })
    if (items.length > 0) this.noteRemainder({ kind: 'commands', count: items.length })
  }

  report(): Pick<EraseReport, 'records' | 'messages' | 'blobs' | 'spools' | 'forks' | 'remains'> {
    return {
      ...this.#total,
      spools: this.#spools,
      forks: this.#forks,
      remains: [...this.#natives.values(), ...this.#remains],
    }
  }
}

export async function removeSpools(
  spool: RawSpool | undefined,
  threadId: string,
  runs: readonly string[],
  tally: EraseTally,
): Promise<void> {
  if (spool === undefined) return
  for (const runId of new Set(runs)) {
    try {
      if (await spool.remove({ threadId, runId })) tally.noteSpool(runId)
    } catch (error) {
      tally.noteRemainder({ kind: 'raw', runId, reason: error instanceof Error ? error.message : String(error) })
    }
  }
}
