import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ForeignAgent } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'
import { servedHarness } from './served-harness.ts'

test('a thread that continues a native session works in its folder, and in the worktree once it has one', async (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-imports-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [root, folder] = [join(base, 'root'), join(base, 'elsewhere')]
  for (const each of [root, folder]) mkdirSync(each)
  writeFileSync(join(root, 'a.txt'), 'one')
  for (const args of ['init -q', 'add -A', '-c user.name=a -c user.email=a@b.c commit -qm one']) {
    execFileSync('git', args.split(' '), { cwd: root })
  }
  const session = { id: 'native-1', cwd: folder, updatedAt: 1, title: 'Begun without us' }
  const agent = Object.assign(new ForeignAgent('cli', []), {
    sessions: {
      list: async (cwd: string) => (cwd === folder ? [session] : []),
      read: async function* () {
        yield { role: 'user', parts: [{ id: '0', type: 'text', text: 'Hello.' }] } as const
      },
    },
  })
  await using bench = new HarnessBench([], {
    agent,
    workspace: { root, checkpoints: { folder: join(base, 'kept') }, worktrees: { folder: join(base, 'trees') } },
  })
  const { harness } = bench
  await harness.init()
  const served = servedHarness(harness)
  const threadId = await served.importSession(
    { resourceId: harness.session.identity.getResourceId(), sessionId: 'native-1', folders: [folder] },
    async (id) => {
      const guest = { resourceId: harness.session.identity.getResourceId(), begin: () => undefined }
      const entered = await served.enter(id, { ...guest, onEvicted: async () => undefined })
      return { runtime: entered.runtime, release: () => void entered.leave() }
    },
  )
  await harness.switchThread({ threadId: threadId ?? '' })
  await harness.sendMessage({ content: 'Continue.' })
  const { path } = await harness.session.thread.worktree.create()
  await harness.sendMessage({ content: 'In the worktree.' })
  await harness.createThread()
  await harness.sendMessage({ content: 'A thread of ours.' })
  assert.deepEqual(
    agent.turns.map(({ cwd }) => cwd),
    [folder, path, root],
  )
})
