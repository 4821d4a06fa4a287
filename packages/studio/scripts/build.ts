// Builds the page into dist/pages: `node packages/studio/scripts/build.ts`.
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  plugins: [tailwindcss()],
  // The packages are used from their sources, so that nothing has to be built before.
  oxc: { jsx: { runtime: 'automatic' } },
  build: { outDir: 'dist/pages', emptyOutDir: true, target: 'es2022', sourcemap: false },
})
