import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SqliteStore } from '@inspan/stores'
import { killAfterLine } from '../faults/killed-child-process.fixture.ts'
import { ThreadBench } from '../signals/thread-bench.fixture.ts'
import { builtinTools } from './builtin-tools.ts'

const CHILD = fileURLToPath(new URL('suspended-child.fixture.ts', import.meta.url))

test('questions, plans and requests survive kill -9 of the process that asked', { timeout: 120_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-suspended-'))
  t.after(() => rm(folder, { recursive: true }))
  const url = join(folder, 'data.db')
  assert.equal(await killAfterLine(CHILD, url), 'waiting 4')

  const switched: string[] = []
  await using bench = await ThreadBench.open({
    store: new SqliteStore({ url }),
    tools: (port) =>
      builtinTools({
        port,
        modes: { planTarget: () => 'build', switchMode: async (modeId) => void switched.push(modeId) },
      }),
    script: [{ text: 'I heard all of you.' }],
  })
  assert.deepEqual(
    bench.waits().map(({ kind, subject }) => `${subject.toolCallId} ${kind}`),
    ['c1 question', 'c2 question', 'c3 plan', 'c4 access'],
  )
  await bench.answer({ decision: 'answer', value: { action: 'approved' } }, 'c3')
  await bench.answer({ decision: 'answer', value: 'two' }, 'c2')
  await bench.answer({ decision: 'answer', value: 'yes' }, 'c4')
  await bench.answer({ decision: 'answer', value: 'one' }, 'c1')
  assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  assert.deepEqual(switched, ['build'])
  const results = ((await bench.results()) as { content: string }[]).map(({ content }) => content)
  assert.deepEqual(
    new Set(results.map((content) => content.slice(0, 19))),
    new Set(['User answered: one', 'User answered: two', 'The plan "Implement', 'Access to /there wa']),
  )
  assert.equal(bench.model.requests.length, 1)
})
