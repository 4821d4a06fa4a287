import { glob, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { moduleLinksOf, type ModuleLinks } from './module-links.ts'

/** `source` is published. Everything else, a bundled web page included, may use the development dependencies of the workspace. */
type Role = 'source' | 'test'

export interface SourceFile extends ModuleLinks {
  /** Relative to the root of the workspace, with slashes. */
  readonly path: string
  /** The folder below `packages`; undefined for files of the workspace itself. */
  readonly folder: string | undefined
  readonly role: Role
  readonly text: string
}

export interface PackageFacts {
  readonly folder: string
  readonly name: string
  readonly exports: readonly string[]
  readonly dependencies: readonly string[]
}

export interface Workspace {
  readonly files: readonly SourceFile[]
  readonly packages: readonly PackageFacts[]
  readonly devDependencies: readonly string[]
}

interface PackageJson {
  readonly name: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export async function readWorkspace(root: string): Promise<Workspace> {
  const files: SourceFile[] = []
  for (const pattern of ['packages/*/{src,test,bin,scripts,web}/**/*.{ts,tsx,js,mjs}', 'scripts/**/*.{ts,mjs}']) {
    for await (const found of glob(pattern, { cwd: root, exclude: (name) => name === 'fixtures' })) {
      const path = found.replaceAll('\\', '/')
      // The programs of the comparison run with packages that are installed elsewhere.
      if (/^scripts\/compare\/.*\.mjs$/.test(path)) continue
      files.push(sourceFile(path, await readFile(join(root, path), 'utf8')))
    }
  }
  const packages: PackageFacts[] = []
  for await (const found of glob('packages/*/package.json', { cwd: root })) {
    const manifest = await readJson(join(root, found))
    packages.push({
      folder: found.replaceAll('\\', '/').split('/')[1] ?? '',
      name: manifest.name,
      exports: Object.keys(manifest.exports ?? {}),
      dependencies: Object.keys({
        ...manifest.dependencies,
        ...manifest.peerDependencies,
        ...manifest.optionalDependencies,
      }),
    })
  }
  const { devDependencies = {} } = await readJson(join(root, 'package.json'))
  return { files, packages, devDependencies: Object.keys(devDependencies) }
}

export function sourceFile(path: string, text: string): SourceFile {
  const [top, folder] = path.split('/')
  return {
    path,
    folder: top === 'packages' ? folder : undefined,
    role: roleOf(path),
    text,
    ...moduleLinksOf(text),
  }
}

function roleOf(path: string): Role {
  const isForTests = /\.(test|bench|real|machines|fixture)\.ts$/.test(path)
  const isPublished = /^packages\/[^/]+\/(src|bin)\//.test(path) && !isForTests
  return isPublished ? 'source' : 'test'
}

/** Returns the package of a bare specifier: `@a/b/c` → `@a/b`, `a/b` → `a`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

export function isRelative(specifier: string): boolean {
  return specifier.startsWith('.')
}

/** Returns the path of a relative specifier from the root of the workspace. */
export function resolveRelative(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier)
}

async function readJson(file: string): Promise<PackageJson> {
  return JSON.parse(await readFile(file, 'utf8')) as PackageJson
}
