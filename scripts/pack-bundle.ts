/**
 * Bundles the modules of a built package into a few files, because loading three hundred small modules takes longer
 * than all the work of a first answer. Dynamic imports stay separate files, and other packages are not bundled.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { toPublished, type Exports, type Manifest } from './pack-exports.ts'

/** Replaces the JavaScript in `dist`, which `tsc` has just written. The declarations are kept. */
export async function bundlePackage(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  const manifest = toPublished(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest)
  const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => /\.js(\.map)?$/.test(file))
  const { outputFiles } = await build({
    entryPoints: entriesOf(manifest).map((entry) => join(folder, entry)),
    outbase: dist,
    outdir: dist,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node22.13',
    sourcemap: true,
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  })
  for (const file of modules) rmSync(join(dist, file))
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
  }
}

/** Returns the entry points: the exports, the package's own `imports`, and what its command loads. */
function entriesOf(manifest: Manifest): string[] {
  const entries = new Set([manifest.exports, manifest.imports].flatMap(builtFiles))
  if (manifest['bin'] !== undefined) entries.add('./dist/main.js')
  return [...entries]
}

function builtFiles(exports: Exports | undefined): string[] {
  if (exports === undefined || exports === null) return []
  if (typeof exports !== 'string') return Object.values(exports).flatMap(builtFiles)
  return /^\.\/dist\/.+\.js$/.test(exports) ? [exports] : []
}
