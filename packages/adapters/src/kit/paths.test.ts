import assert from 'node:assert/strict'
import { it } from 'node:test'
import { absolutePath } from './paths.ts'

it('a path is absolute where that can be determined, and stays as written elsewhere', () => {
  assert.equal(absolutePath('a/../b.txt', '/repo'), '/repo/b.txt')
  assert.equal(absolutePath('./src/', '/repo'), '/repo/src')
  assert.equal(absolutePath('.', '/repo'), '/repo')
  assert.equal(absolutePath('/etc/hosts', '/repo'), '/etc/hosts')
  assert.equal(absolutePath('~/notes', '/repo'), '~/notes')
  assert.equal(absolutePath('a.txt', undefined), 'a.txt')
  assert.equal(absolutePath('a.txt', 'relative'), 'a.txt')
  assert.equal(absolutePath('a.txt', 'C:\\repo'), 'C:\\repo\\a.txt')
  assert.equal(absolutePath('C:\\x\\a.txt', '/repo'), 'C:\\x\\a.txt')
})
