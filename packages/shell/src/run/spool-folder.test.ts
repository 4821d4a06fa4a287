import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, it } from 'node:test'
import { openSpool } from './spool.ts'
import { SpoolFolder, type SpooledTurn } from './spool-folder.ts'

async function withFolder(test: (folder: SpoolFolder) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'inspan-spools-'))
  try {
    await test(new SpoolFolder(join(root, 'spools')))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function spool(folder: SpoolFolder, turn: SpooledTurn): Promise<void> {
  const opened = await openSpool({ dir: folder.dirOf(turn) })
  opened.note({ turn: turn.turnId })
  await opened.close()
}

describe('a folder of raw records', () => {
  it('removes a run with all its turns and attempts, and no other run', () =>
    withFolder(async (folder) => {
      await spool(folder, { threadId: 't', runId: 'r1', turnId: 'a' })
      await spool(folder, { threadId: 't', runId: 'r1', turnId: 'a', resumed: { attempt: 2 } })
      await spool(folder, { threadId: 't', runId: 'r1', turnId: 'b' })
      await spool(folder, { threadId: 't', runId: 'r2', turnId: 'c' })
      assert.equal(await folder.remove({ threadId: 't', runId: 'r1' }), true)
      assert.deepEqual(await readdir(join(folder.root, 't')), ['r2'])
      assert.equal(await folder.remove({ threadId: 't', runId: 'r1' }), false)
      assert.equal(await folder.remove({ threadId: 't', runId: 'r2' }), true)
      assert.deepEqual(await readdir(folder.root), [])
    }))

  it('removes a thread with all its runs, and no other thread', () =>
    withFolder(async (folder) => {
      await spool(folder, { threadId: 't', runId: 'r1', turnId: 'a' })
      await spool(folder, { threadId: 't', runId: 'r2', turnId: 'b' })
      await spool(folder, { threadId: 'other', runId: 'r1', turnId: 'a' })
      assert.equal(await folder.removeThread({ threadId: 't' }), true)
      assert.deepEqual(await readdir(folder.root), ['other'])
      assert.equal(await folder.removeThread({ threadId: 't' }), false)
    }))

  it('never leaves its root, whatever the ids are', () =>
    withFolder(async (folder) => {
      const outside = join(dirname(folder.root), 'keep')
      await mkdir(outside)
      await writeFile(join(outside, 'file'), 'x')
      for (const id of ['..', '../keep', '/etc', '', 'a/b', '.', 'x'.repeat(300), 'nul\0l']) {
        const dir = folder.dirOf({ threadId: id, runId: id, turnId: id })
        assert.equal(relative(folder.root, dir).split('/').length, 3)
        assert.ok(!relative(folder.root, dir).includes('..'))
        await folder.remove({ threadId: '..', runId: id })
        await folder.removeThread({ threadId: id })
      }
      assert.ok(existsSync(join(outside, 'file')))
    }))
})
