/** What a user gets: every package packed, installed outside the workspace, and used on all supported Nodes. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { testExamples } from './pack-test/examples.ts'
import { testFirstHour } from './pack-test/first-hour.ts'
import { nodeRelease } from './pack-test/node-release.ts'
import { installPacked, packAll } from './pack-test/packed.ts'
import { run } from './pack-test/run.ts'
import { complaintsAbout as complaintsOf } from './release/tarball-checks.ts'

interface PackageJson {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license?: string
  readonly type?: string
  readonly sideEffects?: boolean
  readonly engines?: { readonly node?: string }
  readonly repository?: { readonly type?: string; readonly url?: string; readonly directory?: string }
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const workspace = readJson(join(root, 'package.json'))
const folders = readdirSync(join(root, 'packages'))
const packages = folders.map((folder) => ({ folder, source: readJson(join(root, 'packages', folder, 'package.json')) }))

/** The oldest version that `engines` allows, the newest of that line, and the one the project itself runs on. */
const NODES = ['22.13.0', '22.23.3', workspace.devDependencies?.['node'] ?? '']
/** The others bring their own reference alone, so that an installation does not have the pages a dozen times. */
const INSTALLED_FIRST: ReadonlySet<string> = new Set(['@inspan/core', 'inspan'])
/** Installs from the network, while other tests run. */
const INSTALL_TIMEOUT_MS = 900_000

const base = await realpath(await mkdtemp(join(tmpdir(), 'inspan-pack-')))
const copy = join(base, 'workspace')
const tarballs = join(base, 'tarballs')
const consumer = join(base, 'consumer')
const places = { root, copy, tarballs, consumer }
const nodes = new Map<string, string>()

before(
  async () => {
    await Promise.all([fetchNodes(), packAll(places)])
    await installPacked(places, others())
  },
  { timeout: INSTALL_TIMEOUT_MS },
)

after(() => rm(base, { recursive: true, force: true }))

/** Returns a module and everything it imports statically from its own package. */
async function loadedWith(module: string, found = new Set<string>()): Promise<ReadonlySet<string>> {
  if (found.has(module)) return found
  found.add(module)
  const text = await readFile(module, 'utf8')
  for (const [, file = ''] of text.matchAll(/(?:\bfrom|^import) "(\.[^"]+)"/gm)) {
    await loadedWith(join(dirname(module), file), found)
  }
  return found
}

describe('packing', () => {
  it('leaves the manifests as they were, also after a pack that was interrupted', async () => {
    for (const { folder } of packages) {
      const names = await readdir(join(copy, 'packages', folder))
      assert.ok(!names.includes('LICENSE'), `${folder}: the copied LICENSE was left behind`)
      assert.equal(
        await readFile(join(copy, 'packages', folder, 'package.json'), 'utf8'),
        await readFile(join(root, 'packages', folder, 'package.json'), 'utf8'),
      )
    }
  })

  for (const { source } of packages) {
    describe(source.name, () => {
      it('holds what was built, a README and the licence, and nothing else', async () => {
        const files = await filesOf(installed(source.name))
        const built = builtEntries(source).flatMap((entry) => [`${entry}.js`, `${entry}.d.ts`])
        for (const needed of ['package.json', 'README.md', 'LICENSE', ...built]) {
          assert.ok(files.includes(needed), `${needed} is missing`)
        }
        const unwanted = files.filter((file) => !isWanted(file))
        assert.deepEqual(unwanted, [])
      })

      it('contains its own reference if it can be imported, and all pages if people install it first', async () => {
        const files = await filesOf(installed(source.name))
        const isLibrary = Object.values(source.exports).some((file) => String(file).endsWith('.ts'))
        const pages = ['guide', 'internals'].flatMap((part) =>
          readdirSync(join(root, 'docs', part)).map((page) => `docs/${part}/${page}`),
        )
        const wanted = [
          ...(isLibrary ? ['docs/reference.md'] : []),
          ...(INSTALLED_FIRST.has(source.name) ? [...pages, 'docs/llms.txt'] : []),
        ]
        assert.deepEqual(files.filter((file) => file.startsWith('docs/')).sort(), wanted.sort())
        if (!isLibrary) return
        const reference = await readFile(join(installed(source.name), 'docs/reference.md'), 'utf8')
        assert.ok(reference.startsWith(`# ${source.name}\n`))
      })

      it('is few files, so that it starts quickly, with every entry under its own name', async () => {
        const files = await filesOf(installed(source.name))
        // What is served to browsers is loaded by none of them.
        const modules = files.filter((file) => /^dist\/(?!pages\/).*\.js$/.test(file))
        // Dynamic imports are in small files of their own.
        for (const entry of builtEntries(source)) {
          const atOnce = await loadedWith(join(installed(source.name), `${entry}.js`))
          assert.ok(atOnce.size <= 60, `${entry}: ${atOnce.size} modules are loaded at once`)
        }
        assert.ok(modules.length <= files.filter((file) => file.endsWith('.d.ts')).length)
      })

      it('has source maps that need no other file', async () => {
        for (const file of (await filesOf(installed(source.name))).filter((name) => name.endsWith('.map'))) {
          const map = JSON.parse(await readFile(join(installed(source.name), file), 'utf8')) as {
            sources: string[]
            sourcesContent?: (string | null)[]
          }
          assert.equal(map.sourcesContent?.filter((content) => content !== null).length, map.sources.length, file)
        }
      })

      it('reports what it is, and depends on exactly this version of its siblings', () => {
        const manifest = readJson(join(installed(source.name), 'package.json'))
        assert.equal(manifest.license, 'Apache-2.0')
        assert.equal(manifest.type, 'module')
        assert.equal(manifest.sideEffects, false)
        assert.equal(manifest.engines?.node, '>=22.13')
        assert.ok(manifest.description, 'the description is missing')
        assert.deepEqual(Object.keys(manifest.repository ?? {}).toSorted(), ['directory', 'type', 'url'])
        const siblings = packages.map((sibling) => sibling.source)
        for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
          const sibling = siblings.find((candidate) => candidate.name === name)
          if (sibling !== undefined) assert.equal(range, sibling.version, name)
        }
      })

      it('passes publint and "Are the types wrong?"', async () => {
        assert.deepEqual(await complaintsOf(join(tarballs, tarballName(source))), [])
      })
    })
  }
})

