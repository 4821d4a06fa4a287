import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nextEvent } from '../harness.fixture.ts'
import { killAfterLine } from './killed-child-process.fixture.ts'
import { knownTo, openSession } from './killed-session.fixture.ts'

const CHILD = fileURLToPath(new URL('killed-child.fixture.ts', import.meta.url))

test(
  'all that a session knew, and all that waits in it, survives kill -9 and is answered',
  { timeout: 120_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-killed-'))
    t.after(() => rm(folder, { recursive: true }))
    const url = join(folder, 'data.db')
    const line = await killAfterLine(CHILD, url)

    const { harness, model, session, storage } = await openSession(url, [
      { text: 'Painted.' },
      { text: 'The window, too.' },
    ])
    try {
      assert.deepEqual(await knownTo(session), JSON.parse(line))
      assert.ok(session.permissions.getRules().tools['erase'] === 'deny' && session.followUps.count() === 1)
      const over = nextEvent(session, 'agent_end', () => model.calls === 2)
      await session.respondToToolApproval({ toolCallId: 'approval', decision: 'approve' })
      await session.respondToToolSuspension({ toolCallId: 'question', resumeData: 'B' })
      await session.respondToToolSuspension({ toolCallId: 'access', resumeData: 'yes' })
      await session.respondToToolSuspension({
        toolCallId: 'plan',
        resumeData: { action: 'approved', feedback: 'Twice.' },
      })
      await over
      assert.equal(session.mode.get(), 'build')
      const [first = '', second = ''] = model.requestBodies
      for (const words of [
        'User answered: B',
        'Access to /shed was granted',
        'painted',
        'Feedback: Twice.',
        'Mind the step.',
      ]) {
        assert.ok(first.includes(words), words)
      }
      assert.ok(!first.includes('Then the window.') && second.includes('Then the window.'))
      assert.deepEqual([session.followUps.count(), session.suspensions.hasPending()], [0, false])
    } finally {
      await harness.destroy()
      await storage.close()
    }
  },
)
