import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  adaptersImportingEachOther,
  exportsWithoutNames,
  importsOfInternals,
  importsPastTheEngineDoor,
  longFiles,
  outsideImports,
  undeclaredDependencies,
  unusedDependencies,
  wrongArrows,
} from './rules.ts'
import { sourceFile, type PackageFacts, type Workspace } from './workspace.ts'

const FOLDERS = 'protocol shell agent tools memory adapters core sdk server client testing inspan'.split(' ')

function workspaceOf(
  files: Readonly<Record<string, string>>,
  packages: readonly Partial<PackageFacts>[] = [],
): Workspace {
  return {
    files: Object.entries(files).map(([path, text]) => sourceFile(path, text)),
    packages: FOLDERS.map((folder) => ({
      folder,
      name: folder === 'inspan' ? folder : `@inspan/${folder}`,
      exports: ['.', './part', './data/*.json'],
      dependencies: [],
      ...packages.find((facts) => facts.folder === folder),
    })),
    devDependencies: ['fast-check'],
  }
}

function isRefused(from: string, to: string): boolean {
  return wrongArrows(workspaceOf({ [from]: `import type { A } from '${to}'` })).length > 0
}

describe('the door of the engine', () => {
  const core = 'packages/core/src'
  const cases: readonly (readonly [from: string, to: string, isRefused: boolean])[] = [
    ['harness/threads/a.ts', '../../engine/index.ts', false],
    ['harness/threads/a.ts', '../../common/mailbox.ts', false],
    ['harness/threads/a.ts', '../../engine/log/thread-log.ts', true],
    ['harness/a.test.ts', '../engine/log/thread-log.ts', true],
    ['harness/a.test.ts', '../engine/foreign-agent.fixture.ts', false],
    ['harness/a.ts', '../engine/foreign-agent.fixture.ts', true],
    ['engine/a.ts', '../harness/session.ts', true],
    ['engine/a.test.ts', '../harness/session.ts', false],
  ]
  for (const [from, to, isRefused] of cases) {
    it(`${isRefused ? 'is not passed by' : 'lets pass'} ${from} → ${to}`, () => {
      const breaches = importsPastTheEngineDoor(workspaceOf({ [`${core}/${from}`]: `import { a } from '${to}'` }))
      assert.equal(breaches.length, isRefused ? 1 : 0)
    })
  }
})

describe('the order of packages', () => {
  const allowed: readonly (readonly [string, string])[] = [
    ['shell', 'protocol'],
    ['agent', 'shell'],
    ['core', 'adapters'],
    ['sdk', 'core'],
    ['server', 'sdk'],
    ['inspan', 'server'],
    ['inspan', 'client'],
    ['client', 'protocol'],
    ['testing', 'protocol'],
    ['postgres', 'stores'],
  ]
  for (const [from, to] of allowed) {
    it(`lets ${from} import ${to}`, () => assert.ok(!isRefused(`packages/${from}/src/a.ts`, `@inspan/${to}`)))
  }

  const refused: readonly (readonly [string, string])[] = [
    ['protocol', 'shell'],
    ['shell', 'agent'],
    ['agent', 'tools'],
    ['tools', 'memory'],
    ['stores', 'core'],
    ['postgres', 'core'],
    ['adapters', 'agent'],
    ['agent', 'core'],
    ['core', 'sdk'],
    ['sdk', 'server'],
    ['client', 'core'],
    ['server', 'client'],
    ['testing', 'core'],
    ['core', 'testing'],
    ['inspan', 'testing'],
  ]
  for (const [from, to] of refused) {
    it(`does not let ${from} import ${to}`, () => {
      assert.ok(isRefused(`packages/${from}/src/a.ts`, `@inspan/${to}`))
      assert.ok(isRefused(`packages/${from}/src/a.ts`, `@inspan/${to}/part`))
    })
  }

  it('lets tests, benches and the demo agent use the testing package', () => {
    for (const file of ['core/src/a.test.ts', 'core/src/a.bench.ts', 'core/test/a.ts', 'inspan/src/demo-agent.ts']) {
      assert.ok(!isRefused(`packages/${file}`, '@inspan/testing'), file)
    }
  })

  it('the order of packages names every package', () => {
    assert.equal(wrongArrows(workspaceOf({ 'packages/extra/src/a.ts': '' })).length, 1)
  })
})

describe('adapters', () => {
  function isRefusedBetween(from: string, to: string): boolean {
    const files = { [`packages/adapters/src/${from}`]: `import { a } from '${to}'` }
    return adaptersImportingEachOther(workspaceOf(files)).length > 0
  }
  it('do not import each other', () => assert.ok(isRefusedBetween('codex/parse.ts', '../pi/parse.ts')))
  it('may share the kit', () => assert.ok(!isRefusedBetween('codex/parse.ts', '../kit/mapper.ts')))
  it('may use their own files', () => assert.ok(!isRefusedBetween('codex/a/parse.ts', '../tools.ts')))
  it('kilo-code may build on opencode', () => assert.ok(!isRefusedBetween('kilo-code/a.ts', '../opencode/a.ts')))
  it('opencode may not build on kilo-code', () => assert.ok(isRefusedBetween('opencode/a.ts', '../kilo-code/a.ts')))
  it('the kit knows no adapter', () => assert.ok(isRefusedBetween('kit/a.ts', '../codex/a.ts')))
  it('the door knows all', () => assert.ok(!isRefusedBetween('index.ts', './codex/a.ts')))
})