describe('a dry run of the release job', () => {
  it('accepts these tarballs', async () => {
    const said = await run('node', ['scripts/release.ts', 'check', '--tarballs', tarballs], { cwd: copy })
    assert.match(said, new RegExp(`^${packages.length} packages of version `, 'm'))
  })

  it('refuses a package that is missing', async () => {
    const check = run('node', ['scripts/release.ts', 'check', '--tarballs', consumer], { cwd: copy })
    await assert.rejects(check, new RegExp(`0 tarballs for ${packages.length} packages`))
  })
})

for (const version of NODES) {
  describe(`installed, on Node ${version}`, () => {
    it('is that version', async () => {
      assert.equal((await node(version, '--version')).trim(), `v${version}`)
    })

    it('imports every entry of every package', async () => {
      await writeFile(
        join(consumer, 'entries.mjs'),
        entries()
          .map((entry) => `await import(${JSON.stringify(entry)})`)
          .join('\n'),
      )
      await node(version, 'entries.mjs')
    })

    it("runs the README's first program", async () => {
      await writeFile(join(consumer, 'first-program.ts'), firstProgram())
      const output = await node(version, ...typeStripping(version), 'first-program.ts')
      assert.equal(output, 'Hello from Inspan.\n')
    })

    it('ends what a program of ours has started when that program is killed', async () => {
      await writeFile(
        join(consumer, 'host.mjs'),
        [
          "import { spawnRun } from '@inspan/shell/run'",
          "const run = await spawnRun({ command: '/bin/sh', args: ['-c', 'echo $$; exec sleep 600'] })",
          'run.stderr.discard()',
          'for await (const line of run.stdout) {',
          '  console.log(line.text)',
          "  process.kill(process.pid, 'SIGKILL')",
          '}',
        ].join('\n'),
      )
      const pid = Number((await nodeThatDies(version, 'host.mjs')).trim())
      assert.ok(pid > 1)
      while (existsSync(`/proc/${pid}`)) await delay(50)
    })

    it('runs the command, which prints its help and its version', async () => {
      assert.match(await inspan(version, '--help'), /^Usage: inspan /m)
      const { version: ours } = packages.find(({ source }) => source.name === 'inspan')?.source ?? {}
      assert.equal(await inspan(version, '--version'), `${ours}\n`)
    })

    it('runs the demo agent, and keeps what it said in a file', async () => {
      const db = join(consumer, `demo-${version}.db`)
      const lines = await inspan(version, 'run', '--demo', '--json', '--db', db)
      const events = lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string })
      assert.equal(events.at(-1)?.type, 'finish')
      assert.match(await inspan(version, 'threads', '--db', db), /\S/)
    })
  })
}

describe('examples', () => {
  testExamples({ root, consumer, node: () => join(nodeFolder(NODES[2] ?? ''), 'node') })
})

describe('the first hour', () => {
  testFirstHour({ root, consumer, firstProgram })
})

describe('types', () => {
  it('hold for a strict consumer that checks libraries too', async () => {
    await writeFile(join(consumer, 'first-program.ts'), firstProgram())
    await cp(join(root, 'scripts/pack-test/programs/typed-tools.ts'), join(consumer, 'typed-tools.ts'))
    assert.deepEqual(await complaintsAbout(entries(), 'first-program.ts', 'typed-tools.ts'), [])
  })

  it('need no optional package, unless the entry needs it to run', async () => {
    // Must be the last test, because nothing restores the packages.
    for (const name of peers()) await rm(join(consumer, 'node_modules', name), { recursive: true })
    const needy = new Set(['@inspan/protocol/schema', '@inspan/testing/arbitraries'])
    assert.deepEqual(await complaintsAbout(entries().filter((entry) => !needy.has(entry))), [])
  })
})

