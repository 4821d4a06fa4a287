import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { whyLeftOut } from './platforms/left-out.ts'
import { describeLeftOut, selectFor } from './platforms/test-files.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const files = globSync('packages/*/src/**/*.test.ts', { cwd: root }).sort()

describe('test files on other systems', () => {
  it('all run on Linux', () => {
    assert.deepEqual(selectFor('linux', files, root), { files, leftOut: new Map() })
  })

  it('are left out by what they use, and are named with the reason', () => {
    const file = 'packages/core/src/a.test.ts'
    assert.equal(whyLeftOut('darwin', file, `read('/proc/1')`), 'reads /proc')
    assert.equal(whyLeftOut('darwin', file, `run('/bin/sh')`), undefined)
    assert.match(whyLeftOut('win32', file, `run('/bin/sh')`) ?? '', /bin\/sh/)
    assert.equal(
      describeLeftOut(new Map([[file, 'reads /proc']])),
      'Not run, because it reads /proc:\n  packages/core/src/a.test.ts',
    )
  })

  it('are left out for what their helpers use', () => {
    const { leftOut } = selectFor('win32', ['packages/core/src/engine/turns/handover.test.ts'], root)
    assert.equal(leftOut.size, 1)
  })

  it('run in large part, with those of the pure packages among them', () => {
    const onWindows = selectFor('win32', files, root).files
    for (const name of ['protocol', 'agent', 'client']) {
      assert.ok(
        onWindows.some((file) => file.startsWith(join('packages', name))),
        name,
      )
    }
    assert.ok(selectFor('darwin', files, root).files.length > onWindows.length)
    assert.ok(onWindows.length > files.length / 3)
  })
})
