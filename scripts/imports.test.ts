import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
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
} from './imports/rules.ts'
import { readWorkspace } from './imports/workspace.ts'

const workspace = await readWorkspace(dirname(dirname(fileURLToPath(import.meta.url))))

describe('imports', () => {
  it('are read from every package', () => {
    for (const { folder, name } of workspace.packages) {
      const sources = workspace.files.filter((file) => file.folder === folder && file.role === 'source')
      assert.ok(sources.length > 0, `${name} has no sources`)
    }
  })

  it('point one way: protocol ◀ shell ◀ agent, tools, memory, adapters ◀ core ◀ sdk ◀ server ◀ inspan', () => {
    assert.deepEqual(wrongArrows(workspace), [])
  })

  it('never lead from one adapter to another, except from kilo-code to opencode', () => {
    assert.deepEqual(adaptersImportingEachOther(workspace), [])
  })

  it('reach another package only through what it exports', () => {
    assert.deepEqual(importsOfInternals(workspace), [])
  })

  it('lead from the harness into the engine only through its door', () => {
    assert.deepEqual(importsPastTheEngineDoor(workspace), [])
  })

  it('name only dependencies that the package declares', () => {
    assert.deepEqual(undeclaredDependencies(workspace), [])
  })

  it('use every dependency that the package declares', () => {
    assert.deepEqual(unusedDependencies(workspace), [])
  })

  it('leave the protocol without dependencies and fit for a browser', () => {
    assert.deepEqual(outsideImports(workspace, 'packages/protocol/src/index.ts'), [])
  })

  it('leave the client fit for a browser, with nothing but the protocol; its hooks also need React', () => {
    const outside = (file: string): readonly string[] => outsideImports(workspace, `packages/client/src/${file}`)
    const doors = ['index.ts', 'export/index.ts', 'compare/index.ts'].flatMap(outside)
    assert.ok(doors.length > 0)
    assert.deepEqual(
      doors.filter((sentence) => !/ imports @inspan\/protocol(?:\/(?:wire|log|internal))?$/.test(sentence)),
      [],
    )
    assert.deepEqual(
      outside('react.ts').filter(
        (sentence) => !/ imports (?:@inspan\/protocol(?:\/(?:wire|log|internal))?|react)$/.test(sentence),
      ),
      [],
    )
  })

  it('leave the reading of shell commands pure', () => {
    const outside = outsideImports(workspace, 'packages/shell/src/read/index.ts')
    assert.deepEqual(
      outside.filter((sentence) => !/ imports (unbash|@inspan\/protocol)$/.test(sentence)),
      [],
    )
  })
})

describe('modules', () => {
  it('export by name', () => assert.deepEqual(exportsWithoutNames(workspace), []))
  it('stay short: 500 lines, 700 where there are only types or a list of exports', () =>
    assert.deepEqual(longFiles(workspace), []))
})