/** Returns the compiler's errors for a program that imports these entries. */
async function complaintsAbout(imported: readonly string[], ...files: string[]): Promise<readonly string[]> {
  const imports = imported.map((entry, index) => `import * as entry${index} from ${JSON.stringify(entry)}`)
  const names = imported.map((_, index) => `entry${index}`)
  await writeFile(join(consumer, 'entries.ts'), `${imports.join('\n')}\nconsole.log(${names.join(', ')})\n`)
  await writeFile(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: documentedTarget(),
        lib: [documentedTarget()],
        module: 'nodenext',
        moduleResolution: 'nodenext',
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        types: ['node'],
        noEmit: true,
      },
      files: [...files, 'entries.ts'],
    }),
  )
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  // One of our dependencies imports types it does not install. That is not ours to fix.
  const report = await run(tsc, ['-p', '.', '--pretty', 'false'], { cwd: consumer, mayFail: true })
  const complaints = report.split('\n').filter((line) => / error TS\d+: /.test(line))
  return complaints.filter((line) => !/^node_modules\/(?!@inspan\/|inspan\/)/.test(line))
}

/** Returns the oldest target that the page on installing promises. */
function documentedTarget(): string {
  const page = readFileSync(join(root, 'docs/guide/install.md'), 'utf8')
  return /`target` \(or `lib`\) of `(es\d+)` or newer/.exec(page)?.[1] ?? 'not documented'
}

async function fetchNodes(): Promise<void> {
  const cache = join(root, 'node_modules', '.cache', 'inspan')
  for (const version of NODES) {
    const isOwn = version === workspace.devDependencies?.['node']
    nodes.set(version, isOwn ? join(root, 'node_modules', 'node', 'bin') : await nodeRelease(version, cache))
  }
}

/** Returns the optional peers too, at the version the project tests with, because some entries need them. */
function others(): string[] {
  return [...peers(), '@types/node', '@ai-sdk/anthropic', 'ai', 'esbuild', 'react-dom'].map(
    (name) => `${name}@${workspace.devDependencies?.[name]}`,
  )
}

function peers(): readonly string[] {
  const named = packages.flatMap(({ source }) => Object.keys(source.peerDependencies ?? {}))
  // Our own are among the packages that are installed.
  return [...new Set(named)].filter((name) => !name.startsWith('@inspan/'))
}

function node(version: string, ...args: string[]): Promise<string> {
  return run(join(nodeFolder(version), 'node'), args, { cwd: consumer })
}

/** Returns what a program printed before a signal ended it. */
function nodeThatDies(version: string, ...args: string[]): Promise<string> {
  return run('sh', ['-c', '"$0" "$@"; test $? = 137', join(nodeFolder(version), 'node'), ...args], { cwd: consumer })
}

/** Node 22 strips types by default since 22.18. */
function typeStripping(version: string): string[] {
  return version === NODES[0] ? ['--experimental-strip-types'] : []
}

function inspan(version: string, ...args: string[]): Promise<string> {
  return run(join(consumer, 'node_modules', '.bin', 'inspan'), args, { cwd: consumer, path: [nodeFolder(version)] })
}

function nodeFolder(version: string): string {
  const folder = nodes.get(version)
  if (folder === undefined) throw new Error(`Node ${version} was not installed`)
  return folder
}

function installed(name: string): string {
  return join(consumer, 'node_modules', name)
}

function tarballName({ name, version }: PackageJson): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** Returns what can be imported by name. Patterns and data files are left to publint. */
function entries(): string[] {
  return packages.flatMap(({ source }) =>
    Object.keys(source.exports)
      .filter((entry) => !entry.includes('*'))
      .map((entry) => join(source.name, entry).replaceAll('\\', '/')),
  )
}

/** Returns the files that the sources are built into, without the extension. */
function builtEntries({ exports }: PackageJson): string[] {
  return Object.values(exports)
    .filter((target) => typeof target === 'string' && target.endsWith('.ts'))
    .map((target) => String(target).replace('./src/', 'dist/').replace(/\.ts$/, ''))
}

function isWanted(file: string): boolean {
  if (/^(package\.json|README\.md|LICENSE)$/.test(file)) return true
  if (/^docs\/(reference\.md|llms\.txt|(guide|internals)\/[\w-]+\.md)$/.test(file)) return true
  if (/^dist\/pages\/(assets\/)?[\w-]+\.(html|css|js|png|svg|webmanifest)$/.test(file)) return true
  if (/(^|[./-])(test|tests|bench|real|machines|fixture|fixtures)([./-]|$)/.test(file)) return false
  return /^dist\/.+\.(js|js\.map|d\.ts)$|^bin\/[^/]+\.js$|^schemas\/[^/]+\.json$/.test(file)
}

async function filesOf(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}

function firstProgram(): string {
  const block = /^```ts first-program\n(.+?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  assert.ok(block, 'README.md has no block that starts with "```ts first-program"')
  return block
}

function readJson(file: string): PackageJson {
  return JSON.parse(readFileSync(file, 'utf8')) as PackageJson
}
