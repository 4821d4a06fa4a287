/** What a browser has to load before it shows anything. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { report } from '@inspan/testing'
import { studioPages } from './index.ts'

const MOST_BYTES = 250 * 1024

const built = spawnSync(process.execPath, [fileURLToPath(new URL('../scripts/build.ts', import.meta.url))])
if (built.status !== 0) throw new Error(String(built.stderr))

const pages = studioPages()
const html = readFileSync(join(pages, 'index.html'), 'utf8')
// Only what the first page names: everything else is loaded when it is needed.
const first = readdirSync(join(pages, 'assets')).filter((name) => html.includes(name))
const bytes = [html, ...first.map((name) => readFileSync(join(pages, 'assets', name)))]
  .map((content) => gzipSync(content).length)
  .reduce((sum, size) => sum + size, 0)

report({
  name: 'studio: first view of the web page, gzip, relative to 250 KB',
  ratio: Number((bytes / MOST_BYTES).toPrecision(3)),
  limit: 1,
  unit: 'B',
  floor: MOST_BYTES,
  ours: bytes,
})
