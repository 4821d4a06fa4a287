/** The rules of CONTRIBUTING.md about imports. Each returns a sentence per breach: the file and what is wrong. */
import { stripTypeScriptTypes } from 'node:module'
import { isRelative, packageOf, resolveRelative, type PackageFacts, type Workspace } from './workspace.ts'

const LEAF = ['protocol', 'shell']
const CORE = [...LEAF, 'agent', 'tools', 'memory', 'stores', 'adapters']
const SDK = [...CORE, 'core']
const SERVER = [...SDK, 'sdk']

/** The packages that the sources of a package may import. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  shell: ['protocol'],
  agent: LEAF,
  tools: LEAF,
  memory: LEAF,
  stores: ['protocol'],
  adapters: LEAF,
  core: CORE,
  sdk: SDK,
  server: SERVER,
  client: ['protocol'],
  postgres: ['protocol', 'stores'],
  studio: ['protocol', 'client'],
  testing: ['protocol'],
  inspan: [...SERVER, 'server', 'client', 'studio', 'postgres'],
}

/** The demo agent is scripted, so it is the only source that may use test helpers. */
const DEMO = /^packages\/inspan\/src\/demo[^/]*\.ts$/

/** Adapters that may import another one. */
const ADAPTER_ARROWS: Readonly<Record<string, readonly string[]>> = { 'kilo-code': ['opencode'] }
const SHARED_BY_ADAPTERS = ['kit', 'launch', 'live', 'acp']

const MAX_LINES = 500
const MAX_LINES_OF_TYPES = 700

export function wrongArrows({ files, packages }: Workspace): string[] {
  return files.flatMap((file) => {
    if (file.role !== 'source' || file.folder === undefined) return []
    const allowed = ARROWS[file.folder]
    if (allowed === undefined) return [`${file.path}: packages/${file.folder} has no place in the order of imports`]
    return file.specifiers.flatMap((specifier) => {
      const target = packages.find((candidate) => candidate.name === packageOf(specifier))?.folder
      if (target === undefined || allowed.includes(target)) return []
      if (target === 'testing' && DEMO.test(file.path)) return []
      return [
        `${file.path} imports ${specifier}: ${file.folder} may import ${allowed.join(', ') || 'no package of ours'}`,
      ]
    })
  })
}

export function adaptersImportingEachOther({ files }: Workspace): string[] {
  return files.flatMap((file) => {
    const adapter = adapterOf(file.path)
    if (adapter === undefined || file.role !== 'source') return []
    const allowed = new Set([adapter, ...SHARED_BY_ADAPTERS, ...(ADAPTER_ARROWS[adapter] ?? [])])
    return file.specifiers.filter(isRelative).flatMap((specifier) => {
      const target = adapterOf(resolveRelative(file.path, specifier))
      return target === undefined || allowed.has(target) ? [] : [`${file.path} imports ${specifier}`]
    })
  })
}

export function importsOfInternals({ files, packages }: Workspace): string[] {
  return files.flatMap((file) =>
    file.specifiers.flatMap((specifier) => {
      if (isRelative(specifier)) {
        const [top, folder, part] = resolveRelative(file.path, specifier).split('/')
        const isOwn = top === 'packages' && folder === file.folder
        // The suites of packed packages start the programs that the tests of a package start.
        const isHelper = file.path.startsWith('scripts/pack-test/') && top === 'packages' && part === 'test'
        const isInside = file.folder === undefined ? top === 'scripts' || isHelper : isOwn
        return isInside ? [] : [`${file.path} imports ${specifier}, which is outside of its package`]
      }
      const target = packages.find((candidate) => candidate.name === packageOf(specifier))
      if (target === undefined || isExported(target, specifier)) return []
      return [`${file.path} imports ${specifier}, which ${target.name} does not export`]
    }),
  )
}

const HARNESS = 'packages/core/src/harness/'
const ENGINE = 'packages/core/src/engine/'

/**
 * The harness uses the engine as any other program does: through what it exports. Its tests may also use the fixtures
 * of the engine. The engine knows nothing of the harness, except in tests.
 */
