import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { modelSnapshot, readCatalogue, readTextOnly } from '../../test/model-snapshot.ts'

test('the catalogue of models has what OpenCode and the price list know', { timeout: 60 * 60_000 }, async () => {
  const text = readFileSync(new URL('./snapshot.ts', import.meta.url), 'utf8')
  assert.equal(
    text,
    modelSnapshot(await readCatalogue(), await readTextOnly()),
    'run node packages/sdk/test/model-snapshot.ts',
  )
})
