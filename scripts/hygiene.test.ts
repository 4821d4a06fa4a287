import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keptFiles } from './hygiene/kept-files.ts'
import { lockedVersions, nameOf, runTimePackages, tooYoung, type LockFile } from './hygiene/lock-file.ts'
import { tracesIn } from './hygiene/traces.ts'
import { toSource, type Manifest } from './pack-exports.ts'
import { run } from './pack-test/run.ts'

interface PackageJson extends Manifest {
  readonly scripts?: Readonly<Record<string, string>>
  readonly private?: boolean
  readonly publishConfig?: unknown
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly allowScripts?: Readonly<Record<string, boolean>>
}

/** How many third-party packages each of ours installs. Raise a number only on purpose, and say why in the change. */
const RUN_TIME_PACKAGES: Readonly<Record<string, number>> = {
  protocol: 0,
  shell: 1,
  adapters: 3,
  agent: 5,
  core: 23,
  testing: 3,
  tools: 16,
  memory: 0,
  sdk: 24,
  server: 27,
  client: 0,
  stores: 0,
  postgres: 23,
  studio: 0,
  inspan: 31,
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const workspace = readJson('package.json') as PackageJson
const lock = readJson('package-lock.json') as LockFile
const folders = readdirSync(join(root, 'packages'))
const packages = folders.map((folder) => ({
  folder,
  manifest: readJson(`packages/${folder}/package.json`) as PackageJson,
}))

describe('nothing runs because it was installed', () => {
  it('no package of ours has a script that npm runs at install', () => {
    const atInstall = /^(pre|post)?(install|prepare|prepublish)$/
    for (const { folder, manifest } of packages) {
      assert.deepEqual(
        Object.keys(manifest.scripts ?? {}).filter((name) => atInstall.test(name)),
        [],
        manifest.name,
      )
      assert.ok(!existsSync(join(root, 'packages', folder, 'binding.gyp')), `npm would build ${manifest.name}`)
    }
  })

  it('no dependency has one, except those named as allowed or refused', () => {
    const withScript = Object.entries(lock.packages).filter(([, locked]) => locked.hasInstallScript === true)
    assert.deepEqual(
      new Set(withScript.map(([place]) => nameOf(place))),
      new Set(Object.keys(workspace.allowScripts ?? {})),
    )
    const allowed = Object.entries(workspace.allowScripts ?? {}).filter(([, isAllowed]) => isAllowed)
    assert.deepEqual(
      allowed.map(([name]) => name),
      ['node'],
    )
  })
})

describe('dependencies are added on purpose', () => {
  it('every package has as many at run time as it declares', () => {
    const found = folders.map((folder) => [folder, runTimePackages(lock, folder).length] as const)
    assert.deepEqual(Object.fromEntries(found), { ...RUN_TIME_PACKAGES })
  })

  it('the workspace pins the versions of its tools', () => {
    for (const [name, version] of Object.entries(workspace.devDependencies ?? {})) {
      assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
    }
  })

  it('the lock file has the hash of every package, and of none where it came from', () => {
    for (const [place, locked] of Object.entries(lock.packages)) {
      if (!place.includes('node_modules/')) continue
      if (locked.link === true) assert.match(locked.resolved ?? '', /^packages\/[\w-]+$/, place)
      else {
        assert.equal(locked.resolved, undefined, place)
        assert.match(locked.integrity ?? '', /^sha512-/, place)
      }
    }
  })

  it('no version is younger than the cooldown, within which bad ones are found and withdrawn', () => {
    const days = Number(/^min-release-age=(\d+)$/m.exec(readFileSync(join(root, '.npmrc'), 'utf8'))?.[1])
    assert.ok(days >= 7, 'npm itself must keep the cooldown when something is added')
    const dates = readJson('scripts/release-dates.json') as Readonly<Record<string, string>>
    assert.deepEqual(tooYoung(lock, dates, days, Date.now()), [], 'pin older ones, or run scripts/release-dates.ts')
    // No stale dates either: a date without its version would wait for the version to come back.
    assert.deepEqual(
      Object.keys(dates).sort(),
      lockedVersions(lock)
        .map(({ name, version }) => `${name}@${version}`)
        .sort(),
    )
  })

  it('the lock file is complete', async () => {
    await run('npm', ['ci', '--dry-run', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: root })
  })
})

describe('what is published', () => {
  it('can be traced to its source', () => {
    for (const { manifest } of packages) {
      assert.deepEqual(manifest.publishConfig, { access: 'public', provenance: true }, manifest.name)
    }
  })

  it('can be published by a release job alone: no token, no login, no script that does it', () => {
    assert.equal(workspace.private, true, 'the root could be published by mistake')
    assert.doesNotMatch(readFileSync(join(root, '.npmrc'), 'utf8'), /_auth|_password|^username|^(\S+:)?registry *=/im)
    for (const manifest of [workspace, ...packages.map((one) => one.manifest)]) {
      const publishing = Object.entries(manifest.scripts ?? {}).filter(([, script]) =>
        /\bnpm (publish|login|owner)\b/.test(script),
      )
      assert.deepEqual(publishing, [], manifest.name)
    }
  })

  it('has its publish rights reviewed, and who may do what is written down', () => {
    const releases = /^## Releases\n(.+?)^(?=## |Contributions)/ms.exec(
      readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'),
    )?.[1]
    for (const said of [/trusted publisher/, /provenance/, /Publish rights are reviewed/, /two factors/]) {
      assert.match(releases ?? '', said)
    }
  })

  it('was not left prepared by a pack that was interrupted (node scripts/pack.ts restore)', () => {
    for (const { folder, manifest } of packages) {
      assert.deepEqual(manifest, toSource(manifest))
      assert.ok(!existsSync(join(root, 'packages', folder, 'LICENSE')), `packages/${folder}/LICENSE is a copy`)
    }
  })
})

it('no file names the machine it was written on or how the work was organised', async () => {
  const traces: string[] = []
  for (const file of await keptFiles(root)) {
    const text = await readFile(join(root, file), 'latin1')
    traces.push(...tracesIn(text, root).map((trace) => `${file}: ${trace}`))
  }
  assert.deepEqual(traces, [])
})

it('every package declares where its sources are and which Node.js it needs', () => {
  for (const { folder, manifest } of packages) {
    const { engines, repository } = manifest as { readonly engines?: unknown; readonly repository?: unknown }
    const url = 'git+https://github.com/inspan/inspan.git'
    assert.deepEqual(repository, { type: 'git', url, directory: `packages/${folder}` })
    assert.deepEqual(engines, { node: '>=22.13' })
    assert.match(readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8'), /Node\.js 22\.13 or newer/, folder)
  }
})

it('nothing but the changelog uses the former name of the project', async () => {
  // Joined, so that this file passes.
  const former = new RegExp(['ev', 'ener'].join(''), 'i')
  const found: string[] = []
  for (const file of await keptFiles(root)) {
    if (file === 'CHANGELOG.md') continue
    if (former.test(file) || former.test(await readFile(join(root, file), 'latin1'))) found.push(file)
  }
  assert.deepEqual(found, [])
})

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}
