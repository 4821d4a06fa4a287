import type { Store } from '@inspan/protocol/store'
import type { ThreadRuntime } from '../../engine/thread-runtime.ts'

const byStore = new WeakMap<Store, Map<string, Set<ThreadRuntime>>>()

/**
 * Passes on what happens in the thread to other harnesses of this process that have it open on the same store. Returns
 * a function that ends it.
 */
export function tellOtherHarnesses(store: Store, threadId: string, runtime: ThreadRuntime): () => void {
  const threads = byStore.get(store) ?? new Map<string, Set<ThreadRuntime>>()
  byStore.set(store, threads)
  const all = threads.get(threadId) ?? new Set<ThreadRuntime>()
  threads.set(threadId, all)
  all.add(runtime)
  const stopEntries = runtime.onEntry((entry) => {
    if (all.size === 1 || entry.mirrored === true) return
    for (const other of all) if (other !== runtime) other.mirror(entry)
  })
  const stopFrames = runtime.onFrame((frame) => {
    if (all.size > 1) for (const other of all) if (other !== runtime) other.mirrorFrame(frame)
  })
  const stopLosses = runtime.onLost(({ onDisk }) => {
    for (const other of all) if (other !== runtime) other.mirrorLoss(onDisk)
  })
  return () => {
    stopLosses()
    stopEntries()
    stopFrames()
    all.delete(runtime)
    if (all.size === 0) threads.delete(threadId)
  }
}

/** Returns the runtimes of the thread in all harnesses of this process that share the store. */
export function openInAll(store: Store, threadId: string): readonly ThreadRuntime[] {
  return [...(byStore.get(store)?.get(threadId) ?? [])]
}
