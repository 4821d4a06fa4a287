import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from './pack-test/run.ts'
import { copyWorkspace } from './pack-test/workspace-copy.ts'
import { notesOf, withRelease } from './release/changelog.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

describe('a release (its dry run is in pack.test.ts)', () => {
  it('raises all packages to one version and moves the changes into the changelog', async (t) => {
    const copy = mkdtempSync(join(tmpdir(), 'inspan-release-'))
    t.after(() => rmSync(copy, { recursive: true, force: true }))
    await copyWorkspace(root, copy)
    cpSync(join(root, 'package-lock.json'), join(copy, 'package-lock.json'))
    // Without the changes that wait for the next release.
    for (const name of ['README.md', 'config.json'])
      cpSync(join(root, '.changeset', name), join(copy, '.changeset', name))
    writeFileSync(join(copy, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\nBy hand.\n\n## [0.0.9]\n\nOld.\n')
    const head = "---\n'@inspan/shell': minor\n---\n\n"
    writeFileSync(join(copy, '.changeset', 'kind-cats.md'), `${head}Reads heredocs.\n`)
    await run('git', ['init', '--quiet', '--initial-branch=main'], { cwd: copy })

    const printed = await run('node', ['scripts/release.ts', 'version'], { cwd: copy })
    const current = manifest(root, 'shell').version
    const [major, minor] = current.split('.').map(Number)
    const next = `${major}.${(minor ?? 0) + 1}.0`
    assert.equal(printed, `${next}\n`)
    for (const folder of readdirSync(join(copy, 'packages'))) {
      const { version, dependencies = {} } = manifest(copy, folder)
      assert.equal(version, next, folder)
      for (const [name, range] of Object.entries(dependencies)) {
        if (name.startsWith('@inspan/')) assert.equal(range, next, `${folder} depends on ${name}`)
      }
    }
    const notes = await run('node', ['scripts/release.ts', 'notes', `v${next}`], { cwd: copy })
    assert.equal(notes, 'By hand.\n\n- Reads heredocs.\n')
    assert.deepEqual(readdirSync(join(copy, '.changeset')).sort(), ['README.md', 'config.json'])
    await assert.rejects(run('node', ['scripts/release.ts', 'check', '--tag', 'v9.9.9'], { cwd: copy }), /v9\.9\.9/)
    await assert.rejects(run('node', ['scripts/release.ts', 'version'], { cwd: copy }), /no changeset/)
  })
})

describe('the changelog', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n\n- First.\n'

  it('returns the notes of one version', () => {
    assert.equal(notesOf(changelog, '0.1.0'), '- First.')
    assert.equal(notesOf(changelog, '0.1'), undefined)
  })

  it('keeps older versions below a new one', () => {
    const changed = withRelease(changelog, { version: '0.2.0', date: '2026-03-04', changes: ['Second.\nMore.'] })
    assert.equal(
      changed,
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n- Second.\n  More.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n',
    )
  })
})

function manifest(folder: string, name: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'packages', name, 'package.json'), 'utf8')) as { version: string }
}
