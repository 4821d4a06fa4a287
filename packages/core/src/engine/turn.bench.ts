/** A whole turn of streamed text through log and store, beside `streamText` reading the same scripted model. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nativeDriver } from '@evener/agent'
import type { Store } from '@evener/protocol'
import { compare, report, scriptedModel } from '@evener/testing'
import { streamText } from 'ai'
import { MemoryStore } from '../stores/memory-store.ts'
import { SqliteStore } from '../stores/sqlite-store.ts'
import { ProcessOwner } from './ownership.ts'
import { ThreadRuntime } from './thread-runtime.ts'
import { createThread } from './threads.ts'

const folder = mkdtempSync(join(tmpdir(), 'evener-bench-'))
const stores: Record<string, { store: Store; limit: number }> = {
  memory: { store: new MemoryStore(), limit: 0.2 },
  sqlite: { store: new SqliteStore({ url: join(folder, 'data.db') }), limit: 0.3 },
}

function script(deltas: number): { text: string[] }[] {
  return [{ text: Array.from({ length: deltas }, (_, i) => `word${i % 10} `) }]
}

async function bare(deltas: number): Promise<number> {
  const result = streamText({ model: scriptedModel(script(deltas)), prompt: 'Go.' })
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error
  return deltas
}

async function ours(store: Store, owner: ProcessOwner, deltas: number): Promise<number> {
  const { id } = await createThread(store, { resourceId: 'bench' })
  const driver = nativeDriver({ id: 'native', model: scriptedModel(script(deltas)) })
  const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents: { native: { driver } } })
  let length = 0
  runtime.onEntry((entry) => {
    if (entry.kind === 'delta') length += entry.state.messages.at(-1)?.parts.length ?? 0
  })
  await (
    await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
  ).done
  await runtime.close()
  if (length < deltas) throw new Error('deltas were lost')
  return deltas
}

for (const [name, { store, limit }] of Object.entries(stores)) {
  const owner = await ProcessOwner.register(store)
  for (const deltas of [1_000, 10_000]) {
    report(
      await compare({
        name: `turn of ${deltas} deltas, ${name}, beside streamText`,
        limit,
        floor: () => bare(deltas),
        ours: () => ours(store, owner, deltas),
        rounds: 20,
      }),
    )
  }
  await owner.close()
  await store.close()
}
rmSync(folder, { recursive: true })
