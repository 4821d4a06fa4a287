/** The generated parts of the pages are up to date, and the site can be built and searched without a network. */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generatedPages } from './docs/generated.ts'
import { docsPages } from './docs/pages.ts'
import { referencePages } from './docs/reference.ts'
import { withTables } from './docs/tables.ts'
import { run } from './pack-test/run.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('generated parts of the pages', () => {
  for (const { path, text } of generatedPages(root)) {
    it(`${path} is up to date (node scripts/docs.ts write)`, () => assert.equal(read(path), text))
  }

  it('tables have name, type, meaning and default of each option', () => {
    const place = '<!-- options: packages/client/src/connect.ts ConnectOptions -->\n<!-- end of options -->'
    const made = withTables(root, place)
    for (const [, name = ''] of read('packages/client/src/connect.ts').matchAll(/^ {2}readonly (\w+)\??:/gm)) {
      assert.match(made, new RegExp(`^\\| \`${name}\``, 'm'))
    }
    assert.throws(() => withTables(root, place.replace('ConnectOptions -', 'NoSuchOptions -')), /NoSuchOptions/)
  })

  it('the reference describes names by their comments', () => {
    const pages = referencePages(root)
    const server = pages.find(({ folder }) => folder === 'server')?.text ?? ''
    assert.match(server, /^### serve\n\n_function_\n\nServes a harness to any number of clients/m)
    const core = pages.find(({ folder }) => folder === 'core')?.text ?? ''
    for (const name of ['Harness', 'SqliteStore', 'MemoryStore']) assert.match(core, new RegExp(`^### ${name}$`, 'm'))
  })
})

describe('the site', () => {
  it('has every page and the reference, and its search needs no server', { timeout: 900_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'inspan-site-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    await run(process.execPath, ['scripts/docs.ts', 'build', folder], { cwd: root })
    const built = globSync('**/*.html', { cwd: folder })
    const expected = [
      ...docsPages(root).map(({ path }) => path.replace(/\.md$/, '.html')),
      ...referencePages(root).map((page) => `reference/${page.folder}.html`),
    ]
    assert.deepEqual(
      expected.filter((page) => !built.includes(page)),
      [],
    )
    const [index = ''] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: folder })
    assert.match(readFileSync(join(folder, index), 'utf8'), /quick-start/)
    const home = readFileSync(join(folder, 'index.html'), 'utf8')
    assert.doesNotMatch(home, /<(?:script|link)[^>]+(?:src|href)="https?:/)
    assert.equal(readFileSync(join(folder, 'llms.txt'), 'utf8'), read('docs/public/llms.txt'))
  })
})
