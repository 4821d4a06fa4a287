import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { nextEvent } from '../harness.fixture.ts'
import { openHouse } from './killed-house.fixture.ts'

const CHILD = fileURLToPath(new URL('killed-parent.fixture.ts', import.meta.url))

test(
  'a subagent at work survives kill -9: the same call finds it, it goes on where it was and nothing is done twice',
  { timeout: 120_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-subagent-'))
    t.after(() => rm(folder, { recursive: true }))
    const [url, journal] = [join(folder, 'data.db'), join(folder, 'journal.txt')]
    const child = spawn(process.execPath, [CHILD, url, journal], { stdio: ['ignore', 'pipe', 'inherit'] })
    for await (const chunk of child.stdout) if (String(chunk).includes('working')) break
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')

    const { harness, parent, storage, worker } = openHouse(url, journal, {
      parent: [{ text: 'All done.' }],
      worker: [{ text: 'Painted it.', repeat: true }],
    })
    try {
      const events: HarnessEvent[] = []
      harness.subscribe((event) => void events.push(event))
      const over = nextEvent(harness, 'agent_end')
      await harness.selectOrCreateThread()
      assert.equal((await over).reason, 'complete')
      assert.equal(await readFile(journal, 'utf8'), 'red\n', 'painted once')
      assert.deepEqual([parent.calls, worker.calls], [1, 1])
      assert.match(worker.requestBodies[0] ?? '', /painted/, 'it knows what it did before')
      const told = events.filter(({ type }) => type === 'subagent_start' || type === 'subagent_end')
      assert.deepEqual(
        told.map(({ type }) => type),
        ['subagent_start', 'subagent_end'],
      )
      const { items } = await storage.listThreads({ limit: 10, includeHidden: true })
      assert.equal(items.filter((thread) => thread.parent !== undefined).length, 1)
    } finally {
      await harness.destroy()
      await storage.close()
    }
  },
)
