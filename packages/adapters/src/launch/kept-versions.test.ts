import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { keptVersion } from './kept-versions.ts'

it('the version of a program is asked once, also by later processes, until the program changes', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'inspan-'))
  t.after(() => rm(home, { recursive: true }))
  const file = join(home, '.cache', 'inspan', 'versions.json')
  let asked = 0
  const ask = async (): Promise<string> => `1.0.${++asked}`
  const env = { HOME: home }
  assert.equal(await keptVersion('a', env, ask), '1.0.1')
  assert.equal(await keptVersion('a', env, ask), '1.0.1')
  assert.equal(await keptVersion('b', env, ask), '1.0.2', 'another program')
  assert.equal(await keptVersion('a', env, ask), '1.0.1')
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/"at":\d+/g, '"at":1'))
  assert.equal(await keptVersion('a', env, ask), '1.0.3', 'a day later')
  await writeFile(file, '{"a":')
  assert.equal(await keptVersion('a', env, ask), '1.0.4', 'a damaged file')
  await rm(file)
  await mkdir(file)
  assert.equal(await keptVersion('a', env, ask), '1.0.5', 'a file that cannot be read or written')
  assert.equal(await keptVersion('c', {}, ask), '1.0.6', 'no home')
  await assert.rejects(
    keptVersion('d', env, () => Promise.reject(new Error('broken'))),
    /broken/,
  )
})
