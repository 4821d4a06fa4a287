import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT_FILES = /^(package\.json|tsconfig.*\.json|\.npmrc|LICENSE|README\.md|docs|packages|scripts)$/
const NOT_COPIED = /[\\/](node_modules|dist|[^\\/]+\.tsbuildinfo)$/

/** Copies the workspace to an empty folder, because packing changes manifests while other tests read them. */
export async function copyWorkspace(root: string, to: string): Promise<void> {
  for (const name of (await readdir(root)).filter((name) => ROOT_FILES.test(name))) {
    await cp(join(root, name), join(to, name), {
      recursive: true,
      filter: (source) => !NOT_COPIED.test(source),
    })
  }
  await linkDependencies(join(root, 'node_modules'), join(to, 'node_modules'))
  const scope = join(to, 'node_modules', '@inspan')
  await mkdir(scope)
  for (const name of await readdir(join(to, 'packages'))) {
    const link = name === 'inspan' ? join(to, 'node_modules', name) : join(scope, name)
    await symlink(join(to, 'packages', name), link, 'junction')
  }
}

/** Copies what a clone has, without anything installed or built. */
export async function copyAsCloned(root: string, to: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (name === '.git') continue
    const from = join(root, name)
    if (!NOT_COPIED.test(from))
      await cp(from, join(to, name), { recursive: true, filter: (source) => !NOT_COPIED.test(source) })
  }
}

/** Links third-party packages to those of the original, and ours to those of the copy. */
async function linkDependencies(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const name of await readdir(from)) {
    const isOurs = name === '@inspan' || name === 'inspan'
    const isDependency = !name.startsWith('.') || name === '.bin'
    if (isDependency && !isOurs) await symlink(join(from, name), join(to, name), 'junction')
  }
}
