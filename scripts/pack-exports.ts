/**
 * A clone runs its packages from TypeScript sources, but Node strips no types inside `node_modules`, so published
 * packages must point at built JavaScript. This module converts a manifest from one form to the other and back, so that
 * one left in the published form by an interrupted pack can always be restored from itself.
 */

/** What Node allows as the value of `exports`: a target, conditions or sub-paths (nested at will), or `null`. */
export type Exports = string | null | { readonly [key: string]: Exports }

export interface Manifest {
  readonly name: string
  readonly exports?: Exports
  /** How a package finds its own modules, such as one that another process runs. */
  readonly imports?: Exports
  readonly [field: string]: unknown
}

const SOURCE = /^\.\/src\/(.+)\.ts$/
const BUILT = /^\.\/dist\/(.+)\.js$/

/** Returns the manifest as it is published: every source entry becomes its types and its JavaScript. */
export function toPublished(manifest: Manifest): Manifest {
  return mapExports(manifest, publishedExports)
}

/** Returns the manifest as it is in a clone. One already in this form is not changed. */
export function toSource(manifest: Manifest): Manifest {
  return mapExports(manifest, sourceExports)
}

function mapExports(manifest: Manifest, map: (exports: Exports) => Exports): Manifest {
  const { exports, imports } = manifest
  return {
    ...manifest,
    ...(exports === undefined ? {} : { exports: map(exports) }),
    ...(imports === undefined ? {} : { imports: map(imports) }),
  }
}

function publishedExports(exports: Exports): Exports {
  if (exports === null) return null
  if (typeof exports !== 'string') return isBuiltEntry(exports) ? exports : mapValues(exports, publishedExports)
  const entry = SOURCE.exec(exports)?.[1]
  if (entry !== undefined) return { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` }
  if (/\.[cm]?tsx?$/.test(exports)) {
    throw new Error(`The export "${exports}" cannot be published: an entry is a file "./src/….ts".`)
  }
  return exports
}

function sourceExports(exports: Exports): Exports {
  if (exports === null || typeof exports === 'string') return exports
  return isBuiltEntry(exports)
    ? exports.default.replace(BUILT, (_, entry: string) => `./src/${entry}.ts`)
    : mapValues(exports, sourceExports)
}

/** True for exactly what `publishedExports` makes of a source entry. */
function isBuiltEntry(exports: { readonly [key: string]: Exports }): exports is { types: string; default: string } {
  const entry = typeof exports['default'] === 'string' ? BUILT.exec(exports['default'])?.[1] : undefined
  return entry !== undefined && Object.keys(exports).length === 2 && exports['types'] === `./dist/${entry}.d.ts`
}

function mapValues(values: { readonly [key: string]: Exports }, map: (value: Exports) => Exports): Exports {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))
}
