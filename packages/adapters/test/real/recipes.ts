/** How npm installs a CLI whose package alone cannot be installed. */
export interface Recipe {
  readonly packages: readonly string[]
  /** A package that is unpacked without its dependencies. */
  readonly unpacked?: string
  /** The program, as a path below `node_modules`. */
  readonly program: string
}

const PLATFORM = `${process.platform}-${process.arch}`

/** By id and version. A version that is not here is installed by its name. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  // The registry has these versions for each platform, but not the package that chooses among them.
  'kilo-code@7.7.9': {
    packages: [`@kilocode/cli-${PLATFORM}@7.7.9`],
    program: `@kilocode/cli-${PLATFORM}/bin/kilo`,
  },
  'opencode@1.18.34': {
    packages: [`opencode-${PLATFORM}@1.18.34`],
    program: `opencode-${PLATFORM}/bin/opencode`,
  },
  // Its program is a bundle that needs only these: for images, extensions and scripts. Some of the other dependencies it names were not published.
  'pi@1.5.0': {
    packages: ['@silvia-odwyer/photon-node@0.3.4', 'jiti@2.7.0', 'quickjs-wasi@3.6.2', 'typebox@1.3.27'],
    unpacked: '@earendil-works/pi-coding-agent@1.5.0',
    program: '@earendil-works/pi-coding-agent/dist/bundle/cli.js',
  },
}
