import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TrustedFolders } from './trusted-folders.ts'

test('a folder is trusted with what is below it, by its real path, until that is revoked', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-trust-')))
  t.after(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'project/sub'), { recursive: true })
  await mkdir(join(root, 'project-2'))
  await symlink(join(root, 'project-2'), join(root, 'project/link'))
  const trusted = new TrustedFolders({ file: join(root, 'home/trusted.json') })
  const are = (...names: string[]): Promise<boolean[]> =>
    Promise.all(names.map((name) => trusted.isTrusted(join(root, name))))

  assert.deepEqual(await are('project'), [false])
  assert.equal(await trusted.trust(join(root, 'project')), join(root, 'project'))
  assert.deepEqual(await are('project', 'project/sub', '.', 'project-2', 'project/link', 'missing'), [
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  assert.equal((await stat(trusted.file)).mode & 0o777, 0o600)
  assert.deepEqual([await trusted.revoke(join(root, 'project')), await trusted.list()], [true, []])
  assert.equal(await trusted.revoke(join(root, 'project')), false)
  await assert.rejects(trusted.trust(join(root, 'missing')), /There is no folder/)

  await writeFile(trusted.file, '{"folders":"all"}')
  await assert.rejects(trusted.isTrusted(join(root, 'project')), /is damaged/)
})
