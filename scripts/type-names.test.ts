/** One name, one type: whoever searches for a type finds one declaration. */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { readWorkspace } from './imports/workspace.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const workspace = await readWorkspace(root)
const files = workspace.files.filter(({ path }) => /^packages\/.*\.tsx?$/.test(path))

/** Exports types of ours under the names that the users of this API know. The types themselves have names of their own. */
const RENAMING_DOOR = 'packages/sdk/src/index.ts'

/** Lines of the adapters that may call a CLI a harness, because users type or store that word. */
const USERS_WORD: readonly RegExp[] = [
  // The option of `inspan normalize`, and the field of recordings.
  /--harness|\bharness\??: |\.harness\b/,
  // The name of the error that is recorded.
  /'HarnessError'/,
]

interface Source {
  readonly path: string
  readonly text: string
}

const TYPES: ReadonlySet<string> = new Set([
  'ClassDeclaration',
  'TSEnumDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])

/** Nobody searches a test for a type, so the private types of tests may have any name. */
const IS_TEST = /\.(?:test|real|machines|bench)\.tsx?$|\/test\//

/** Returns the names of the types that a module declares, and those that it exports under another name. */
function typesOf({ path, text }: Source): ReadonlySet<string> {
  const { program } = parseSync(path, text)
  const declared = new Set<string>()
  const names = new Set<string>()
  for (const statement of program.body) {
    const isExport = statement.type === 'ExportNamedDeclaration'
    const node = isExport ? statement.declaration : statement
    if (node !== null && TYPES.has(node.type) && 'id' in node && node.id?.type === 'Identifier') {
      declared.add(node.id.name)
      if (isExport || !IS_TEST.test(path)) names.add(node.id.name)
    }
  }
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue
    for (const { exportKind, exported: outer, local } of statement.specifiers) {
      if (outer.type !== 'Identifier' || local.type !== 'Identifier') continue
      const isType = exportKind === 'type' || statement.exportKind === 'type'
      if (declared.has(local.name) || (isType && outer.name !== local.name)) names.add(outer.name)
    }
  }
  return names
}

function repeatedTypes(sources: readonly Source[]): readonly string[] {
  const places = new Map<string, string[]>()
  for (const source of sources) {
    for (const name of typesOf(source)) places.set(name, [...(places.get(name) ?? []), source.path])
  }
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

describe('the name of a type', () => {
  it('is that of one type only', () => {
    const repeated = repeatedTypes(files.filter(({ path }) => path !== RENAMING_DOOR))
    assert.deepEqual(repeated, [], 'Name each type after what it is.')
  })

  it('is seen however it is exported', () => {
    const of = (...texts: readonly string[]): readonly string[] =>
      repeatedTypes(texts.map((text, index) => ({ path: `${index}.ts`, text })))
    assert.deepEqual(of('export interface Row {}', 'export class Row {}'), ['Row: 0.ts, 1.ts'])
    assert.deepEqual(of('export type Row = 1', 'enum Row { A }\nexport { Row }'), ['Row: 0.ts, 1.ts'])
    assert.deepEqual(of('export type Row = 1', "export type { Line as Row } from './2.ts'"), ['Row: 0.ts, 1.ts'])
    // A class with an interface of its name is one type, and a door declares nothing.
    assert.deepEqual(of('export class Row {}\nexport interface Row {}', "export { Row } from './0.ts'"), [])
    assert.deepEqual(of('export type Row = 1', 'interface Row {}\nexport const row: Row = {}'), ['Row: 0.ts, 1.ts'])
    const ofTest = repeatedTypes([
      { path: 'a.ts', text: 'type Row = 1' },
      { path: 'a.test.ts', text: 'type Row = 1' },
    ])
    assert.deepEqual(ofTest, [])
  })
})

describe('the word harness', () => {
  it('names no CLI in the adapters, except where users type or store it', () => {
    const wrong = files
      .filter(
        ({ path }) => path.startsWith('packages/adapters/') && !/\/(opencode|kilo-code)\/.*\.test\.ts$/.test(path),
      )
      .flatMap(({ path, text }) =>
        text.split('\n').flatMap((line, index) => {
          const isAllowed = !/harness/i.test(line) || USERS_WORD.some((allowed) => allowed.test(line))
          return isAllowed ? [] : [`${path}:${index + 1}: ${line.trim()}`]
        }),
      )
    assert.deepEqual(wrong, [])
  })
})
