import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

test('docs/guide/testing.md shows the example that runs here', async () => {
  const docs = await readFile(new URL('../../../docs/guide/testing.md', import.meta.url), 'utf8')
  const example = await readFile(new URL('example.test.ts', import.meta.url), 'utf8')
  assert.ok(docs.includes(example), 'copy packages/testing/src/example.test.ts into docs/guide/testing.md')
})
