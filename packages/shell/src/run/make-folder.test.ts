import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeFolder } from './make-folder.ts'

let dir = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'inspan-make-folder-'))
})
after(() => rm(dir, { recursive: true }))

describe('a folder is made', () => {
  it('with those above it, for its owner only, and again', async () => {
    const folder = join(dir, 'a', 'b', 'c')
    await makeFolder(folder)
    for (const made of [join(dir, 'a'), folder]) assert.equal((await stat(made)).mode & 0o777, 0o700)
    await makeFolder(folder)
    await Promise.all([1, 2, 3].map(() => makeFolder(join(dir, 'd', 'e', 'f'))))
    assert.ok((await stat(join(dir, 'd', 'e', 'f'))).isDirectory())
  })

  it('a folder is not made where something else is, or where a link leads nowhere', async () => {
    await writeFile(join(dir, 'file'), '')
    await symlink(join(dir, 'nowhere'), join(dir, 'link'))
    await assert.rejects(makeFolder(join(dir, 'file')), { code: 'EEXIST' })
    await assert.rejects(makeFolder(join(dir, 'file', 'x')), { code: 'ENOTDIR' })
    await assert.rejects(makeFolder(join(dir, 'link')), { code: 'EEXIST' })
    await assert.rejects(makeFolder(join(dir, 'link', 'x')), { code: 'EEXIST' })
  })

  it(
    'a folder is not made where nothing can be made, and the attempt ends',
    { skip: !existsSync('/proc/self') },
    async () => {
      await assert.rejects(makeFolder('/proc/inspan/x'), { code: 'ENOENT' })
    },
  )
})