describe('internals', () => {
  function isRefusedAs(path: string, specifier: string): boolean {
    return importsOfInternals(workspaceOf({ [path]: `import '${specifier}'` })).length > 0
  }
  it('are not imported by path', () => {
    assert.ok(isRefusedAs('packages/core/src/a.ts', '../../protocol/src/index.ts'))
    assert.ok(isRefusedAs('scripts/a.ts', '../packages/protocol/src/index.ts'))
  })
  it('are not the helpers of tests, for the suites of packed packages alone', () => {
    assert.ok(!isRefusedAs('scripts/pack-test/a.ts', '../../packages/adapters/test/a.ts'))
    assert.ok(isRefusedAs('scripts/pack-test/a.ts', '../../packages/adapters/src/a.ts'))
    assert.ok(isRefusedAs('scripts/a.ts', '../packages/adapters/test/a.ts'))
  })
  it('are not imported by name', () => assert.ok(isRefusedAs('packages/core/src/a.ts', '@inspan/protocol/src/a.ts')))
  it('are those of other packages', () => assert.ok(!isRefusedAs('packages/core/test/a.ts', '../src/b.ts')))
  it('are not what is exported', () => {
    for (const name of ['@inspan/protocol', '@inspan/protocol/part', '@inspan/protocol/data/a.json']) {
      assert.ok(!isRefusedAs('packages/core/src/a.ts', name), name)
    }
  })
})

describe('dependencies', () => {
  const declares = [{ folder: 'core', dependencies: ['hono', '@scope/name'] }]

  it('have to be declared by the package that imports them', () => {
    const files = { 'packages/core/src/a.ts': `import 'hono/jsx'; import '@scope/name/a'; import 'ws'` }
    assert.equal(undeclaredDependencies(workspaceOf(files, declares)).length, 1)
  })
  it('need a prefix when they are built in', () => {
    const files = { 'packages/core/src/a.ts': `import 'node:fs'; import 'fs'` }
    assert.equal(undeclaredDependencies(workspaceOf(files)).length, 1)
  })
  it('dependencies of the workspace are for tests only', () => {
    const files = {
      'packages/core/src/a.ts': `import 'fast-check'`,
      'packages/core/src/a.test.ts': `import 'fast-check'`,
    }
    assert.deepEqual(undeclaredDependencies(workspaceOf(files)).length, 1)
  })
  it('have to be imported by a source', () => {
    const files = { 'packages/core/src/a.ts': `import 'hono'`, 'packages/core/src/a.test.ts': `import '@scope/name'` }
    assert.deepEqual(unusedDependencies(workspaceOf(files, declares)), ['@inspan/core declares @scope/name'])
  })
})

it('imports from outside are found through other modules', () => {
  const files = {
    'packages/protocol/src/index.ts': `export { a } from './a/a.ts'`,
    'packages/protocol/src/a/a.ts': `import '../b.ts'`,
    'packages/protocol/src/b.ts': `import './index.ts'; import 'node:fs'; const zod = await import('zod')`,
    'packages/protocol/src/unreached.ts': `import 'ws'`,
  }
  assert.deepEqual(outsideImports(workspaceOf(files), 'packages/protocol/src/index.ts'), [
    'packages/protocol/src/b.ts imports node:fs',
    'packages/protocol/src/b.ts imports zod',
  ])
})

it('exports without names are found', () => {
  const files = { 'packages/core/src/a.ts': `export * from './b.ts'`, 'packages/core/src/b.ts': `export default 1` }
  assert.equal(exportsWithoutNames(workspaceOf(files)).length, 2)
})

it('long sources are found; types and lists of exports may be longer, tests as long as they need to be', () => {
  const files = {
    'packages/core/src/code.ts': 'const a = 1\n'.repeat(501),
    'packages/core/src/enough.ts': 'const a = 1\n'.repeat(500),
    'packages/core/src/types.ts': `/** A. */\nexport type { A } from './a.ts'\n${'type B = 1\n'.repeat(698)}`,
    'packages/core/src/index.ts': `export {\n${'  a,\n'.repeat(600)}} from './a.ts'\n`,
    'packages/core/src/index-with-code.ts': `export {\n${'  a,\n'.repeat(600)}} from './a.ts'\nrun()\n`,
    'packages/core/src/a.test.ts': 'const a = 1\n'.repeat(800),
    'packages/core/src/too-many-types.ts': 'type A = 1\n'.repeat(701),
  }
  assert.deepEqual(longFiles(workspaceOf(files)), [
    'packages/core/src/code.ts has 501 lines',
    'packages/core/src/index-with-code.ts has 603 lines',
    'packages/core/src/too-many-types.ts has 701 lines',
  ])
})
