import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nativeDriver } from '@inspan/agent'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

/** Returns a script with one answer of this many deltas. */
export function answerOf(deltas: number): { text: string[] }[] {
  return [{ text: Array.from({ length: deltas }, (_, i) => `word${i % 10} `) }]
}

export interface OwnedStore extends AsyncDisposable {
  readonly store: Store
  readonly owner: ProcessOwner
}

export async function memoryPlace(): Promise<OwnedStore> {
  const store = new MemoryStore()
  const owner = await ProcessOwner.register(store)
  return { store, owner, [Symbol.asyncDispose]: () => owner.close() }
}

export async function sqlitePlace(): Promise<OwnedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'inspan-bench-'))
  const store = new SqliteStore({ url: join(folder, 'data.db') })
  const owner = await ProcessOwner.register(store)
  return {
    store,
    owner,
    async [Symbol.asyncDispose]() {
      await owner.close()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** An open thread whose agent gives one answer with a given number of deltas. */
export interface ReadyThread {
  readonly runtime: ThreadRuntime
  /** A whole turn, with a listener that looks at the message after every delta. */
  turn(): Promise<void>
}

export async function readyThread({ store, owner }: OwnedStore, deltas: number): Promise<ReadyThread> {
  const { id } = await createThread(store, { resourceId: 'bench' })
  const driver = nativeDriver({ id: 'native', model: scriptedModel(answerOf(deltas)) })
  const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents: { native: { driver } } })
  let seen = 0
  runtime.onEntry((entry) => {
    if (entry.kind === 'delta') seen += entry.state.messages.at(-1)?.parts.length ?? 0
  })
  return {
    runtime,
    async turn() {
      const parts = [{ id: '0', type: 'text', text: 'Go.' }] as const
      await (
        await runtime.submit({ agentId: 'native', parts })
      ).done
      if (seen < deltas) throw new Error('deltas were lost')
    },
  }
}
