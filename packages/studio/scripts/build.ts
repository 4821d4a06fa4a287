// Builds the page into dist/pages: `node packages/studio/scripts/build.ts`.
import { mkdtemp, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const pages = join(dist, 'pages')

await mkdir(dist, { recursive: true })
const made = await mkdtemp(join(dist, '.building-'))
try {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [tailwindcss()],
    // The packages are used from their sources, so that nothing has to be built before.
    oxc: { jsx: { runtime: 'automatic' } },
    build: { outDir: join(made, 'pages'), target: 'es2022', sourcemap: false },
  })
  await replace()
} finally {
  await rm(made, { recursive: true, force: true })
}

/** A server may be serving the page, and another process may be building it, so it is complete at every moment but one. */
async function replace(): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rename(pages, join(made, `before-${attempt}`)).catch(unless('ENOENT'))
      return await rename(join(made, 'pages'), pages)
    } catch (error) {
      // Another process was faster. Its page is older than this one.
      if (attempt === 100 || !isCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
    }
  }
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!isCode(error, code)) throw error
  }
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
