import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'

const folder = new URL('./', import.meta.url)
const docs = await readFile(new URL('../../../../../docs/guide/harness.md', import.meta.url), 'utf8')
const files = (await readdir(folder)).filter((name) => name.endsWith('.fixture.ts'))

suite('docs/guide/harness.md', () => {
  for (const name of files) {
    test(`shows ${name}, and what it prints`, async () => {
      const program = await readFile(new URL(name, folder), 'utf8')
      const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL(name, folder))], {
        timeout: 120_000,
      })
      assert.ok(docs.includes(`\`\`\`ts\n${program}\`\`\``), `copy examples/${name} into docs/guide/harness.md`)
      assert.ok(docs.includes(`\`\`\`text\n${stdout}\`\`\``), `docs/guide/harness.md does not show:\n${stdout}`)
    })
  }

  test('has no program that is not run', () => {
    assert.equal(docs.split('```ts\n').length - 1, files.length)
  })
})
