import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = new URL('./', import.meta.url)
const docs = await readFile(new URL('../../../../../docs/agents-and-tools.md', import.meta.url), 'utf8')
const files = (await readdir(folder)).filter((name) => name.endsWith('.fixture.ts'))

suite('docs/agents-and-tools.md', () => {
  for (const name of files) {
    test(`shows ${name}, and what it prints`, async () => {
      const path = fileURLToPath(new URL(name, folder))
      const program = await readFile(path, 'utf8')
      const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 120_000 })
      assert.ok(docs.includes(`\`\`\`ts\n${program}\`\`\``), `copy examples/${name} into the page`)
      assert.ok(docs.includes(`\`\`\`text\n${stdout}\`\`\``), `the page does not show:\n${stdout}`)
    })
  }

  test('has no program that is not run', () => {
    assert.equal(docs.split('```ts\n').length - 1, files.length)
  })
})
