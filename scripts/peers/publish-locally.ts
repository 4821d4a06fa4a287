import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundlePackage } from '../pack-bundle.ts'
import { toPublished, type Manifest } from '../pack-exports.ts'

/** Builds our packages as they are published, without the types that Node would have to strip. */
export async function publishLocally(root: string, packages: readonly string[]): Promise<string> {
  console.error('Building …')
  if (
    spawnSync('tsc', ['-b', ...packages.map((name) => `packages/${name}`)], { cwd: root, stdio: ['ignore', 2, 2] })
      .status !== 0
  )
    throw new Error('tsc -b failed.')
  const folder = mkdtempSync(join(tmpdir(), 'inspan-published-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@inspan'), { recursive: true })
  const wanted = [...packages]
  const linked = new Set<string>()
  for (const name of wanted) {
    const source = join(root, 'packages', name)
    const target = join(modules, '@inspan', name)
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    mkdirSync(target)
    cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true })
    writeFileSync(join(target, 'package.json'), JSON.stringify(toPublished(manifest)))
    await bundlePackage(target)
    for (const dependency of Object.keys({ ...(manifest['dependencies'] as object | undefined) })) {
      const own = /^@inspan\/(.+)$/.exec(dependency)?.[1]
      if (own === undefined) linked.add(dependency)
      else if (!wanted.includes(own)) wanted.push(own)
    }
  }
  for (const name of linked) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return folder
}
