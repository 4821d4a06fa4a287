import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import { z } from 'zod'
import { HarnessBench } from '../harness.fixture.ts'

const schema = z.object({ name: z.string(), age: z.number().int() })
const ANN = { name: 'Ann', age: 7 }

test('an answer as data is emitted with the end of its run, and can be read afterwards, also after a restart', async () => {
  const storage = new MemoryStore()
  const bench = new HarnessBench([{ text: JSON.stringify(ANN) }], { storage }, { output: { schema, repairs: 0 } })
  assert.equal(bench.harness.session.run.getOutput(), undefined)
  await bench.harness.sendMessage({ content: 'Who is it?' })
  assert.deepEqual(bench.all('agent_end'), [{ type: 'agent_end', reason: 'complete', output: ANN }])
  assert.deepEqual(bench.harness.session.run.getOutput(), ANN)
  await bench.harness.destroy()

  await using again = new HarnessBench([{ text: 'Nothing.' }], { storage }, { output: { schema, repairs: 0 } })
  await again.harness.selectOrCreateThread()
  assert.deepEqual(again.harness.session.run.getOutput(), ANN)
  await again.harness.sendMessage({ content: 'And now?' })
  assert.deepEqual(again.all('agent_end'), [{ type: 'agent_end', reason: 'error' }])
  assert.equal(again.harness.session.run.getOutput(), undefined)
})
