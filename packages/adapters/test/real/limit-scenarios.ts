import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { NO_RULES } from '@inspan/protocol'
import type { CancelReceipt } from '@inspan/protocol/log'
import { isThere } from './own-bench.ts'
import { FILES, finishOf, type Scenario } from './scenario.ts'

/** What a CLI may not do, and how it is stopped. */
export const limitScenarios: readonly Scenario[] = [
  {
    name: 'touch',
    title: 'does not run commands that our rules deny',
    proves: 'rules',
    play: async (bench) => {
      const { events } = await bench.turn({ turn: { rules: { ...NO_RULES, categories: { execute: 'deny' } } } })
      assert.equal(await isThere(join(bench.place.work, 'touched.txt')), false)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'read-only',
    scriptOf: 'write',
    title: 'does not write where it may only read',
    proves: 'read-only',
    files: FILES,
    play: async (bench) => {
      const { events } = await bench.turn({ options: { permissions: 'read-only' } })
      assert.equal(await isThere(join(bench.place.work, 'new.txt')), false)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'write-outside',
    title: 'does not write outside of its directory where it may only edit',
    proves: 'edit-only',
    play: async (bench) => {
      const { events } = await bench.turn({ options: { permissions: 'edit' } })
      assert.equal(await isThere(join(bench.place.home, 'outside.txt')), false)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'endless-command',
    title: 'is stopped in the middle of a command, and nothing is left running',
    proves: 'stop',
    play: async (bench) => {
      let receipt: CancelReceipt | undefined
      const { events } = await bench.turn({
        meanwhile: async (session, { order }, over) => {
          const started = join(bench.place.work, 'started.txt')
          while (!over.aborted && !(order.includes('tool-call') && (await isThere(started)))) await pause(50)
          receipt = await session.cancel()
        },
      })
      assert.ok(receipt)
      assert.equal(receipt.calls.length, 1)
      assert.notEqual(receipt.how, 'gone')
      assert.equal(finishOf(events).finishReason, 'other')
      assert.ok(!events.some(({ type }) => type === 'error'))
    },
  },
]
