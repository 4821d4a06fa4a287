import assert from 'node:assert/strict'
import { it } from 'node:test'
import { patchFiles } from './patch-files.ts'

it('a patch names the files it adds, updates, deletes and moves to', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: new.txt',
    '+*** Add File: not-a-marker.txt',
    '*** Update File: src/a b.ts',
    '*** Move to: src/c.ts',
    '@@',
    '-x',
    '*** Update File: src/a b.ts',
    '*** Delete File: old.txt\r',
    '*** End Patch',
  ].join('\n')
  assert.deepEqual(patchFiles(patch), ['new.txt', 'src/a b.ts', 'src/c.ts', 'old.txt'])
  assert.deepEqual(patchFiles('no patch'), [])
})
