import type { Binding, RawSpool } from '@inspan/protocol/driver'
import { MAX_PAGE, type EraseResult, type Store } from '@inspan/protocol/store'
import type { ErasedContent } from './erased-content.ts'
import { messageOf } from '../../common/message-of.ts'

/** A copy of erased content that is not ours to clean or could not be cleaned, or something left on purpose. */
export type EraseRemainder =
  /** An agent's native session, which knows the content. */
  | { readonly kind: 'native-session'; readonly agentId: string; readonly nativeId: string }
  | { readonly kind: 'raw'; readonly runId: string; readonly reason: string }
  /** A fork whose copies could not be cleaned. */
  | { readonly kind: 'fork'; readonly threadId: string; readonly reason: string }
  /** Content shared with a living parent thread, which is still there. */
  | { readonly kind: 'parent'; readonly threadId: string; readonly to: number }
  /** Rules and settings made in the range, which stay in force. */
  | { readonly kind: 'configuration'; readonly keys: readonly string[] }
  /** Messages outside the range that quote it; they were not to be erased. */
  | { readonly kind: 'messages'; readonly threadId: string; readonly messageIds: readonly string[] }
  /** Commands that were accepted and are not carried out yet. */
  | { readonly kind: 'commands'; readonly count: number }

export interface EraseReport extends EraseResult {
  /** The range that was really erased: whole messages, and whole waits with their answers. */
  readonly from: number
  readonly to: number
  /** Runs whose raw output was removed as a whole: those of the range, and later ones, which knew the content. */
  readonly spools: readonly string[]
  /** Forks that had a share in the range and have no copy of it any more. */
  readonly forks: readonly string[]
  readonly isTitleCleared: boolean
  /** Whether memory made of the content was removed; it is made again from what is left. */
  readonly isMemoryCleared: boolean
  /** What still has the content, or may have it. Empty if nothing does. */
  readonly remains: readonly EraseRemainder[]
}

/** Sums up the results of an erasure over all threads it touches. */
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
      tally.noteRemainder({ kind: 'raw', runId, reason: messageOf(error) })
    }
  }
}
