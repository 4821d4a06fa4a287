/**
 * Run by npm before and after `npm pack` and `npm publish` of a package, in that package's folder: `prepare` builds the
 * package and puts its manifest into the published form, `restore` reverts that. An interrupted pack is repaired by
 * packing the package again, or by `node scripts/pack.ts restore`, which restores all packages.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { referencePages } from './docs/reference.ts'
import { bundlePackage } from './pack-bundle.ts'
import { toPublished, toSource, type Manifest } from './pack-exports.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [task, ...folders] = process.argv.slice(2)

/** Packages that people install first. They bring all pages; the others bring their own reference. */
const WITH_ALL_PAGES: ReadonlySet<string> = new Set(['core', 'inspan'])

switch (task) {
  case 'prepare':
    for (const folder of folders) await prepare(resolve(folder))
    break
  case 'restore':
    for (const folder of folders.length > 0 ? folders : await allPackages()) restore(resolve(folder))
    break
  default:
    console.error('Usage: node scripts/pack.ts prepare <folder> … | restore [<folder> …]')
    process.exitCode = 2
}

async function prepare(folder: string): Promise<void> {
  for (const each of await allPackages()) forgetLostBuild(each)
  tsc('-b', folder)
  // Built from scratch: a module that was deleted or renamed must not be published from an old build. Sources go into
  // the source maps, which would otherwise point outside the package. Declaration maps could only do that, so there are
  // none.
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  tsc('-p', folder, '--composite', 'false', '--incremental', 'false', '--declarationMap', 'false', '--inlineSources')
  await bundlePackage(folder)
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  copyDocs(folder)
  rewriteManifest(folder, toPublished)
}

function copyDocs(folder: string): void {
  const name = basename(folder)
  const docs = join(folder, 'docs')
  rmSync(docs, { recursive: true, force: true })
  mkdirSync(docs)
  const reference = referencePages(root).find((page) => page.folder === name)
  if (reference !== undefined) writeFileSync(join(docs, 'reference.md'), reference.text)
  if (!WITH_ALL_PAGES.has(name)) return
  for (const part of ['guide', 'internals']) cpSync(join(root, 'docs', part), join(docs, part), { recursive: true })
  copyFileSync(join(root, 'docs/public/llms.txt'), join(docs, 'llms.txt'))
}

/** `tsc -b` goes by its notes, and takes for built what somebody has deleted since. */
function forgetLostBuild(folder: string): void {
  if (!existsSync(join(folder, 'dist'))) rmSync(join(folder, 'tsconfig.tsbuildinfo'), { force: true })
}

function restore(folder: string): void {
  rewriteManifest(folder, toSource)
  rmSync(join(folder, 'LICENSE'), { force: true })
  rmSync(join(folder, 'docs'), { recursive: true, force: true })
}

function rewriteManifest(folder: string, rewrite: (manifest: Manifest) => Manifest): void {
  const file = join(folder, 'package.json')
  const before = readFileSync(file, 'utf8')
  const after = `${JSON.stringify(rewrite(JSON.parse(before) as Manifest), null, 2)}\n`
  if (after !== before) writeFileSync(file, after)
}

async function allPackages(): Promise<string[]> {
  const names = await readdir(join(root, 'packages'))
  return names.map((name) => join(root, 'packages', name)).filter((folder) => existsSync(join(folder, 'package.json')))
}

function tsc(...args: string[]): void {
  const program = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // npm's standard output is the name of the tarball.
  const { status, error } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`tsc ${args.join(' ')} ended with exit code ${status}: nothing was packed.`)
}