export function importsPastTheEngineDoor({ files }: Workspace): string[] {
  return files.flatMap((file) =>
    file.specifiers.filter(isRelative).flatMap((specifier) => {
      const target = resolveRelative(file.path, specifier)
      const isInward = file.path.startsWith(HARNESS) && target.startsWith(ENGINE)
      const isOutward = file.role !== 'test' && file.path.startsWith(ENGINE) && target.startsWith(HARNESS)
      const isFixture = file.role === 'test' && target.endsWith('.fixture.ts')
      if (isOutward || (isInward && target !== `${ENGINE}index.ts` && !isFixture)) {
        return [`${file.path} imports ${specifier}`]
      }
      return []
    }),
  )
}

function isExported(target: PackageFacts, specifier: string): boolean {
  const entry = `.${specifier.slice(target.name.length)}`
  return target.exports.some((exported) => {
    const [before = '', after] = exported.split('*')
    return after === undefined ? exported === entry : entry.startsWith(before) && entry.endsWith(after)
  })
}

export function undeclaredDependencies({ files, packages, devDependencies }: Workspace): string[] {
  return files.flatMap((file) => {
    const own = packages.find((candidate) => candidate.folder === file.folder)
    const forTests = [...devDependencies, ...packages.map((candidate) => candidate.name)]
    const declared = new Set([...(own?.dependencies ?? []), ...(file.role === 'test' ? forTests : [])])
    return file.specifiers
      .filter((specifier) => isDependency(specifier) && !declared.has(packageOf(specifier)))
      .map((specifier) => `${file.path} imports ${specifier}, which ${own?.name ?? 'the workspace'} does not declare`)
  })
}

export function unusedDependencies({ files, packages }: Workspace): string[] {
  return packages.flatMap(({ folder, name, dependencies }) => {
    const sources = files.filter((file) => file.folder === folder && file.role === 'source')
    const used = new Set(sources.flatMap((file) => file.specifiers.map(packageOf)))
    const hasSchemas = sources.some((file) => file.specifiers.includes('@inspan/protocol/schema'))
    // Types are imported by the declaration files of other packages, never by us; zod by the schemas of the protocol.
    const isNeeded = (dependency: string): boolean =>
      used.has(dependency) || dependency.startsWith('@types/') || (dependency === 'zod' && hasSchemas)
    return dependencies.filter((dependency) => !isNeeded(dependency)).map((unused) => `${name} declares ${unused}`)
  })
}

/** Returns what a module imports from outside its package, directly or through others. */
export function outsideImports({ files }: Workspace, entry: string): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set([entry])
  const outside: string[] = []
  for (const path of reached) {
    const file = byPath.get(path)
    if (file === undefined)
      throw new Error(`${path} does not exist, but is imported from ${entry} or by what it imports`)
    for (const specifier of file.specifiers) {
      if (isRelative(specifier)) reached.add(resolveRelative(path, specifier))
      else outside.push(`${path} imports ${specifier}`)
    }
  }
  return outside
}

export function exportsWithoutNames({ files }: Workspace): string[] {
  return files.flatMap(({ path, hasExportStar, hasDefaultExport }) => [
    ...(hasExportStar ? [`${path} has an "export *"`] : []),
    ...(hasDefaultExport ? [`${path} has a default export`] : []),
  ])
}

/** Tests have no limit, because they are often tables, as long as their cases. */
export function longFiles({ files }: Workspace): string[] {
  return files.flatMap(({ path, text, role }) => {
    const lines = text.trimEnd().split('\n').length
    if (role === 'test' || lines <= MAX_LINES) return []
    if (lines <= MAX_LINES_OF_TYPES && hasOnlyTypes(path, text)) return []
    return [`${path} has ${lines} lines`]
  })
}

/** True for files with nothing but types or a list of exports. */
function hasOnlyTypes(path: string, text: string): boolean {
  if (!path.endsWith('.ts')) return false
  const code = stripTypeScriptTypes(text).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  return code.replaceAll(/export\s*\{[^}]*\}(\s*from\s*'[^']*')?|[\s;]/g, '') === ''
}

function adapterOf(path: string): string | undefined {
  return /^packages\/adapters\/src\/([^/]+)\//.exec(path)?.[1]
}

function isDependency(specifier: string): boolean {
  return !isRelative(specifier) && !specifier.startsWith('node:')
}
