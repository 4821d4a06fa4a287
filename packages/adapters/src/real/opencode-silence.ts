import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { CancelReceipt } from '@evener/protocol'
import type { RealCli } from './bench.ts'
import { errorCodes, testSilentRetry } from './other-ways.ts'
import { isThere, ownBench } from './own-bench.ts'

/** It has asked the model by then, unless the machine is very busy. */
const DEADLINE_MS = 20_000
const TEST_MS = 10 * 60_000

/** What OpenCode and its kin do without a word, where other programs tell something. */
export function testSilence(cli: RealCli): void {
  it(
    'is stopped in the middle of a command it has not told of, and nothing is left running',
    { timeout: TEST_MS },
    async (t) => {
      const bench = await ownBench(t, cli, (place) => cli.scripts['endless-command']?.(place) ?? {})
      let receipt: CancelReceipt | undefined
      const { events } = await bench.turn({
        meanwhile: async (session, _notes, over) => {
          const started = join(bench.place.work, 'started.txt')
          while (!over.aborted && !(await isThere(started))) await pause(50)
          receipt = await session.cancel()
        },
      })
      assert.ok(receipt)
      assert.notEqual(receipt.how, 'gone')
      // Calls are told when they are over, so it is not known that one was open.
      assert.deepEqual(receipt.calls, [])
      const last = events.at(-1)
      assert.equal(last?.type === 'finish' && last.finishReason, 'other')
      assert.ok(!events.some(({ type }) => type === 'error'))
    },
  )

  for (const [how, script] of Object.entries({
    'is broken': { turns: [{ error: { status: 500, message: 'out of order' }, repeat: true as const }] },
    'cannot be reached': {},
  })) {
    it(`is ended by our deadline when the provider ${how}: it retries without end`, { timeout: TEST_MS }, async (t) => {
      const bench = await ownBench(t, cli, script)
      if (how === 'cannot be reached') await bench.provider.close()
      const { events } = await bench.turn({ options: { deadlineMs: DEADLINE_MS } })
      assert.deepEqual(errorCodes(events), ['deadline'])
      const last = events.at(-1)
      assert.equal(last?.type === 'finish' && last.finishReason, 'error')
    })
  }

  testSilentRetry(cli)
}
