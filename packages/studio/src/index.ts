import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { InspanError } from '@inspan/protocol'

/** Returns the folder with the built page, for `serve({ pages })`. */
export function studioPages(): string {
  const built = ['./pages', '../dist/pages']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((place) => existsSync(join(place, 'index.html')))
  if (built !== undefined) return built
  throw new InspanError('not-found', 'The web page has not been built.', {
    hint: 'In a clone: node packages/studio/scripts/build.ts',
  })
}

/** Like `studioPages`, but in a clone it builds the page first if its sources are newer. */
export async function preparedPages(onBuild: () => void = () => undefined): Promise<string> {
  const clone = fileURLToPath(new URL('..', import.meta.url))
  if (existsSync(join(clone, 'web/main.tsx')) && (await isStale(clone))) {
    onBuild()
    await build(clone)
  }
  return studioPages()
}

/** What the page is built from: its own sources and those of the packages that it contains. */
const SOURCES = ['web', 'public', 'scripts', '../client/src', '../protocol/src']

async function isStale(clone: string): Promise<boolean> {
  const built = await stat(join(clone, 'dist/pages/index.html')).catch(() => undefined)
  if (built === undefined) return true
  const folders = await Promise.all(
    SOURCES.map((name) => readdir(join(clone, name), { recursive: true, withFileTypes: true })),
  )
  const files = folders
    .flat()
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of [join(clone, 'index.html'), ...files]) {
    if ((await stat(file)).mtimeMs > built.mtimeMs) return true
  }
  return false
}

async function build(clone: string): Promise<void> {
  const child = spawn(process.execPath, [join(clone, 'scripts/build.ts')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [problems] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (child.exitCode === 0) return
  throw new InspanError('io', `The web page cannot be built: ${problems.trim()}`, {
    hint: 'npm ci installs what its build needs.',
  })
}
