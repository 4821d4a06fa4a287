/** The API reference has every name that can be imported. What it should have is found without the code that writes it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseSync } from 'oxc-parser'
import { referencePages } from './docs/reference.ts'

interface PackageJson {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pages = referencePages(root)

/** Returns the names, values and types, that a module exports by its own text. */
function namesIn(file: string): string[] {
  const { module } = parseSync(file, readFileSync(file, 'utf8'))
  return module.staticExports.flatMap(({ entries }) =>
    entries.map(({ exportName }) => {
      assert.equal(exportName.kind, 'Name', `${file} exports something without a name`)
      return exportName.name ?? ''
    }),
  )
}

/** Returns the part of a page about one door. */
function sectionOf(text: string, door: string): string {
  return text.split(/^(?=## )/m).find((section) => section.startsWith(`## \`${door}\`\n`)) ?? ''
}

for (const folder of readdirSync(join(root, 'packages'))) {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as PackageJson
  const doors = Object.entries(manifest.exports).filter(([, file]) => String(file).endsWith('.ts'))
  if (doors.length === 0) continue
  describe(`the reference of ${manifest.name}`, () => {
    for (const [entry, file] of doors) {
      const door = join(manifest.name, entry).replaceAll('\\', '/')

      it(`has every name of ${door}, and no other`, async () => {
        const path = join(root, 'packages', folder, String(file))
        const written = sectionOf(pages.find((page) => page.folder === folder)?.text ?? '', door)
        const described = [...written.matchAll(/^### (.+)$/gm)].map(([, name = '']) => name)
        const names = namesIn(path)
        assert.ok(names.length > 0, `${door} exports nothing`)
        assert.deepEqual(described.toSorted(), [...new Set(names)].sort())
        // What a program gets at run time must be among them, whatever the text of the module seems to say.
        const values = Object.keys((await import(pathToFileURL(path).href)) as object)
        assert.deepEqual(
          values.filter((name) => !described.includes(name)),
          [],
        )
      })
    }
  })
}
