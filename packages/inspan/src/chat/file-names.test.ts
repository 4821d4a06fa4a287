import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileNames } from './file-names.ts'

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-names-'))
  await mkdir(join(folder, 'src'))
  for (const name of ['notes.txt', 'main-notes.md', '.env', 'two words', 'evil\x1b[2J', 'src/index.ts']) {
    await writeFile(join(folder, name), '')
  }
})
after(() => rm(folder, { recursive: true }))

async function paths(typed: string): Promise<readonly string[]> {
  return (await fileNames(folder, typed)).map(({ path }) => path)
}

test('names that begin with what was typed come first', async () => {
  assert.deepEqual(await paths('NOTES'), ['notes.txt', 'main-notes.md'])
})

test('folders end with a slash, and are completed further', async () => {
  assert.deepEqual(await paths('s'), ['src/', 'main-notes.md', 'notes.txt'])
  assert.deepEqual(await paths('src/'), ['src/index.ts'])
})

test('hidden files need their dot; names that cannot be typed plainly are left out', async () => {
  assert.deepEqual(await paths(''), ['main-notes.md', 'notes.txt', 'src/'])
  assert.deepEqual(await paths('.'), ['.env', 'main-notes.md', 'notes.txt'])
})

test('a folder that is not there has no names', async () => {
  assert.deepEqual(await paths('nowhere/x'), [])
})
