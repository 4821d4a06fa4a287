// When the page is built anew, in a clone of its own with the real build.
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as studio from './index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
let base = ''
let clone = ''
let builds = 0
let copied: Pick<typeof studio, 'preparedPages'>

before(async () => {
  base = await mkdtemp(join(tmpdir(), 'inspan-stale-'))
  clone = join(base, 'packages/studio')
  const parts = ['index.html', 'package.json', 'public', 'scripts', 'tsconfig.json', 'web', 'src/index.ts']
  const others = ['client', 'protocol'].flatMap((name) => [`${name}/src`, `${name}/tsconfig.json`])
  const needed = [...parts.map((part) => `studio/${part}`), ...others]
  for (const path of ['tsconfig.base.json', ...needed.map((part) => `packages/${part}`)]) {
    await cp(join(root, path), join(base, path), { recursive: true, preserveTimestamps: true })
  }
  await symlink(join(root, 'node_modules'), join(base, 'node_modules'))
  copied = (await import(pathToFileURL(join(clone, 'src/index.ts')).href)) as typeof studio
})
after(() => rm(base, { recursive: true, maxRetries: 5 }))

async function prepare(): Promise<number> {
  builds = 0
  const pages = await copied.preparedPages(() => builds++)
  assert.equal(pages, join(clone, 'dist/pages'))
  return builds
}

const index = (): string => join(clone, 'dist/pages/index.html')

/** Does something while the file looks as if it had been saved after the build. */
async function whileNewer(file: string, use: () => Promise<void>): Promise<void> {
  const { mtime } = await stat(file)
  const later = new Date((await stat(index())).mtimeMs + 60_000)
  await utimes(file, later, later)
  await use()
  await utimes(file, mtime, mtime)
}

suite('the page of a clone', () => {
  test('is built when there is none', async () => {
    assert.equal(await prepare(), 1)
    assert.match(await readFile(index(), 'utf8'), /<script type="module"/)
  })

  test('is used as it is while no source is newer', async () => {
    const { mtimeMs } = await stat(index())
    assert.equal(await prepare(), 0)
    assert.equal((await stat(index())).mtimeMs, mtimeMs)
  })

  test('is built anew when a source is newer, once', async () => {
    const file = join(clone, 'public/manifest.webmanifest')
    const { atime, mtime } = await stat(file)
    await writeFile(file, (await readFile(file, 'utf8')).replace(/"name": "[^"]*"/, '"name": "Renamed"'))
    await utimes(file, atime, mtime)
    assert.equal(await prepare(), 0)
    await whileNewer(file, async () => assert.equal(await prepare(), 1))
    assert.match(await readFile(join(clone, 'dist/pages/manifest.webmanifest'), 'utf8'), /"name": "Renamed"/)
    assert.equal(await prepare(), 0)
  })

  test('is stale when any of its sources is newer, also in the packages that it contains', async () => {
    // A build that fails leaves the page as it was for the next source.
    const script = join(clone, 'scripts/build.ts')
    const { atime, mtime } = await stat(script)
    await writeFile(script, "throw new Error('A library is missing.')")
    await utimes(script, atime, mtime)
    assert.equal(await prepare(), 0)
    const sources = ['index.html', 'web/main.tsx', 'web/parts/diff.tsx', 'scripts/build.ts']
    for (const source of [...sources, '../client/src/index.ts', '../protocol/src/index.ts']) {
      await whileNewer(join(clone, source), async () => {
        await assert.rejects(prepare(), /The web page cannot be built: [^]*A library is missing\./, source)
        assert.equal(builds, 1, source)
      })
      assert.equal(await prepare(), 0, source)
    }
    const tests = join(clone, 'web/replay-frames.test.ts')
    await whileNewer(tests, async () => assert.equal(await prepare(), 0, 'tests are not in the page'))
  })
})
