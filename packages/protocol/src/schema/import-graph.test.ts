import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'

const source = new URL('../', import.meta.url)

/** Returns every module that loading `entry` loads, and every imported name that is no file of ours. */
async function importsOf(entry: URL): Promise<{ readonly files: Set<string>; readonly packages: Set<string> }> {
  const files = new Set<string>()
  const packages = new Set<string>()
  const rest = [entry]
  for (let file = rest.pop(); file !== undefined; file = rest.pop()) {
    if (files.has(file.href)) continue
    files.add(file.href)
    for (const specifier of specifiersIn(await readFile(file, 'utf8'))) {
      if (specifier.startsWith('.')) rest.push(new URL(specifier, file))
      else packages.add(specifier)
    }
  }
  return { files, packages }
}

/** Includes type imports: they are erased, yet still make the package a dependency of our declarations. */
function specifiersIn(code: string): readonly string[] {
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].flatMap(([, specifier]) => specifier ?? [])
}

const DOORS = ['chat', 'driver', 'harness', 'internal', 'log', 'store', 'wire']

suite('what the protocol package loads', () => {
  for (const entry of ['index', ...DOORS.map((door) => `doors/${door}`)]) {
    test(`${entry}.ts imports no package at all and nothing of the schemas`, async () => {
      const { files, packages } = await importsOf(new URL(`${entry}.ts`, source))
      assert.deepEqual([...packages], [])
      assert.deepEqual(
        [...files].filter((file) => file.includes('/schema/')),
        [],
      )
      assert.ok(files.size > 5, 'the graph was followed')
    })
  }

  test('the schema entry imports zod and no other package', async () => {
    const { packages } = await importsOf(new URL('schema/index.ts', source))
    assert.deepEqual([...packages], ['zod'])
  })
})
