import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = new URL('./', import.meta.url)
const docs = new URL('../../../../../docs/', import.meta.url)
const pages = await Promise.all(
  ['guide/agents-and-tools.md', 'internals/engine.md'].map((name) => readFile(new URL(name, docs), 'utf8')),
)
const files = (await readdir(folder)).filter((name) => name.endsWith('.fixture.ts'))

suite('docs/guide/agents-and-tools.md and docs/internals/engine.md', () => {
  for (const name of files) {
    test(`show ${name}, and what it prints`, async () => {
      const path = fileURLToPath(new URL(name, folder))
      const program = await readFile(path, 'utf8')
      const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 120_000 })
      const page = pages.find((text) => text.includes(`\`\`\`ts\n${program}\`\`\``))
      assert.ok(page, `copy examples/${name} into its page`)
      assert.ok(page.includes(`\`\`\`text\n${stdout}\`\`\``), `the page does not show:\n${stdout}`)
    })
  }

  test('have no program that is not run', () => {
    const programs = pages.map((text) => text.split('```ts\n').length - 1)
    assert.equal(
      programs.reduce((sum, count) => sum + count, 0),
      files.length,
    )
  })
})
