/**
 * The steps of a release:
 *
 * - `node scripts/release.ts version` turns the changesets into a version and a section of the changelog.
 * - `node scripts/release.ts check [--tag v1.2.3] [--tarballs <folder>]` does what the release job does, without
 *   publishing. It packs the packages, unless a folder with the tarballs is given.
 * - `node scripts/release.ts notes v1.2.3` prints the section of the changelog.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { run } from './pack-test/run.ts'
import { notesOf, textOfChangeset, withRelease } from './release/changelog.ts'
import { complaintsAbout } from './release/tarball-checks.ts'

interface PackageJson {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const path = [join(root, 'node_modules', '.bin')]
const changelogFile = join(root, 'CHANGELOG.md')
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { tag: { type: 'string' }, tarballs: { type: 'string' } },
})
const [task, tag] = positionals

switch (task) {
  case 'version':
    await version()
    break
  case 'check':
    await check()
    break
  case 'notes':
    console.log(notesFor(tag ?? ''))
    break
  default:
    console.error('Usage: node scripts/release.ts version | check [--tag <tag>] [--tarballs <folder>] | notes <tag>')
    process.exitCode = 2
}

/** Changesets raises the versions. Its changelogs per package would repeat each other, so there is one for all. */
async function version(): Promise<void> {
  const folder = join(root, '.changeset')
  const files = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
  if (files.length === 0) throw new Error('There is no changeset: nothing would be released.')
  const changes = files.map((name) => textOfChangeset(readFileSync(join(folder, name), 'utf8')))
  await run('changeset', ['version'], { cwd: root, path })
  const now = commonVersion()
  const changelog = readFileSync(changelogFile, 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(changelogFile, withRelease(changelog, { version: now, date, changes }))
  console.log(now)
}

async function check(): Promise<void> {
  const now = commonVersion()
  if (values.tag !== undefined) {
    if (values.tag !== `v${now}`) throw new Error(`The tag is ${values.tag}, but the packages have version ${now}.`)
    notesFor(values.tag)
  }
  const made = values.tarballs === undefined ? mkdtempSync(join(tmpdir(), 'inspan-release-')) : undefined
  const folder = made ?? resolve(values.tarballs ?? '')
  try {
    if (made !== undefined)
      await run('npm', ['pack', '--workspaces', '--pack-destination', folder], { cwd: root, path })
    const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    const { length } = packages()
    if (tarballs.length !== length) throw new Error(`${tarballs.length} tarballs for ${length} packages.`)
    for (const tarball of tarballs) await checkTarball(join(folder, tarball))
    console.log(`${length} packages of version ${now} can be published.`)
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
  }
}

async function checkTarball(tarball: string): Promise<void> {
  const complaints = await complaintsAbout(tarball)
  if (complaints.length > 0) throw new Error(`${tarball}\n${complaints.join('\n')}`)
  // Provenance needs the identity of the job, which there is none of here. The manifests ask for it (hygiene.test.ts).
  const args = ['publish', '--dry-run', '--ignore-scripts', '--no-provenance', '--json', tarball]
  await run('npm', args, { cwd: root })
  console.log(`✔ ${tarball.slice(dirname(tarball).length + 1)}`)
}

function notesFor(name: string): string {
  const notes = notesOf(readFileSync(changelogFile, 'utf8'), name.replace(/^v/, ''))
  if (notes === undefined || notes === '') throw new Error(`CHANGELOG.md says nothing about ${name}.`)
  return notes
}

function commonVersion(): string {
  const versions = new Set(packages().map((manifest) => manifest.version))
  const [only, ...others] = versions
  if (only === undefined || others.length > 0) throw new Error(`Several versions: ${[...versions].join(', ')}.`)
  return only
}

function packages(): readonly PackageJson[] {
  return readdirSync(join(root, 'packages'))
    .map((name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as PackageJson)
    .filter((manifest) => manifest.private !== true)
}
