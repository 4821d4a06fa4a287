import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { uuidV7 } from './commands/uuid.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

const page = readFileSync(new URL('../../../docs/guide/server.md', import.meta.url), 'utf8')

/** Ids in the page stand for those of a real conversation, the same one wherever they appear. */
const ID = /^(?:[a-z]\d|0199…)$/

/** Whether a message holds everything that is printed. What the page leaves out is marked by "…". */
function covers(printed: unknown, real: unknown, ids: Map<string, unknown>): boolean {
  if (typeof printed === 'string' && ID.test(printed)) {
    if (!ids.has(printed)) ids.set(printed, real)
    return typeof real === 'string' && ids.get(printed) === real
  }
  // Where a record lies in the log differs from one conversation to the next.
  if (typeof printed === 'number' && printed !== 1) return typeof real === 'number'
  if (typeof printed !== 'object' || printed === null) return printed === real
  if (typeof real !== 'object' || real === null || Array.isArray(printed) !== Array.isArray(real)) return false
  return Object.entries(printed).every(
    ([key, value]) => Object.hasOwn(real, key) && covers(value, (real as Record<string, unknown>)[key], ids),
  )
}

it('the conversation in the page is one that a client and a server have', { timeout: 60_000 }, async () => {
  const [, block = ''] = /A conversation:\n\n```\n([\s\S]*?)```/.exec(page) ?? []
  const lines = block.trim().split('\n')
  assert.ok(lines.length >= 7)
  const script = [{ text: ['Hel', 'lo', '!'], delayMs: 100, delayPerDeltaMs: 100 }]
  await using bench = await ServerBench.start(script)
  const client = await new WireClient(bench.url, bench.token).opened()
  const ids = new Map<string, unknown>([
    ['c1', 'c1'],
    ['0199…', uuidV7()],
  ])
  for (const line of lines) {
    const text = line.slice(2).replaceAll(/,?…(?=[\]}])/g, '')
    if (line.startsWith('→ ')) {
      client.send(JSON.parse(text, (_key, value: unknown) => ids.get(value as string) ?? value) as object)
      continue
    }
    assert.ok(line.startsWith('← '), line)
    const printed = JSON.parse(text) as { readonly type: string }
    for (;;) {
      const real = await client.take()
      if (covers(printed, real, ids)) break
      // Only deltas are left out: how many there are depends on the time between them.
      assert.deepEqual([printed.type === 'delta', real.type], [true, 'delta'], `${line}\n${JSON.stringify(real)}`)
    }
  }
  await client.close()
})
