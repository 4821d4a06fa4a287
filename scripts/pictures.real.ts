/** The pictures of the pages can be taken again, and are the ones that the pages show. */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from './pack-test/run.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pictures = join(root, 'docs/pictures')
const TEST_MS = 10 * 60_000

/** Returns the signature, width and height of a PNG file. */
function headOf(file: string): readonly (number | string)[] {
  const bytes = readFileSync(file)
  return [bytes.toString('latin1', 1, 4), bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

describe('the pictures of the pages', { timeout: TEST_MS }, () => {
  it('are made by `npm run docs:pictures`, in the size they have', { timeout: TEST_MS }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'inspan-pictures-test-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    await run(process.execPath, ['scripts/pictures.ts', folder], { cwd: root })
    const names = readdirSync(pictures).sort()
    assert.deepEqual(readdirSync(folder).sort(), names)
    for (const name of names) assert.deepEqual(headOf(join(folder, name)), headOf(join(pictures, name)), name)
  })

  it('are all shown on a page', () => {
    const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].map((page) =>
      readFileSync(join(root, page), 'utf8'),
    )
    for (const name of readdirSync(pictures)) {
      assert.ok(
        pages.some((text) => text.includes(`pictures/${name})`)),
        name,
      )
    }
  })
})
