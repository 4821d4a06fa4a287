import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { killAfterLine } from '../faults/killed-child-process.fixture.ts'
import { nextEvent } from '../harness.fixture.ts'
import { openHouse } from './killed-house.fixture.ts'

const CHILD = fileURLToPath(new URL('killed-parent.fixture.ts', import.meta.url))

test(
  'a parent killed with -9 while subagents work finds each again, once: they continue where they were',
  { timeout: 120_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-subagent-'))
    t.after(() => rm(folder, { recursive: true }))
    const [url, journal] = [join(folder, 'data.db'), join(folder, 'journal.txt')]
    assert.match(await killAfterLine(CHILD, url, journal), /working/)

    const { harness, parent, storage, worker } = openHouse(url, journal, {
      parent: [{ text: 'All done.', repeat: true }],
      worker: [{ text: 'Painted it.', repeat: true }],
    })
    try {
      const events: HarnessEvent[] = []
      harness.subscribe((event) => void events.push(event))
      const notified = nextEvent(harness, 'message_end', ({ message }) => JSON.stringify(message).includes('finished'))
      const over = nextEvent(harness, 'agent_end')
      await harness.selectOrCreateThread()
      assert.equal((await over).reason, 'complete')
      await notified
      assert.equal(await readFile(journal, 'utf8'), 'red\nred\nred\n', 'each painted once, with its request context')
      assert.equal(worker.calls, 3)
      for (const body of worker.requestBodies) assert.match(body, /painted/, 'it knows what it did before')
      const told = events.flatMap((event) =>
        event.type === 'subagent_start' || event.type === 'subagent_end' ? [`${event.type} ${event.toolCallId}`] : [],
      )
      const both = ['c1', 'c2', 'c3'].flatMap((id) => [`subagent_end ${id}`, `subagent_start ${id}`])
      assert.deepEqual(told.toSorted(), both.toSorted())
      // Two results and a notification, in this run or in the next.
      const heard = (): number => parent.requestBodies.at(-1)?.match(/Painted it\./g)?.length ?? 0
      while (heard() < 3) await setImmediate()
      assert.equal(heard(), 3)
      const { items } = await storage.listThreads({ limit: 10, includeHidden: true })
      assert.equal(items.filter((thread) => thread.parent !== undefined).length, 3)
    } finally {
      await harness.destroy()
      await storage.close()
    }
  },
)
