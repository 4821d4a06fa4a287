/**
 * Compares the import of the package, bundled as it is published, with the same without the tools of agents: whoever
 * uses none should not pay for them. Each import has a process of its own, whose CPU time counts.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { report } from '@inspan/testing'
import * as tools from '@inspan/tools'
import { build } from 'esbuild'

const ROUNDS = 15
const packageFolder = fileURLToPath(new URL('..', import.meta.url))
// Inside the package, so that the libraries are found.
const folder = mkdtempSync(join(packageFolder, '.import-bench-'))

const program = `
  const before = process.cpuUsage()
  await import(process.argv[1])
  const { system, user } = process.cpuUsage(before)
  process.stdout.write(String((user + system) / 1000))`

async function bundle(name: string, alias: Readonly<Record<string, string>>): Promise<string> {
  const outdir = join(folder, name)
  await build({
    entryPoints: [join(packageFolder, 'src/index.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    alias,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    logLevel: 'warning',
    // Our own packages are bundled, libraries are not.
    plugins: [{ name: 'libraries', setup: (at) => at.onResolve({ filter: /^[^./]/ }, libraryOrOwn(alias)) }],
  })
  return join(outdir, 'index.mjs')
}

function libraryOrOwn(alias: Readonly<Record<string, string>>) {
  return ({
    kind,
    path,
  }: {
    readonly kind: string
    readonly path: string
  }): { path: string; external: true } | null => {
    const isOwn = kind === 'entry-point' || path.startsWith('@inspan/') || path in alias
    return isOwn ? null : { path, external: true }
  }
}

function millisecondsOf(file: string): number {
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program, file], { encoding: 'utf8' }))
}

try {
  const none = join(folder, 'none.mjs')
  writeFileSync(
    none,
    Object.keys(tools)
      .map((name) => `export const ${name} = undefined\n`)
      .join(''),
  )
  const [withTools, without] = [await bundle('with', {}), await bundle('without', { '@inspan/tools': none })]
  let [ours, floor] = [Infinity, Infinity]
  for (let round = 0; round < ROUNDS; round++) {
    floor = Math.min(floor, millisecondsOf(without))
    ours = Math.min(ours, millisecondsOf(withTools))
  }
  const ratio = Number((ours / floor).toPrecision(3))
  report({
    name: 'import of the package, relative to one without tools',
    ratio,
    limit: 1.05,
    unit: 'ms CPU',
    floor,
    ours,
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
