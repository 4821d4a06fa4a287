/** Code in pages that no other test runs must compile against the current sources. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from './pack-test/run.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Pages whose code is run by a test, or compared with a file by a test. */
const TESTED_ELSEWHERE = [
  'internals/adapters.md',
  'guide/agents-and-tools.md',
  'internals/engine.md',
  'guide/harness.md',
  'guide/redaction.md',
  'internals/shell-run.md',
]

/** Declarations that the snippets of a page assume, by name. A snippet with its own declaration does not get it. */
const GIVEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'guide/bridges.md': {},
  'guide/deploying.md': {},
  'guide/foreign-agents.md': {},
  'guide/quick-start.md': {},
  'guide/live-agents.md': { claudeCode: "import { claudeCode } from '@inspan/adapters'" },
  'guide/memory.md': {
    storage: "declare const storage: import('@inspan/core').SqliteStore",
    model: "declare const model: import('@inspan/core').LanguageModel",
  },
  'guide/many-machines.md': {},
  'guide/permissions.md': {},
  'internals/schemas.md': { text: 'declare const text: string', row: 'declare const row: unknown' },
  'guide/sdk.md': {},
  'guide/server.md': { harness: "declare const harness: import('@inspan/core').Harness" },
  'internals/shell-read.md': {},
  'guide/signals.md': { harness: "declare const harness: import('@inspan/core').Harness" },
  'guide/stores.md': {
    eraseRange: "import { eraseRange } from '@inspan/core/engine'",
    store: "declare const store: import('@inspan/protocol/store').Store",
    log: "declare const log: import('@inspan/core/engine').ThreadLog",
    owner: "declare const owner: import('@inspan/core/engine').ProcessOwner",
    spool: "declare const spool: import('@inspan/shell/run').SpoolFolder",
    from: 'declare const from: number, to: number',
    someNewPlace: 'declare const someNewPlace: () => string',
    open: "declare const open: import('@inspan/testing/contracts').StoreContract['open']",
    MyStore: `
      type Format = import('@inspan/protocol/store').RecordFormat
      type Reopen = NonNullable<import('@inspan/testing/contracts').StoreSubject['reopen']>
      type OwnStore = import('@inspan/protocol/store').Store & { reopened: Reopen }
      declare const MyStore: { open(place: string, format?: Format): Promise<OwnStore> }`,
  },
  'guide/subagents.md': {},
  'guide/workspace.md': {},
  'guide/tools.md': {},
  'guide/waiting.md': {},
  'guide/testing.md': {
    faultPoints: "import { faultPoints } from '@inspan/testing'",
    startProvider: "import { startProvider } from '@inspan/testing'",
    Script: "import type { HttpRequest, Script } from '@inspan/testing'",
    script: 'declare const script: Script<HttpRequest>',
  },
}

interface Piece {
  readonly file: string
  readonly code: string
}

function piecesOf(page: string): Piece[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  return [...text.matchAll(/^```ts\n(.+?)^```$/gms)].map(([, code = ''], index) => {
    const given = Object.entries(GIVEN[page] ?? {}).flatMap(([name, line]) => (declares(code, name) ? [] : [line]))
    return { file: `${page.replaceAll(/\W|md$/g, '-')}${index + 1}.ts`, code: [...given, code, 'export {}'].join('\n') }
  })
}

function declares(code: string, name: string): boolean {
  return new RegExp(`\\b(?:const|function) ${name}\\b|\\bimport [^']*\\b${name}\\b`).test(code)
}

/** Pages whose first program is run here, and followed by what it prints. */
const PRINTING = [
  'guide/bridges.md',
  'guide/memory.md',
  'guide/quick-start.md',
  'guide/sdk.md',
  'guide/server.md',
  'guide/signals.md',
  'guide/stores.md',
  'guide/subagents.md',
  'guide/tools.md',
  'guide/waiting.md',
  'guide/workspace.md',
]

describe('code in the pages', () => {
  const cache = join(root, 'node_modules', '.cache', 'inspan')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'docs-snippets-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is either run by a test or compiled here', () => {
    const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
      (page) => /^(guide|internals)[\\/].+\.md$/.test(page) && piecesOf(page).length > 0,
    )
    assert.deepEqual(pages.toSorted(), [...Object.keys(GIVEN), ...TESTED_ELSEWHERE].toSorted())
  })

  it('compiles', async () => {
    const pieces = Object.keys(GIVEN).flatMap(piecesOf)
    for (const { file, code } of pieces) writeFileSync(join(folder, file), code)
    const config = {
      extends: join(root, 'tsconfig.tests.json'),
      compilerOptions: { noUnusedLocals: false, resolveJsonModule: true },
      include: [],
      references: [],
      files: pieces.map(({ file }) => file),
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const report = await run(tsc, ['-p', folder, '--pretty', 'false'], { cwd: folder, mayFail: true })
    assert.equal(report, '')
  })

  for (const page of PRINTING) {
    it(`prints what ${page} shows`, async () => {
      const text = readFileSync(join(root, 'docs', page), 'utf8')
      const [, code = '', shown] = /^```ts\n(.+?)^```\n\nprints\n\n```text\n(.+?)^```$/ms.exec(text) ?? []
      // Node.js strips no types below node_modules, and these programs have none.
      const file = join(folder, 'printing.mjs')
      writeFileSync(file, code)
      assert.equal(await run(process.execPath, [file], { cwd: folder }), shown)
    })
  }
})
