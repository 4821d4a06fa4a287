import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { pruneSpool } from './spool-prune.ts'

let dir = ''
let root = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'inspan-prune-'))
})
after(() => rm(dir, { recursive: true }))
beforeEach(async () => {
  root = await mkdtemp(join(dir, 'root-'))
})

async function spool(run: string, ageDays: number, bytes = 10): Promise<string> {
  const file = join(root, run, 'raw.jsonl')
  await mkdir(join(root, run), { recursive: true })
  await writeFile(file, 'x'.repeat(bytes))
  const time = new Date(Date.now() - ageDays * 24 * 60 * 60 * 1000)
  await utimes(file, time, time)
  return file
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

describe('pruneSpool', () => {
  it('removes records older than seven days, and their empty directories', async () => {
    const old = await spool('old', 8)
    const young = await spool('young', 6)
    assert.deepEqual(await pruneSpool(root), { removed: [old], removedBytes: 10, keptBytes: 10 })
    assert.deepEqual(await readdir(root), ['young'])
    assert.ok(await exists(young))
  })

  it('removes the oldest until the rest is small enough', async () => {
    const files = [
      await spool('a', 3, 100),
      await spool('b', 2, 100),
      await spool('c', 1, 10),
      await spool('d', 0, 100),
    ]
    const result = await pruneSpool(root, { maxBytes: 210 })
    assert.deepEqual(result, { removed: [files[0]], removedBytes: 100, keptBytes: 210 })
  })

  it('keeps the given runs', async () => {
    const running = await spool('running', 30)
    const old = await spool('old', 30)
    const result = await pruneSpool(root, { keep: (file) => file === running })
    assert.deepEqual(result.removed, [old])
  })

  it('touches nothing but raw records', async () => {
    const old = await spool('mixed', 30)
    const other = join(root, 'mixed', 'notes.txt')
    await writeFile(other, 'mine')
    await utimes(other, 0, 0)
    const elsewhere = join(dir, 'elsewhere')
    await mkdir(elsewhere, { recursive: true })
    const outside = join(elsewhere, 'raw.jsonl')
    await writeFile(outside, 'not ours')
    await utimes(outside, 0, 0)
    await symlink(elsewhere, join(root, 'linked'))
    await symlink(outside, join(root, 'linked.raw.jsonl'))
    assert.deepEqual((await pruneSpool(root)).removed, [old])
    assert.ok((await exists(other)) && (await exists(outside)))
  })

  it('has nothing to do where there is nothing', async () => {
    assert.deepEqual(await pruneSpool(join(root, 'missing')), { removed: [], removedBytes: 0, keptBytes: 0 })
  })
})
