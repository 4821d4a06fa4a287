import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemoryThread } from '@inspan/protocol/driver'
import { isShownOnly, type StoredMessage } from '@inspan/protocol'
import * as fc from 'fast-check'
import { AgentBench } from '../agent-bench.fixture.ts'
import { rewindThread } from '../threads/threads.ts'
import { requestPrefix } from './request-prefix.ts'
import type { MemoryOf } from './thread-context.ts'

const WINDOW = 3000
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(20)

type Act = 'say' | 'say much' | 'observe' | 'compact' | 'race' | 'rewind' | 'fork' | 'restart'

/** Lets the test act as the memory of the thread. */
function held(): { of: () => MemoryThread; memory: MemoryOf } {
  let thread: MemoryThread | undefined
  return {
    of: () => thread ?? assert.fail('no thread'),
    memory: (given) => {
      thread = given
      return { tools: [], beforeStep: async () => undefined, compact: async () => false, close: () => undefined }
    },
  }
}

/** Reads the whole thread by numbers, as the tool `recall` does. */
async function readAll(thread: MemoryThread): Promise<StoredMessage[]> {
  const all: StoredMessage[] = []
  for (;;) {
    const page = await thread.read((all.at(-1)?.order ?? -1) + 1, 7)
    if (page.length === 0) return all
    all.push(...page)
  }
}

test('every message is in the context as it is, covered by a summary, or reachable by recall', async () => {
  const acts = fc.array(
    fc.constantFrom<Act>('say', 'say', 'say much', 'observe', 'compact', 'race', 'rewind', 'fork', 'restart'),
    { minLength: 1, maxLength: 14 },
  )
  await fc.assert(
    fc.asyncProperty(acts, fc.infiniteStream(fc.nat()), async (plan, numbers) => {
      const next = (): number => Number(numbers.next().value)
      const { memory, of } = held()
      await using bench = await AgentBench.open([{ text: 'Noted.', repeat: true }], {
        model: { contextWindow: WINDOW },
        runtime: { windowOf: () => WINDOW, memory },
      })
      for (const act of plan) {
        await perform(act, bench, of, next)
        await check(bench, of())
      }
    }),
    { numRuns: 40 },
  )
})

async function perform(act: Act, bench: AgentBench, of: () => MemoryThread, next: () => number): Promise<void> {
  const messages = await of().messages()
  const target = messages[next() % Math.max(1, messages.length)]
  const basis = of().basis()
  const content = { text: '<observations>\n- x\n</observations>', state: {} }
  switch (act) {
    case 'say':
      return void (await bench.play(`Hi ${next()}`))
    case 'say much':
      return void (await bench.play(LONG.repeat(1 + (next() % 12))))
    case 'observe':
      if (target !== undefined) assert.equal(await of().observe(content, target.order, basis), true)
      return
    case 'compact':
      if (target !== undefined)
        assert.equal(await of().compact('Short.', { coversTo: target.order }, [9, 1], basis), true)
      return
    case 'race':
      // Of two that started from one generation, one counts and the other changes nothing and is told so.
      if (target === undefined) return
      const both = [
        of().observe(content, target.order, basis),
        of().compact('S.', { coversTo: target.order }, [9, 1], basis),
      ]
      assert.equal((await Promise.all(both)).filter(Boolean).length, 1)
      assert.equal(of().basis().generation, basis.generation + 1)
      return
    case 'rewind': {
      const all = await readAll(of())
      const to = all[next() % Math.max(1, all.length)]
      if (to === undefined || to.role !== 'user') return
      await bench.runtime.change((log) => rewindThread(bench.store, log, to.order)).catch(() => undefined)
      return
    }
    case 'fork':
      return bench.fork(target?.order ?? bench.runtime.state.head.seq)
    case 'restart':
      await bench.restart()
  }
}

async function check(bench: AgentBench, thread: MemoryThread): Promise<void> {
  const stored: StoredMessage[] = []
  let cursor: string | null = null
  do {
    const more: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await bench.store.listMessages(bench.runtime.state.head.lineage, {
      order: 'oldest',
      limit: 50,
      ...more,
    })
    stored.push(...page.items)
    cursor = page.next
  } while (cursor !== null)
  const raw = new Set((await thread.messages()).map(({ id }) => id))
  const pointer = thread.pointer()
  const recalled = new Map((await readAll(thread)).map((message) => [message.id, message]))
  for (const message of stored) {
    const isCovered = pointer !== null && message.order <= pointer.coversTo
    if (isShownOnly(message)) assert.ok(!raw.has(message.id), `${message.id} is for people only`)
    else
      assert.ok(raw.has(message.id) !== isCovered, `${message.id} is either raw or covered, never both, never neither`)
    // What is covered by a cut is in no observation: then only this reaches it.
    assert.deepEqual(recalled.get(message.id)?.parts, message.parts, `${message.id} is reachable`)
  }
  assert.equal(recalled.size, stored.length)
  const { head } = bench.runtime.state
  const prefix = await requestPrefix(bench.store, head.lineage, head.seq)
  if (prefix !== null) assert.ok(prefix.messages.length > 0)
}
