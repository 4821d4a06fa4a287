import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { workdirOf } from './workdir.ts'

test('a program runs elsewhere only when that is not the folder of its session, whatever links lead there', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'inspan-workdir-')))
  try {
    await mkdir(join(folder, 'real', 'sub'), { recursive: true })
    await symlink(join(folder, 'real'), join(folder, 'link'))
    const session = join(folder, 'link')
    assert.equal(workdirOf(undefined, session), undefined)
    assert.equal(workdirOf(session, session), undefined)
    assert.equal(workdirOf(join(folder, 'real'), session), undefined)
    assert.equal(workdirOf(join(folder, 'real', 'sub'), session), join(session, 'sub'))
    assert.equal(workdirOf(join(session, 'sub'), session), join(session, 'sub'))
    assert.equal(workdirOf(folder, session), folder)
    assert.equal(workdirOf('/gone/sub', '/gone'), '/gone/sub')
    assert.equal(workdirOf('/a', undefined), '/a')
  } finally {
    await rm(folder, { recursive: true })
  }
})
