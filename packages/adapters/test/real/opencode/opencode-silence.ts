import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CancelReceipt } from '@inspan/protocol/log'
import type { RealCli } from '../bench.ts'
import { errorCodes, testOwnWay, testSilentRetry } from '../other-ways.ts'
import { isThere, ownBench } from '../own-bench.ts'
import { idly } from '../side-by-side.ts'

/** Long enough to have asked the model, unless the machine is very busy. */
const DEADLINE_MS = 20_000
const WITHOUT_END = 'It retries silently and without end, until our deadline.'

/** Tests what OpenCode and programs built on it do silently where other CLIs report something. */
export function testSilence(cli: RealCli): void {
  testSilentRetry(cli)

  const broken = { turns: [{ error: { status: 500, message: 'out of order' }, repeat: true as const }] }
  testOwnWay(
    cli,
    'is ended by our deadline when the provider is broken: it retries without end',
    { cannot: 'provider-500', because: WITHOUT_END },
    async (t) => {
      const bench = await ownBench(t, cli, broken)
      const { events } = await idly(() => bench.turn({ options: { deadlineMs: DEADLINE_MS } }))
      assert.deepEqual(errorCodes(events), ['deadline'])
    },
  )

  testOwnWay(
    cli,
    'is ended by our deadline when the provider cannot be reached: it retries without end',
    { cannot: 'provider-gone', because: WITHOUT_END },
    async (t) => {
      const bench = await ownBench(t, cli, {})
      await bench.provider.close()
      const { events } = await idly(() => bench.turn({ options: { deadlineMs: DEADLINE_MS } }))
      assert.deepEqual(errorCodes(events), ['deadline'])
    },
  )
}

/** For CLIs that report a call only when it has ended. */
export function testStoppedUntold(cli: RealCli): void {
  testOwnWay(
    cli,
    'is stopped in the middle of a command it has not told of, and nothing is left running',
    { can: 'stop', but: 'It reports a call when it is over, so it is unknown which one was interrupted.' },
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
      assert.deepEqual(receipt.calls, [])
      const last = events.at(-1)
      assert.equal(last?.type === 'finish' && last.finishReason, 'other')
      assert.ok(!events.some(({ type }) => type === 'error'))
    },
  )
}
